#!/usr/bin/env bash
# check-dist.sh ARCHIVE: unpacks an archive that dist.sh made to a place of its own, and uses it as a stranger would: the program, the
# library from C by pkg-config and by CMake, and from Python.
set -euo pipefail
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tar -xzf "$1" -C "$work" --strip-components=1
export XDG_CACHE_HOME=$work/cache LD_LIBRARY_PATH=$work/lib PKG_CONFIG_PATH=$work/lib/pkgconfig
examples=$work/share/doc/tokenrouter/examples
model=models/pair/small.gguf

answer=$("$work/bin/tokenrouter" run --demo --json '57 - 46 = ?')
grep -q '"answer"' <<<"$answer"
for file in share/man/man1/tokenrouter.1 share/bash-completion/completions/tokenrouter share/zsh/site-functions/_tokenrouter \
    share/fish/vendor_completions.d/tokenrouter.fish lib/systemd/system/tokenrouter.service include/tokenrouter.h \
    share/doc/tokenrouter/LICENSE share/doc/tokenrouter/licences/go/LICENSE; do
    [ -s "$work/$file" ] || { echo "check-dist.sh: $file is missing or empty" >&2; exit 1; }
done

prompt=(5 6 7 8)
if command -v pkg-config >/dev/null; then
    # shellcheck disable=SC2046 # several words
    cc "$examples/c/generate.c" $(pkg-config --cflags --libs tokenrouter) -o "$work/by-pkg-config"
else
    echo "check-dist.sh: NOT CHECKED: pkg-config, which is not here" >&2
    cc "$examples/c/generate.c" "-I$work/include" "-L$work/lib" -ltokenrouter -o "$work/by-pkg-config"
fi
cmake -S "$examples/c" -B "$work/build" -DCMAKE_PREFIX_PATH="$work" --log-level=WARNING >/dev/null
cmake --build "$work/build" >/dev/null
first=$("$work/by-pkg-config" "$model" 8 "${prompt[@]}")
second=$("$work/build/generate" "$model" 8 "${prompt[@]}")
third=$(python3 "$examples/python-ctypes/generate.py" "$work/lib/libtokenrouter.so" "$model" 8 "${prompt[@]}")
[ "$first" = "$second" ] && [ "$first" = "$third" ] && [ "$(wc -w <<<"$first")" = 8 ] ||
    { echo "check-dist.sh: C by pkg-config says $first, by CMake $second, Python $third" >&2; exit 1; }
echo "the archive works"
