"""Training, growing and exporting on tiny sizes; needs PyTorch."""

from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from tokenizers import Tokenizer  # noqa: E402

import policies  # noqa: E402
from average import average  # noqa: E402
from corpus import Stream  # noqa: E402
from decode import decode, entropy  # noqa: E402
from export import export  # noqa: E402
from forward import File  # noqa: E402
from grow import grow  # noqa: E402
from model import Model, Shape  # noqa: E402
from recipe import load  # noqa: E402
from tokenizer import texts, train as train_tokenizer  # noqa: E402
from train import Training  # noqa: E402
from verify import verify  # noqa: E402

RECIPE = load(Path(__file__).resolve().parents[1] / "check.toml")


@pytest.fixture
def work(tmp_path):
    train_tokenizer(RECIPE.tokenizer["vocabulary"], texts(RECIPE)).save(str(tmp_path / "tokenizer.json"))
    return tmp_path


def model(seed=1, **changes) -> Model:
    m = Model(Shape(**{"vocabulary": 384, "width": 32, "layers": 2, "heads": 2, "kv_heads": 1, "feed_forward": 64, **changes}))
    m.start(torch.Generator().manual_seed(seed))
    return m.eval()


def test_training_resumes_to_the_same_weights(work):
    straight = Training("seed", RECIPE, work)
    losses = [straight.train_step() for _ in range(24)]
    stopped = Training("seed", RECIPE, work)
    assert [stopped.train_step() for _ in range(11)] == losses[:11]
    stopped.save()
    resumed = Training("seed", RECIPE, work)
    assert resumed.step == 11
    assert [resumed.train_step() for _ in range(13)] == losses[11:]
    for a, b in zip(straight.model.parameters(), resumed.model.parameters()):
        assert torch.equal(a, b)
    assert resumed.digest == straight.digest
    assert sum(losses[-3:]) < sum(losses[:3])


def test_average(work):
    shape = model().shape.__dict__
    for name, seed in (("a", 1), ("b", 2), ("c", 3)):
        provenance = {"seed": 1, "steps": seed, "tokens": 10 * seed, "data_sha256": name}
        torch.save({"weights": model(seed).state_dict(), "shape": shape, "provenance": provenance}, work / f"{name}.pt")
    average("mean", ["a", "b", "c"], work)
    mean = torch.load(work / "mean.pt", weights_only=True)
    for k, w in mean["weights"].items():
        assert torch.allclose(w, (model(1).state_dict()[k] + model(2).state_dict()[k] + model(3).state_dict()[k]) / 3, atol=1e-6)
    assert (mean["provenance"]["steps"], mean["provenance"]["tokens"], mean["shape"]) == (6, 60, shape)
    torch.save({"weights": {}, "shape": {**shape, "width": 64}, "provenance": {}}, work / "b.pt")
    with pytest.raises(SystemExit, match="b {.*64"):
        average("mean", ["a", "b"], work)


def test_streams_go_on_in_the_next_chunk(work):
    tokenizer = Tokenizer.from_file(str(work / "tokenizer.json"))
    a, b = (Stream(tokenizer, "conversation", 1, 4096) for _ in range(2))
    while a.position[0] == 0:
        a.next()
    b.position = a.position
    assert torch.equal(a.next()[0], b.next()[0])


def test_growing_keeps_what_a_model_computes():
    small, large = model(), model(2, width=64, layers=4, heads=4, kv_heads=2, feed_forward=128)
    grow(large, {"shape": small.shape.__dict__, "weights": small.state_dict()}, 0.0, torch.Generator())
    tokens = torch.arange(40)[None]
    torch.testing.assert_close(large.logits(large.hidden(tokens)), small.logits(small.hidden(tokens)), atol=1e-4, rtol=1e-4)


def test_growing_to_another_size_is_an_error():
    with pytest.raises(SystemExit, match="grows to"):
        grow(model(width=96), {"shape": model().shape.__dict__, "weights": model().state_dict()}, 0.0, torch.Generator())


def test_an_exported_file_computes_the_same(work):
    t = Training("seed", RECIPE, work)
    for _ in range(5):
        t.train_step()
    t.finish()
    saved = torch.load(work / "seed.pt", weights_only=True)
    export(saved, "seed", t.tokenizer, work / "seed.gguf")
    assert 0 < verify("seed", work, work / "seed.gguf") < 1e-3
    meta = File(work / "seed.gguf").meta
    assert meta["general.license"] == "apache-2.0"
    assert meta["tokenrouter.training.data_sha256"] == t.digest
    saved["weights"]["blocks.0.q_norm.weight"] += 0.5
    torch.save(saved, work / "seed.pt")
    with pytest.raises(SystemExit, match="logits differ"):
        verify("seed", work, work / "seed.gguf")


def sequential(small, large, prompt, end, threshold, limit):
    """R-Stitch for one prompt, without a cache, word for word: who wrote each token."""
    tokens, wrote, active = list(prompt), [], small
    while len(wrote) < limit and (not wrote or tokens[-1] != end):
        logits = active.logits(active.hidden(torch.tensor([tokens])))[0, -1]
        unsure = entropy(logits) > threshold
        if active is small and unsure:
            active = large
            continue
        tokens.append(int(logits.argmax()))
        wrote.append(active is large)
        active = large if unsure else small
    return tokens[len(prompt) :], sum(wrote)


def test_weights_are_those_that_the_shape_names():
    assert {k: tuple(v.shape) for k, v in model().state_dict().items()} == model().shape.weights()


@torch.no_grad()
def test_decoding_agrees_with_a_sequential_loop():
    small, large = model(1), model(2)
    for m in (small, large):  # larger weights, so that choices and entropies differ from token to token
        m.norm.weight.mul_(30)
        for b in m.blocks:
            b.o.weight.mul_(8), b.down.weight.mul_(8)
    prompts = [[5, 6, 7, 8], [9, 10], [11, 12, 13, 14, 15, 16], [17]]
    middle = float(entropy(small.logits(small.hidden(torch.arange(200)[None]))[0]).median())
    shares = set()
    for threshold in (middle * 0.9, middle, middle * 1.1):
        written = decode(small, large, prompts, 3, policies.r_stitch(threshold), limit=20)
        for prompt, w in zip(prompts, written):
            assert (w.tokens, w.by_large) == sequential(small, large, prompt, 3, threshold, 20)
            shares.add(w.by_large)
    assert len(shares) > 2
