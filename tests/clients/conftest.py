"""A running server on the real pair, shared by all tests of a run."""

import os
import sys
from pathlib import Path

import openai
import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

from serving import Server  # noqa: E402


@pytest.fixture(scope="session")
def models() -> Path:
    default = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "tokenrouter" / "models"
    return Path(os.environ.get("TOKENROUTER_MODELS") or default)


@pytest.fixture(scope="session")
def binary() -> Path:
    return ROOT / "bin" / "tokenrouter"


@pytest.fixture(scope="session")
def server(binary, models, tmp_path_factory):
    with Server(binary, models, tmp_path_factory.mktemp("server"), context=2048) as running:
        running.wait_ready()
        yield running


@pytest.fixture
def client(server) -> openai.OpenAI:
    # No retries: a test must see the first answer.
    return openai.OpenAI(base_url=f"{server.url}/v1", api_key="none needed", max_retries=0, timeout=300)
