#!/usr/bin/env bash
# build-llamacpp.sh [DIRECTORY]: builds llama.cpp's llama-batched-bench, llama-bench and llama-server, to measure against (default: build/llamacpp).
#
# The source comes from the source package of llama-cpp-python, which holds all of llama.cpp; LLAMA_SOURCE names an
# unpacked copy to use instead. Built for this machine's processor as llama.cpp's own documentation says. Ten minutes
# on two cores.
set -euo pipefail
cd "$(dirname "$0")/.."
version=0.3.36
directory=${1:-build/llamacpp}
mkdir -p "$directory"
source=${LLAMA_SOURCE:-$directory/llama_cpp_python-$version}

if [ ! -d "$source" ]; then
    python3 -m venv "$directory/venv"
    "$directory/venv/bin/pip" download --quiet --disable-pip-version-check --no-deps --no-binary=llama-cpp-python \
        --dest "$directory" "llama-cpp-python==$version"
    tar -C "$directory" -xzf "$directory/llama_cpp_python-$version.tar.gz"
fi

# Some virtual machines show AMX but trap on its instructions; a build that uses it would crash on them.
probe=$(mktemp -d)
trap 'rm -rf "$probe"' EXIT
cat >"$probe/amx.c" <<'EOF'
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(void) {
    syscall(SYS_arch_prctl, 0x1023, 18); /* ARCH_REQ_XCOMP_PERM, tile data */
    struct { unsigned char palette, start, reserved[14]; unsigned short columns[16]; unsigned char rows[16]; } config = {.palette = 1};
    for (int i = 0; i < 8; i++) { config.columns[i] = 64; config.rows[i] = 16; }
    _tile_loadconfig(&config);
    _tile_zero(4);
    _tile_release();
    return 0;
}
EOF
flags=""
if ! { cc -O2 -mamx-tile -o "$probe/amx" "$probe/amx.c" && "$probe/amx"; } >/dev/null 2>&1; then
    flags="-mno-amx-tile -mno-amx-int8 -mno-amx-bf16"
fi

cmake -S "$source/vendor/llama.cpp" -B "$directory/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DGGML_NATIVE=ON \
    -DLLAMA_CURL=OFF -DLLAMA_BUILD_TESTS=OFF -DLLAMA_BUILD_EXAMPLES=OFF -DLLAMA_BUILD_SERVER=ON \
    -DLLAMA_BUILD_UI=OFF -DLLAMA_USE_PREBUILT_UI=OFF -DLLAMA_OPENSSL=OFF \
    -DCMAKE_C_FLAGS="$flags" -DCMAKE_CXX_FLAGS="$flags" --log-level=WARNING
cmake --build "$directory/build" --parallel "${JOBS:-$(nproc)}" --target llama-batched-bench llama-bench llama-server
echo "built $directory/build/bin/llama-batched-bench"
