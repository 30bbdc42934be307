import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))


@pytest.fixture(scope="session")
def model() -> Path:
    """A GGUF model, the small one of a pair: check.sh names it."""
    return Path(os.environ["ROUTER_MODEL"])


@pytest.fixture(scope="session")
def engine(model):
    from engine import Engine

    return Engine(Path(os.environ["ROUTER_LIBRARY"]), model)
