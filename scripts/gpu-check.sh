#!/usr/bin/env bash
# On a machine with an NVIDIA GPU: tests the CUDA library's operators there, which must give the CPU's bits, and measures how fast models run, in five
# minutes at most. Writes build/gpu/gpu.json. A part that fails does not end the others; at the end it says what failed, and exits with 1.
#
#   gpu-check.sh [FLAG...]   all of it; builds library, tests and programs before, which is not of the five minutes. Needs cmake, ninja, a C++ compiler,
#                            Python, nvcc (NVCC, else on the path, else from the Python registry), and Go. Flags: scripts/gpu_check.py --help
#   gpu-check.sh --bundle    makes build/gpu-check.tar.gz, for ARCHITECTURES (90): all that a GPU machine needs to run gpu-check.sh with Python alone.
#                            tar xzf gpu-check.tar.gz && gpu-check/scripts/gpu-check.sh
#   gpu-check.sh --build     only builds, for ARCHITECTURES (those of the GPUs that are here)
#   gpu-check.sh --programs  only builds the two programs
#   gpu-check.sh --dry-run [FLAG...]   all of it with tiny models on the processor, where no GPU is
set -euo pipefail
cd "$(dirname "$0")/.."
build=${BUILD:-build/gpu}
limit=$((64 << 20)) # bytes of the bundle

programs() {
    local go
    if ! go=$(scripts/find-go.sh); then
        [ ! -x bin/tokenrouter ] || [ ! -x bin/policies ] || return 0 # they were brought along
        echo "gpu-check: the programs that measure need Go 1.26 to be built: bring bin/ along, or a bundle, from where Go is" >&2
        return 1
    fi
    local commit
    commit=$(git rev-parse --short=12 HEAD)$(git diff --quiet HEAD || echo +)
    CGO_ENABLED=0 "$go" build -trimpath -ldflags "-X main.builtFrom=$commit" -o bin/ ./cmd/tokenrouter ./bench/policies
}

build() { # ARCHITECTURES
    [ -n "$1" ] || { echo "gpu-check: nvidia-smi names no GPU to build for; ARCHITECTURES=90 builds for one of compute capability 9.0" >&2; return 1; }
    local nvcc=${NVCC:-$(command -v nvcc || true)}
    if [ -z "$nvcc" ]; then
        scripts/cuda-compiler.sh build/cuda-venv
        nvcc=$PWD/build/cuda-venv/bin/nvcc
    fi
    cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DTR_CUDA=ON -DTR_NVCC="$nvcc" -DTR_CUDA_ARCHITECTURES="$1" -DTR_BUILD_FUZZ=OFF --log-level=NOTICE
    cmake --build "$build" --parallel "$(nproc)" --target tokenrouter-cuda gpu_tests
    programs
}

here() { nvidia-smi --query-gpu=compute_cap --format=csv,noheader | tr -d . | sort -un | paste -sd';' || true; }

bundle() {
    local tree=$build/bundle/gpu-check file=build/gpu-check.tar.gz
    rm -rf "$tree"
    mkdir -p "$tree"/{bin,scripts,data,"build/gpu/tests"}
    strip -s -o "$tree/build/gpu/libtokenrouter-cuda.so" "$build/libtokenrouter-cuda.so"
    for test in "$build"/tests/gpu_*_test; do strip -s -o "$tree/build/gpu/tests/$(basename "$test")" "$test"; done
    for program in tokenrouter policies; do strip -s -o "$tree/bin/$program" "bin/$program"; done
    cp scripts/gpu-check.sh scripts/gpu_*.py scripts/random_model.py "$tree/scripts"
    cp native/tests/data/*.gguf "$tree/data"
    tar -C "$build/bundle" -czf "$file" gpu-check
    tar -tvzf "$file" | awk '$3 > 0 {printf "%9d  %s\n", $3, $6}'
    local bytes
    bytes=$(stat -c %s "$file")
    echo "$file: $bytes bytes, of at most $limit"
    [ "$bytes" -le "$limit" ]
}

case ${1:-} in
--bundle) scripts/gpu-check.sh --build "${ARCHITECTURES:-90}" && bundle ;;
--build) build "${2:-${ARCHITECTURES:-$(here)}}" ;;
--programs) programs ;;
--dry-run)
    shift
    exec python3 scripts/gpu_check.py --dry-run --device cpu --out "$build/dry-run.json" --tests $(find build/native/tests -name cuda_graphs_test 2>/dev/null) "$@"
    ;;
--help | -h) sed -n '2,/^set/{/^#/s/^# \?//p}' "$0" ;;
*)
    built=0 data=data
    if [ -e CMakeLists.txt ]; then # not a bundle, in which all is built
        data=native/tests/data
        scripts/gpu-check.sh --build || built=1
        [ $built = 0 ] || echo "gpu-check: building failed; what there is, is tested and measured" >&2
    fi
    shopt -s nullglob
    measured=0
    TOKENROUTER_CUDA_LIB=$PWD/$build/libtokenrouter-cuda.so python3 scripts/gpu_check.py --out "$build/gpu.json" --test-data "$data" --tests "$build"/tests/gpu_*_test "$@" || measured=1
    [ $built = 0 ] || echo "building: failed"
    exit $((built | measured))
    ;;
esac
