import importlib.util
import sys
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(SCRIPTS))  # as it is when a script is run


def script(name: str):
    """A script as a module, though its name has a hyphen."""
    spec = importlib.util.spec_from_file_location(name.replace("-", "_"), SCRIPTS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def routing():
    return script("render-routing")


@pytest.fixture
def performance():
    return script("render-performance")


@pytest.fixture
def configuration():
    return script("render-configuration")


@pytest.fixture
def llama_server():
    return script("render-llama-server")
