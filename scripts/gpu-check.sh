#!/usr/bin/env bash
# On a machine with an NVIDIA GPU: builds the CUDA library and the tests of its operators for that GPU, and runs them: every kernel and whole
# steps must give the CPU's bits. Needs cmake, ninja, a C++ compiler, Python, and nvcc (NVCC, else on the path, else from the Python registry);
# no network if nvcc is there, and no Go. Where bin/tokenrouter and bin/policies are (gpu-check.sh --programs builds them, with Go, before they are
# taken along), it then makes models with random weights, measures them, and writes build/gpu/gpu.json.
#
#   gpu-check.sh               all of it
#   gpu-check.sh --build-only  only builds, for ARCHITECTURES ("90")
#   gpu-check.sh --programs    only builds the two programs
#   gpu-check.sh --dry-run     on a machine without a GPU: measures tiny models on the processor, to see that it all runs
set -euo pipefail
cd "$(dirname "$0")/.."
build=${BUILD:-build/gpu}

measure() { # DEVICE [FLAG...]
    device=$1
    shift
    if [ ! -x bin/tokenrouter ] || [ ! -x bin/policies ]; then
        echo "gpu-check: nothing is measured: bin/tokenrouter and bin/policies are not there (gpu-check.sh --programs, where Go is)" >&2
        return 1
    fi
    mkdir -p "$build"
    python3 scripts/gpu_check.py --tokenrouter bin/tokenrouter --policies bin/policies --device "$device" --work "$build/models" --out "$build/gpu.json" "$@"
}

case ${1:-} in
"") architectures=${ARCHITECTURES:-$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | tr -d . | sort -un | paste -sd';')} ;;
--build-only) architectures=${ARCHITECTURES:?--build-only needs ARCHITECTURES, such as 90} ;;
--programs)
    go=$(scripts/find-go.sh)
    CGO_ENABLED=0 "$go" build -trimpath -o bin/ ./cmd/tokenrouter ./bench/policies
    exit
    ;;
--dry-run)
    measure cpu --dry-run
    exit
    ;;
*) echo "gpu-check: $1 is not known; --build-only, --programs and --dry-run are" >&2; exit 2 ;;
esac

nvcc=${NVCC:-$(command -v nvcc || true)}
if [ -z "$nvcc" ]; then
    scripts/cuda-compiler.sh build/cuda-venv
    nvcc=$PWD/build/cuda-venv/bin/nvcc
fi
cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DTR_CUDA=ON -DTR_NVCC="$nvcc" -DTR_CUDA_ARCHITECTURES="$architectures" -DTR_BUILD_FUZZ=OFF --log-level=NOTICE
cmake --build "$build" --parallel "$(nproc)" --target tokenrouter-cuda gpu_tests
[ "${1:-}" = --build-only ] && exit

failed=0
for test in "$build"/tests/gpu_*_test; do
    start=$(date +%s.%N)
    if "$test"; then verdict=passed; else verdict=FAILED failed=1; fi
    printf '%-28s %s after %.1f s\n' "$(basename "$test")" "$verdict" "$(python3 -c "import sys; print(float(sys.argv[1]) - float(sys.argv[2]))" "$(date +%s.%N)" "$start")"
done
TOKENROUTER_CUDA_LIB=$PWD/$build/libtokenrouter-cuda.so measure cuda || failed=1
exit $failed
