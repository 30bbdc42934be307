"""What a step must read from a device's memory at least: every weight that it multiplies with once, and its requests' KV cache once."""

from random_model import SHAPES, size, tensors

# GB/s, as the makers state them.
BANDWIDTHS = {"H200": 4800, "H100 PCIe": 2000, "H100": 3350, "A100": 1935, "L40S": 864, "L4": 300, "4090": 1008, "5090": 1792, "3090": 936}


def stated_bandwidth(name):
    """Of the GPU of that name; 0: not known."""
    return next((b for key, b in BANDWIDTHS.items() if key in name), 0)


def weight_bytes(shape, quantization):
    """Of all matrices but an embedding that is not the output matrix, too: a step reads a few rows of that."""
    tied = SHAPES[shape][-1]
    return sum(size(kind, dims) for name, kind, dims, _ in tensors(SHAPES[shape], quantization) if tied or name != "token_embd.weight")


def kv_bytes(shape):
    """Of a token: keys and values of all layers, as 16-bit floats."""
    layers, _, _, _, kv, head, _, _ = SHAPES[shape]
    return 2 * layers * kv * head * 2


def cached_tokens(figure):
    """Tokens of the KV cache that the step in the middle of a measurement reads, of all its sequences."""
    if figure["kind"] == "decode":  # grows by a token per step, one of them before the clock is started
        return figure["batch"] * (figure["context"] + 1 + (figure["steps"] + 1) // 2)
    return figure["batch"] * (figure["context"] + figure["tokens"])


def step_limit(shape, quantization, figure, bandwidth):
    """Seconds that a step of bench takes at the bandwidth, in GB/s."""
    return (weight_bytes(shape, quantization) + kv_bytes(shape) * cached_tokens(figure)) / bandwidth / 1e9


def run_limit(models, run, bandwidth):
    """Seconds that the steps of a run of bench/policies take; models: shape and quantization of the small and the large one."""
    total = 0.0
    for (shape, quantization), steps in zip(models, (run["small_steps"], run["large_steps"])):
        total += steps["steps"] * (weight_bytes(shape, quantization) + kv_bytes(shape) * steps.get("cached_tokens", 0))
    return total / bandwidth / 1e9
