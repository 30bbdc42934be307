#!/usr/bin/env bash
# install.sh ROOT PREFIX: puts what `make build` has built below ROOT/PREFIX, as PREFIX will be seen when it is used: the program, the
# library with header, pkg-config file and CMake package, completions, the man page, the service, documentation, examples and
# licences.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$1 prefix=$2
to=$root$prefix
binary=$to/bin/tokenrouter
share=$to/share

install -D -m 755 bin/tokenrouter "$binary"
DESTDIR=$root cmake --install build/native --prefix "$prefix" --strip >/dev/null
# Where `make cuda` has made it.
cuda=build/cuda/libtokenrouter-cuda.so
if [ -e "$cuda" ]; then install -D -m 755 "$cuda" "$to/lib/libtokenrouter-cuda.so"; fi

complete() { # SHELL FILE
    install -d "$(dirname "$2")"
    "$binary" completion "$1" >"$2"
}
complete bash "$share/bash-completion/completions/tokenrouter"
complete zsh "$share/zsh/site-functions/_tokenrouter"
complete fish "$share/fish/vendor_completions.d/tokenrouter.fish"
install -d "$share/man/man1"
"$binary" man >"$share/man/man1/tokenrouter.1"

install -d "$to/lib/systemd/system"
sed "s|@BINDIR@|$prefix/bin|" packaging/tokenrouter.service >"$to/lib/systemd/system/tokenrouter.service"

doc=$share/doc/tokenrouter
install -d "$doc/docs" "$doc/examples"
install -m 644 LICENSE NOTICE README.md packaging/tokenrouter.yaml server/config/schema.json "$doc"
cp -r docs/. "$doc/docs"
git ls-files examples | while read -r file; do install -D -m 644 "$file" "$doc/$file"; done
scripts/licences.sh "$doc/licences"
