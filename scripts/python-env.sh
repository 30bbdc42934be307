#!/usr/bin/env bash
# python-env.sh DIRECTORY REQUIREMENTS: a virtual environment with the pinned packages; made again when they change.
set -euo pipefail
directory=$1 requirements=$2
if ! cmp -s "$requirements" "$directory/requirements.txt"; then
    rm -rf "$directory"
    python3 -m venv "$directory"
    "$directory/bin/pip" install --quiet --disable-pip-version-check --requirement "$requirements"
    cp "$requirements" "$directory/requirements.txt" # last: its presence says that the environment is complete
fi
