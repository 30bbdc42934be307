#!/usr/bin/env bash
# On a machine with an NVIDIA GPU: builds the CUDA library and the tests of its operators for that GPU, and runs them: every kernel and whole
# steps must give the CPU's bits. Needs cmake, ninja, a C++ compiler, and nvcc (NVCC, else on the path, else from the Python registry);
# no network if nvcc is there, and no Go. With --build-only nothing is run, and ARCHITECTURES ("90") says what for.
set -euo pipefail
cd "$(dirname "$0")/.."
build=${BUILD:-build/gpu}
nvcc=${NVCC:-$(command -v nvcc || true)}
if [ -z "$nvcc" ]; then
    scripts/cuda-compiler.sh build/cuda-venv
    nvcc=$PWD/build/cuda-venv/bin/nvcc
fi

case ${1:-} in
"") architectures=${ARCHITECTURES:-$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | tr -d . | sort -un | paste -sd';')} ;;
--build-only) architectures=${ARCHITECTURES:?--build-only needs ARCHITECTURES, such as 90} ;;
*) echo "gpu-check: $1 is not known; --build-only is" >&2; exit 2 ;;
esac

cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DTR_CUDA=ON -DTR_NVCC="$nvcc" -DTR_CUDA_ARCHITECTURES="$architectures" -DTR_BUILD_FUZZ=OFF --log-level=NOTICE
cmake --build "$build" --parallel "$(nproc)" --target tokenrouter-cuda gpu_tests
[ "${1:-}" = --build-only ] && exit

failed=0
for test in "$build"/tests/gpu_*_test; do
    start=$(date +%s.%N)
    if "$test"; then verdict=passed; else verdict=FAILED failed=1; fi
    printf '%-28s %s after %.1f s\n' "$(basename "$test")" "$verdict" "$(python3 -c "import sys; print(float(sys.argv[1]) - float(sys.argv[2]))" "$(date +%s.%N)" "$start")"
done
exit $failed
