"""The example on the official client runs as its documentation says."""

import os
import re
import subprocess
import sys
from pathlib import Path

EXAMPLE = Path(__file__).resolve().parents[2] / "examples/openai-python/chat.py"


def test_example(server):
    done = subprocess.run([sys.executable, EXAMPLE, "Say hello in one word."], capture_output=True, text=True, timeout=300,
                          env={**os.environ, "OPENAI_BASE_URL": f"{server.url}/v1"})
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()
    assert re.fullmatch(r"[^:]+: \d+ tokens, [^:]+: \d+ tokens; \d+ handoffs\n", done.stderr), done.stderr
