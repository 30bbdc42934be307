"""The native library from Python, as far as it takes to score rows with a head (native/include/tokenrouter.h)."""

import ctypes as c
from pathlib import Path

import numpy as np

ABI = 5
PAGE = 32
WANT_TOKEN, WANT_HIDDEN = 1, 2
P = c.c_void_p


def struct(name: str, *fields) -> type[c.Structure]:
    return type(name, (c.Structure,), {"_fields_": [("size", c.c_uint32), *fields]})


DeviceParams = struct("DeviceParams", ("n_threads", c.c_int32), ("kind", P), ("isa", P))
ModelParams = struct("ModelParams", ("flags", c.c_uint32), ("progress", P))
ModelInfo = struct("ModelInfo", *[(n, c.c_int32) for n in ("n_vocab", "n_embd", "n_layer", "n_head", "n_head_kv", "head_dim", "n_ctx_train")],
                   *[(n, c.c_uint64) for n in ("n_params", "weight_bytes", "kv")], ("architecture", c.c_char_p), ("name", c.c_char_p))
ArenaParams = struct("ArenaParams", *[(n, c.c_int32) for n in ("n_pages", "max_tokens", "max_rows", "kv_type")])
Segment = struct("Segment", ("position", c.c_int32), ("tokens", P), ("pages", P), ("n_tokens", c.c_int32), ("n_pages", c.c_int32))
Sampling = struct("Sampling", ("temperature", c.c_float), ("top_k", c.c_int32), *[(n, c.c_float) for n in ("top_p", "min_p", "repetition", "presence", "frequency")],
                  ("seed", c.c_uint64), ("choice", c.c_uint32), ("stream", c.c_uint32), *[(n, P) for n in ("seen_ids", "seen_counts", "bias_ids", "bias", "allowed")],
                  ("n_seen", c.c_int32), ("n_bias", c.c_int32))
Row = struct("Row", ("want", c.c_uint32), *[(n, c.c_int32) for n in ("segment", "offset", "n_top", "n_valid")], ("valid", P), ("sampling", P), ("head", P),
             ("token", c.c_int32), *[(n, c.c_float) for n in ("logprob", "logsumexp", "entropy")], ("top_ids", P), ("top_logits", c.POINTER(c.c_float)),
             ("hidden", c.POINTER(c.c_float)), ("logits", P), ("head_logit", c.c_float))
Batch = struct("Batch", ("n_segments", c.c_int32), ("n_rows", c.c_int32), ("reserved", c.c_int32), ("segments", P), ("rows", P))


class Engine:
    """One model on the CPU. Everything lives as long as the process."""

    def __init__(self, library: Path, model: Path):
        self.lib = c.CDLL(str(library))
        if self.lib.tr_abi_version() != ABI:
            raise RuntimeError(f"{library} has ABI {self.lib.tr_abi_version()}, expected {ABI}")
        self.device, self.model = P(), P()
        self.call("tr_device_open", c.byref(DeviceParams(size=c.sizeof(DeviceParams), n_threads=1)), c.byref(self.device))
        self.call("tr_model_load", self.device, str(model).encode(), c.byref(ModelParams(size=c.sizeof(ModelParams))), c.byref(self.model))
        self.info = ModelInfo(size=c.sizeof(ModelInfo))
        self.call("tr_model_describe", self.model, c.byref(self.info))

    def call(self, name: str, *arguments) -> None:
        error = c.create_string_buffer(512)
        if getattr(self.lib, name)(*arguments, error, c.c_size_t(512)):
            raise RuntimeError(f"{name}: {error.value.decode()}")

    def scores(self, head: Path, tokens: list[int], top: int) -> dict[str, np.ndarray]:
        """hidden [n, E], top_logits [n, top], token [n] and score [n] at every position of at most 64 tokens."""
        n, pages = len(tokens), (len(tokens) + PAGE - 1) // PAGE
        handle, arena = P(), P()
        self.call("tr_head_load", self.model, str(head).encode(), c.byref(handle))
        self.call("tr_arena_create", self.model, c.byref(ArenaParams(size=c.sizeof(ArenaParams), n_pages=pages)), c.byref(arena))
        ids, table = (c.c_int32 * n)(*tokens), (c.c_int32 * pages)(*range(pages))
        greedy = Sampling(size=c.sizeof(Sampling))
        segment = Segment(size=c.sizeof(Segment), tokens=c.addressof(ids), pages=c.addressof(table), n_tokens=n, n_pages=pages)
        rows = (Row * n)(*[Row(size=c.sizeof(Row), want=WANT_TOKEN | WANT_HIDDEN, offset=i, n_top=top, sampling=c.addressof(greedy), head=handle) for i in range(n)])
        self.call("tr_step", arena, c.byref(Batch(size=c.sizeof(Batch), n_segments=1, n_rows=n, segments=c.addressof(segment), rows=c.addressof(rows))))
        found = {
            "hidden": np.array([r.hidden[: self.info.n_embd] for r in rows], np.float32), "top_logits": np.array([r.top_logits[:top] for r in rows], np.float32),
            "token": np.array([r.token for r in rows]), "score": np.array([r.head_logit for r in rows], np.float32),
        }
        self.lib.tr_arena_free(arena)
        self.lib.tr_head_free(handle)
        return found
