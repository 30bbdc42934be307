"""Model files that cannot be served: the program ends with an error that says what is wrong."""

import json
import struct
import subprocess
from pathlib import Path

import pytest
from serving import free_port

DATA = Path(__file__).resolve().parents[2] / "native/tests/data"
TINY = DATA / "qwen2-tiny-tied.gguf"


def serve(binary: Path, directory: Path, models: list[Path]) -> tuple[int, str]:
    """Starts a server that must fail, with the first two models as a route, and returns its status and output."""
    names = [f"m{i}" for i in range(len(models))]
    config = {"models": [{"name": n, "path": str(p)} for n, p in zip(names, models)],
              "server": {"listen": f"127.0.0.1:{free_port()}"}}
    if len(models) > 1:
        config["routes"] = [{"name": "r", "algorithm": "r-stitch", "models": names}]
    path = directory / "config.yaml"
    path.write_text(json.dumps(config))
    run = subprocess.run([str(binary), "serve", "--config", str(path)], stdin=subprocess.DEVNULL, capture_output=True,
                         text=True, timeout=120)
    output = run.stdout + run.stderr
    assert "goroutine" not in output and "panic" not in output
    return run.returncode, output


def tensor_offset_at(content: bytes, name: str) -> int:
    """Where the offset of a tensor stands in the file: after its name, number of dimensions, dimensions and type."""
    key = struct.pack("<Q", len(name)) + name.encode()
    at = content.index(key) + len(key)
    dimensions = struct.unpack_from("<I", content, at)[0]
    return at + 4 + 8 * dimensions + 4


@pytest.mark.parametrize("keep", [0, 3, 20, 5000, 300_000])
def test_a_truncated_file(binary, tmp_path, keep):
    bad = tmp_path / "truncated.gguf"
    bad.write_bytes(TINY.read_bytes()[:keep])
    status, output = serve(binary, tmp_path, [bad])
    assert status == 1
    assert "truncated.gguf" in output


@pytest.mark.parametrize("offset", [1 << 40, (1 << 64) - 32, 7])
def test_a_wrong_tensor_offset(binary, tmp_path, offset):
    content = bytearray(TINY.read_bytes())
    struct.pack_into("<Q", content, tensor_offset_at(bytes(content), "blk.1.ffn_up.weight"), offset)
    bad = tmp_path / "offset.gguf"
    bad.write_bytes(content)
    status, output = serve(binary, tmp_path, [bad])
    assert status == 1
    assert "blk.1.ffn_up.weight" in output


def test_vocabularies_that_do_not_match(binary, tmp_path, models):
    large = models / "qwen2.5-coder-0.5b-instruct-q4_k_m.gguf"
    status, output = serve(binary, tmp_path, [TINY, large])
    assert status == 1
    assert "m0" in output and "m1" in output and "token" in output


def test_a_file_that_is_not_there(binary, tmp_path):
    status, output = serve(binary, tmp_path, [tmp_path / "missing.gguf"])
    assert status == 1
    assert "missing.gguf" in output
