#!/usr/bin/env bash
# Prints the path of a Go toolchain of version 1.26 or later. Looks at $GO, then PATH, then /usr/local/go, then the copy
# that scripts/prerequisites.sh may have made. If there is none it prints "go" and exits 1, so that whoever calls it
# gets the shell's own message.
set -u
cache=${XDG_CACHE_HOME:-$HOME/.cache}/tokenrouter
for go in ${GO:-} "$(command -v go || true)" /usr/local/go/bin/go "$cache"/go-*/go/bin/go; do
    [ -n "$go" ] && [ -x "$(command -v "$go" || true)" ] || continue
    version=$(GOTOOLCHAIN=local "$go" env GOVERSION 2>/dev/null) || continue # "go1.26.8"
    IFS=. read -r major minor _ <<<"${version#go}"
    minor=${minor%%[!0-9]*}
    if [ "${major:-0}" -gt 1 ] || { [ "${major:-0}" -eq 1 ] && [ "${minor:-0}" -ge 26 ]; }; then
        echo "$go"
        exit 0
    fi
done
echo go
exit 1
