"""What is collected, and read again: the product itself on the pair, a few prompts long. Needs no PyTorch."""

import json
import subprocess

import numpy as np
import pytest

import prompts
import shards

TOKENS = 48  # most of an answer


@pytest.fixture(scope="session")
def collected(root, tmp_path_factory):
    """Four problems, collected in one run and in two, the second going on where the first ended."""
    work = tmp_path_factory.mktemp("collect")
    rows = prompts.pair(1, "validation", 0, 4)
    (work / "prompts.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows))
    for out in ("once", "again"):
        arguments = ["--small", "models/pair/small.gguf", "--large", "models/pair/large.gguf", "--prompts", str(work / "prompts.jsonl"), "--out", str(work / out),
                     "--rollouts", "large", "--max-tokens", str(TOKENS), "--threads", "1"]
        for time in range(1 + (out == "again")):
            subprocess.run([root / "bin/tokenrouter", "collect", *arguments], cwd=root, check=True)
            if time == 0 and out == "again":
                (work / out / "000002.safetensors").unlink()
    return work


def test_positions_have_the_shapes_that_the_documentation_says(collected):
    p = shards.read(collected / "once")
    n = len(p.small)
    assert 4 * 10 < n <= 4 * TOKENS
    assert p.hidden.shape == (n, 64) and p.top_logits.shape == (n, p.settings["top"]) and p.large.shape == p.right.shape == (n,)
    assert np.isfinite(p.hidden).all() and (np.diff(p.top_logits, axis=1) <= 0).all(), "from the largest down"
    first = shards.tensors(collected / "once/000000.safetensors")
    assert (first["small"] == first["top_ids"][:, 0]).all(), "the small model's choice is its likeliest"
    assert 0 < first["prompt"].size < 200


def test_only_positions_where_the_models_differ_are_tried(collected):
    p = shards.read(collected / "once")
    assert p.differs.any() and (p.right[~p.differs] == -1).all() and np.isin(p.right, (-1, 0, 1)).all()
    wanted, counts = p.labels("answer")
    assert (counts == (~p.differs | (p.right >= 0))).all() and not wanted[~p.differs].any()
    wanted, counts = p.labels("choice")
    assert counts.all() and (wanted == p.differs).all()


def test_a_collection_goes_on_where_it_stopped(collected):
    one, two = shards.read(collected / "once"), shards.read(collected / "again")
    assert one.sha256 == two.sha256


def test_brain_floats_are_read_as_they_are(tmp_path):
    values = np.array([1.5, -2.0, 0.1], np.float32)
    data = (values.view(np.uint32) >> 16).astype(np.uint16).tobytes()
    header = json.dumps({"x": {"dtype": "BF16", "shape": [3], "data_offsets": [0, len(data)]}}).encode()
    (tmp_path / "x.safetensors").write_bytes(len(header).to_bytes(8, "little") + header + data)
    np.testing.assert_allclose(shards.tensors(tmp_path / "x.safetensors")["x"], values, rtol=2**-7)
    strange = header.replace(b"BF16", b"F128")
    (tmp_path / "y.safetensors").write_bytes(len(strange).to_bytes(8, "little") + strange + data)
    with pytest.raises(ValueError, match="F128"):
        shards.tensors(tmp_path / "y.safetensors")


def test_an_empty_directory_says_what_to_do(tmp_path):
    with pytest.raises(SystemExit, match="tokenrouter collect"):
        shards.read(tmp_path)


def test_gsm8k_lines_give_the_number_behind_the_hashes(tmp_path):
    (tmp_path / "g.jsonl").write_text('{"question": "q0", "answer": "x #### 7"}\n{"prompt": "q1", "cot": "y\\n#### 1,200"}\n{"question": "q2", "answer": "#### 3"}\n')
    assert prompts.gsm8k(tmp_path / "g.jsonl", 0, 2) == [{"prompt": "q0", "answer": "7"}, {"prompt": "q1", "answer": "1,200"}]
