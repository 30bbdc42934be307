#!/usr/bin/env bash
# dist.sh: makes dist/tokenrouter-VERSION-linux-x86_64.tar.gz of what `make build` has built, and its SHA-256 beside it. The same
# commit gives the same archive, given the same compilers.
set -euo pipefail
cd "$(dirname "$0")/.."
version=$(bin/tokenrouter version --json | sed -n 's/^  "version": "\(.*\)",$/\1/p')
name=tokenrouter-$version-linux-x86_64
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
scripts/install.sh "$work" "/$name"
# In an archive nobody knows where it will lie.
sed -i "s|/$name/bin|/usr/local/bin|" "$work/$name/lib/systemd/system/tokenrouter.service"
mkdir -p dist
tar --create --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$(git log -1 --format=%ct)" --directory "$work" "$name" |
    gzip --no-name >"dist/$name.tar.gz"
(cd dist && sha256sum "$name.tar.gz" | tee "$name.tar.gz.sha256")
