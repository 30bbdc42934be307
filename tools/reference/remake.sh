#!/usr/bin/env bash
# Makes native/tests/data again: an environment with Transformers and torch under build/, then the scripts that build models.
# Needs about 6 GB of disk for the environment (torch from the package registry is the CUDA build; the run is on the CPU).
set -euo pipefail
cd "$(dirname "$0")/../.."
venv=${REFERENCE_VENV:-build/reference-venv}
need_kib=$((6 * 1024 * 1024))
if [ ! -x "$venv/bin/python" ]; then
    mkdir -p "$(dirname "$venv")"
    have_kib=$(df -Pk "$(dirname "$venv")" | awk 'NR==2 {print $4}')
    if [ "$have_kib" -lt "$need_kib" ]; then
        echo "remake.sh: $(dirname "$venv") has $((have_kib / 1024)) MiB free, torch needs about $((need_kib / 1024)); set REFERENCE_VENV to a place with room" >&2
        exit 1
    fi
    python3 -m venv "$venv"
    "$venv/bin/pip" install --quiet --requirement tools/reference/requirements.txt
fi
"$venv/bin/python" tools/reference/make_qwen2_tiny.py "$@"
"$venv/bin/python" tools/reference/make_tiny_models.py "$@"
ls -l native/tests/data
