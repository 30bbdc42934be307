import os
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT


@pytest.fixture(scope="session")
def model() -> Path:
    """A GGUF model, the small one of a pair: that of the built-in pair, or ROUTER_MODEL."""
    return Path(os.environ.get("ROUTER_MODEL") or ROOT / "models/pair/small.gguf")


@pytest.fixture(scope="session")
def engine(model):
    from engine import Engine

    return Engine(Path(os.environ.get("ROUTER_LIBRARY") or ROOT / "build/native/libtokenrouter.so"), model)
