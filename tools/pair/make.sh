#!/usr/bin/env bash
# make.sh RECIPE WORK OUT: makes the pair: tokenizer, seed, small, large, figures, OUT/small.gguf and OUT/large.gguf.
#
# Stop it whenever you like; started again with the same WORK it goes on from the last checkpoint (at most a minute old).
# PYTHON names the interpreter (see requirements.txt); COUNT is how many problems are measured (400).
set -euo pipefail
recipe=$(realpath "$1") work=$(realpath -m "$2") out=$(realpath -m "$3")
cd "$(dirname "$0")"
python=${PYTHON:-python3}
mkdir -p "$work"

# One thread. The memory of freed tensors is kept rather than given back and cleared again: a third faster.
export OMP_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=1
export MALLOC_MMAP_THRESHOLD_=4294967296 MALLOC_TRIM_THRESHOLD_=8589934592 MALLOC_TOP_PAD_=268435456

# Another recipe, or other scripts, in the directory of an old one would mix two pairs.
if [ -e "$work/recipe.toml" ] && ! cmp -s "$recipe" "$work/recipe.toml"; then
    echo "make.sh: $work belongs to another recipe (its recipe.toml differs): name another directory, or empty it" >&2
    exit 1
fi
cp "$recipe" "$work/recipe.toml"

step() { echo "make.sh: $*"; "$python" "$@"; }
[ -e "$work/tokenizer.json" ] || step tokenizer.py --recipe "$recipe" --work "$work"
step train.py --recipe "$recipe" --work "$work"
for model in small large; do
    step export.py "$model" --recipe "$recipe" --work "$work" --out "$out/$model.gguf"
    step verify.py "$model" --work "$work" --file "$out/$model.gguf"
done
for split in validation test; do
    step measure.py --recipe "$recipe" --work "$work" --split "$split" --count "${COUNT:-400}"
done
