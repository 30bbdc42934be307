#!/usr/bin/env bash
# Makes a CUDA compiler out of packages of the Python registry: `cuda-compiler.sh DIRECTORY` leaves DIRECTORY/bin/nvcc, with headers and the
# static runtime beside it. Nothing is done if it is there already.
set -euo pipefail
cd "$(dirname "$0")/.."
directory=${1:?usage: cuda-compiler.sh DIRECTORY}

scripts/python-env.sh "$directory" scripts/cuda-requirements.txt
root=$(cd "$directory" && echo "$PWD"/lib/python3.*/site-packages/nvidia/cu13)
[ -x "$root/bin/nvcc" ] || { echo "cuda-compiler: $root/bin/nvcc is not there after the packages were installed" >&2; exit 1; }
# A link would make nvcc look for its headers beside the link.
printf '#!/bin/sh\nexec "%s" "$@"\n' "$root/bin/nvcc" > "$directory/bin/nvcc"
chmod +x "$directory/bin/nvcc"
