#!/usr/bin/env bash
# python-env.sh DIRECTORY REQUIREMENTS...: a virtual environment with the pinned packages; made again when one of the files changes.
set -euo pipefail
directory=$1
shift
if ! cat "$@" | cmp -s - "$directory/requirements.txt"; then
    rm -rf "$directory"
    python3 -m venv "$directory"
    for requirements in "$@"; do
        "$directory/bin/pip" install --quiet --disable-pip-version-check --requirement "$requirements"
    done
    cat "$@" >"$directory/requirements.txt" # last: its presence says that the environment is complete
fi
