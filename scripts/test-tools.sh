#!/usr/bin/env bash
# test-tools.sh DIRECTORY PAIR_PYTHON: the tests of what is written in Python, from the root of the repository, after make build.
#
# DIRECTORY is for an environment with tools/requirements.txt. What trains models or reads checkpoints needs PyTorch, too: it runs
# where PAIR_PYTHON has that already, and is named where it does not.
set -euo pipefail
python=$1/bin/python pair=$2
export PYTHONDONTWRITEBYTECODE=1
if ! python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
    echo "NOT RUN: the tools' tests, which need Python 3.11 (this is $(python3 --version))" >&2
    exit
fi
scripts/python-env.sh "$1" tools/requirements.txt
check() { echo "test-tools: $1"; "$python" -m pytest -q -p no:cacheprovider "$1"; }

check scripts/tests
check bench/llamacpp/tests
check bench/pareto/tests
if "$pair" -c 'import gguf, pytest, tokenizers, torch' 2>/dev/null; then
    PYTHON=$pair tools/pair/check.sh
    PYTHON=$pair tools/router/check.sh models/pair/small.gguf models/pair/large.gguf
else
    check tools/pair/tests
    check tools/router/tests
    echo "NOT RUN: training the pair and routers, and reading their checkpoints: that needs PyTorch, a download of 5 GB;" \
        "make pair-check router-check" >&2
fi
