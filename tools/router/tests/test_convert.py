"""Checkpoints of the official forms with random weights: the product's score is that of the network in PyTorch."""

import json
import pickle

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import convert  # noqa: E402
import heads  # noqa: E402
import networks  # noqa: E402
from train import token_embeddings  # noqa: E402

TOKENS = [(37 * i + 11) % 300 for i in range(48)]
TOP = 100


def shaken(network: torch.nn.Module) -> torch.nn.Module:
    """With random weights, those of norms too."""
    random = torch.Generator().manual_seed(5)
    for name, value in network.state_dict().items():
        if value.is_floating_point():
            value += 0.1 * torch.randn(value.shape, generator=random).abs() if "running_var" in name else 0.1 * torch.randn(value.shape, generator=random)
    return network.eval()


def check(engine, model, network, head):
    found = engine.scores(head, TOKENS, TOP)
    embeddings = token_embeddings(model)[torch.from_numpy(found["token"]).long()]
    with torch.no_grad():
        want = network(torch.from_numpy(found["hidden"]), embeddings, torch.from_numpy(found["top_logits"])).numpy()
    assert np.std(want) > 1e-2, "the scores say nothing"
    np.testing.assert_allclose(found["score"], want, rtol=1e-3, atol=1e-3)


def test_r2r(engine, model, tmp_path):
    width, blocks = 64, 6  # six blocks four times as wide inside, as published; the widths follow from the tensors
    network = shaken(networks.R2R(engine.info.n_embd, TOP, width, 4 * width, blocks))
    state = network.state_dict() | {"token_embeddings.weight": torch.zeros(4, engine.info.n_embd)}
    torch.save({"model_type": "HiddenStatesTokenLMHeadLogitsClassifier", "init_args": {"hidden_states_size": 2048}, "model_specific_args": {},
                "common_args": {"threshold": 0.40596, "input_type": ["hidden_states", "token", "logits"]}, "state_dict": state}, tmp_path / "default_router.pt")
    convert.convert("r2r", tmp_path / "default_router.pt", tmp_path / "head.gguf", None)
    check(engine, model, network, tmp_path / "head.gguf")


def test_citer(engine, model, tmp_path):
    network = shaken(networks.Citer(engine.info.n_embd, 2 * engine.info.n_embd))
    torch.save(network.state_dict(), tmp_path / "mlp_iter_0123.pth")
    convert.convert("citer", tmp_path / "mlp_iter_0123.pth", tmp_path / "head.gguf", None)
    check(engine, model, network, tmp_path / "head.gguf")


@pytest.mark.parametrize("name", ["lm_head.weight", "model.embed_tokens.weight"])
def test_co_llm(engine, model, tmp_path, name):
    """A file in BF16 as safetensors lays it out; the deferral token's row is the last."""
    n, width = 7, engine.info.n_embd
    matrix = torch.randn(n, width, generator=torch.Generator().manual_seed(3)).bfloat16()
    data = matrix.view(torch.int16).numpy().tobytes()
    header = json.dumps({name: {"dtype": "BF16", "shape": [n, width], "data_offsets": [0, len(data)]}}).encode()
    (tmp_path / "model.safetensors").write_bytes(len(header).to_bytes(8, "little") + header + data)
    convert.convert("co-llm", tmp_path, tmp_path / "head.gguf", None)
    network = networks.CoLLM(width)
    with torch.no_grad():
        network.row.weight.copy_(matrix[-1:].float())
        network.row.bias.zero_()
    check(engine, model, network, tmp_path / "head.gguf")


def test_other_networks_are_refused(tmp_path):
    weights = networks.R2R(8, 4, 8, 16, 1).state_dict() | {"layer_norm_token.weight": torch.ones(8)}
    torch.save({"state_dict": weights}, tmp_path / "r.pt")
    with pytest.raises(heads.Unsupported, match="layer_norm_token.weight"):
        convert.convert("r2r", tmp_path / "r.pt", tmp_path / "h.gguf", None)


def test_a_pickle_runs_nothing(tmp_path):
    class Bad:
        def __reduce__(self):
            return (open, (str(tmp_path / "made"), "w"))

    torch.save({"state_dict": Bad()}, tmp_path / "bad.pt")
    with pytest.raises(pickle.UnpicklingError):
        convert.convert("r2r", tmp_path / "bad.pt", tmp_path / "h.gguf", None)
    assert not (tmp_path / "made").exists()
