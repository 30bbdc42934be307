#!/usr/bin/env bash
# check.sh SMALL LARGE: proves that the scripts run on a pair: collect 3 prompts, train 1 epoch, load and score the heads, convert.
# Needs bin/tokenrouter and build/native (make build); PYTHON has ../pair/requirements.txt.
set -euo pipefail
small=$(realpath "$1") large=$(realpath "$2")
cd "$(dirname "$0")"
root=$(realpath ../..)
python=${PYTHON:-python3}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export PYTHONDONTWRITEBYTECODE=1 OMP_NUM_THREADS=1 ROUTER_MODEL=$small ROUTER_LIBRARY=$root/build/native/libtokenrouter.so
"$python" -m pytest -q -p no:cacheprovider tests
"$python" prompts.py pair --count 3 --out "$work/prompts.jsonl"
for time in 1 2; do # the second has nothing left to do
    "$root/bin/tokenrouter" collect --threads 1 --small "$small" --large "$large" --prompts "$work/prompts.jsonl" --out "$work/data" --max-tokens 24
done
for algorithm in citer r2r co-llm; do
    "$python" train.py "$algorithm" --train "$work/data" --validation "$work/data" --small "$small" --epochs 1 --out "$work/$algorithm.gguf"
    "$python" - "$work/$algorithm.gguf" <<'END'
import os, sys
from engine import Engine
scores = Engine(os.environ["ROUTER_LIBRARY"], os.environ["ROUTER_MODEL"]).scores(sys.argv[1], [1, 2, 3], 100)["score"]
assert abs(scores).max() > 0, scores
END
done
echo "check.sh: the routers' scripts run"
