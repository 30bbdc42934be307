#!/usr/bin/env bash
# check.sh: proves that the scripts run end to end: tests, then the whole recipe on tiny sizes.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
python=${PYTHON:-python3}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export PYTHON=$python COUNT=20 PYTHONDONTWRITEBYTECODE=1
"$python" -m pytest -q -p no:cacheprovider "$here/tests"
"$here/make.sh" "$here/check.toml" "$work/pair" "$work/out"
test -s "$work/out/small.gguf" -a -s "$work/out/large.gguf"
echo "check.sh: the pair's scripts run"
