#!/usr/bin/env bash
# licences.sh DIR: copies the licences of everything that the program is made of beside this repository: the Go modules that it
# links, and Go itself. A module without a licence is an error.
set -euo pipefail
cd "$(dirname "$0")/.."
dir=$1
go=$(scripts/find-go.sh)
"$go" list -deps -f '{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}} {{.Dir}}{{end}}{{end}}' ./cmd/tokenrouter | sort -u |
    while read -r path version from; do
        files=$(find "$from" -maxdepth 1 -type f \( -iname 'licen[cs]e*' -o -iname 'copying*' -o -iname 'notice*' \))
        [ -n "$files" ] || { echo "licences.sh: $path $version has no licence file" >&2; exit 1; }
        install -d "$dir/$path"
        echo "$version" >"$dir/$path/VERSION"
        while read -r file; do install -m 644 "$file" "$dir/$path/"; done <<<"$files"
    done
install -D -m 644 "$("$go" env GOROOT)/LICENSE" "$dir/go/LICENSE"
