#!/usr/bin/env python3
"""Greedy generation with libtokenrouter by ctypes, from token ids to token ids. Standard library only.

    generate.py /usr/local/lib/libtokenrouter.so model.gguf 16 12522 5193 264 882

The structures below are those of tokenrouter.h, in its order; the library refuses any of another size.
"""

import ctypes
import sys
from ctypes import POINTER, Structure, byref, c_char_p, c_float, c_int32, c_uint32, c_uint64, c_void_p, sizeof

ABI = 5
PAGE_TOKENS = 32
WANT_TOKEN = 1


class Sized(Structure):
    """A structure whose first field is its size."""

    def __init__(self, **fields):
        super().__init__(size=sizeof(type(self)), **fields)


class DeviceParams(Sized):
    _fields_ = [("size", c_uint32), ("n_threads", c_int32), ("kind", c_char_p), ("isa", c_char_p)]


class ModelParams(Sized):
    _fields_ = [("size", c_uint32), ("flags", c_uint32), ("progress", POINTER(c_int32))]


class ArenaParams(Sized):
    _fields_ = [("size", c_uint32), ("n_pages", c_int32), ("max_tokens", c_int32), ("max_rows", c_int32), ("kv_type", c_int32)]


class Segment(Sized):
    _fields_ = [("size", c_uint32), ("position", c_int32), ("tokens", POINTER(c_int32)), ("pages", POINTER(c_int32)),
                ("n_tokens", c_int32), ("n_pages", c_int32)]


class Sampling(Sized):
    _fields_ = [("size", c_uint32), ("temperature", c_float), ("top_k", c_int32), ("top_p", c_float), ("min_p", c_float),
                ("repetition_penalty", c_float), ("presence_penalty", c_float), ("frequency_penalty", c_float),
                ("seed", c_uint64), ("choice", c_uint32), ("stream", c_uint32), ("seen_ids", POINTER(c_int32)),
                ("seen_counts", POINTER(c_int32)), ("bias_ids", POINTER(c_int32)), ("bias", POINTER(c_float)),
                ("allowed", POINTER(c_uint32)), ("n_seen", c_int32), ("n_bias", c_int32)]


class Row(Sized):
    _fields_ = [("size", c_uint32), ("want", c_uint32), ("segment", c_int32), ("offset", c_int32), ("n_top", c_int32),
                ("n_valid", c_int32), ("valid", POINTER(c_uint32)), ("sampling", POINTER(Sampling)), ("head", c_void_p),
                ("token", c_int32), ("logprob", c_float), ("logsumexp", c_float), ("entropy", c_float),
                ("top_ids", POINTER(c_int32)), ("top_logits", POINTER(c_float)), ("hidden", POINTER(c_float)),
                ("logits", POINTER(c_float)), ("head_logit", c_float)]


class Batch(Sized):
    _fields_ = [("size", c_uint32), ("n_segments", c_int32), ("n_rows", c_int32), ("reserved", c_int32),
                ("segments", POINTER(Segment)), ("rows", POINTER(Row))]


class Library:
    """libtokenrouter with errors as exceptions."""

    def __init__(self, path):
        self.lib = ctypes.CDLL(path)
        found = self.lib.tr_abi_version()
        if found != ABI:
            raise SystemExit(f"{path} has ABI {found}, this program was written for {ABI}")
        for name in ("tr_arena_free", "tr_model_free", "tr_device_close"):
            getattr(self.lib, name).argtypes = [c_void_p]
            getattr(self.lib, name).restype = None

    def call(self, name, *arguments):
        message = ctypes.create_string_buffer(512)
        if getattr(self.lib, name)(*arguments, message, ctypes.c_size_t(len(message))) != 0:
            raise SystemExit(f"{name}: {message.value.decode()}")

    def make(self, name, *arguments):
        handle = c_void_p()
        self.call(name, *arguments, byref(handle))
        return handle


def generate(lib, path, prompt, count):
    """Yields the ids that follow a prompt."""
    device = lib.make("tr_device_open", byref(DeviceParams()))
    model = lib.make("tr_model_load", device, path.encode(), byref(ModelParams()))
    n_pages = -(-(len(prompt) + count) // PAGE_TOKENS)
    arena = lib.make("tr_arena_create", model, byref(ArenaParams(n_pages=n_pages, max_tokens=len(prompt), max_rows=1)))
    try:
        pages, greedy, position, new = (c_int32 * n_pages)(*range(n_pages)), Sampling(), 0, prompt
        for _ in range(count):  # every step is an extend: by the prompt, then by one token at a time
            tokens = (c_int32 * len(new))(*new)
            segment = Segment(position=position, tokens=tokens, pages=pages, n_tokens=len(new), n_pages=n_pages)
            row = Row(want=WANT_TOKEN, segment=0, offset=len(new) - 1, sampling=ctypes.pointer(greedy))
            batch = Batch(n_segments=1, n_rows=1, segments=ctypes.pointer(segment), rows=ctypes.pointer(row))
            lib.call("tr_step", arena, byref(batch))
            if row.token < 0:
                raise SystemExit("the model's activations are not finite")
            yield row.token
            position += len(new)
            new = [row.token]
    finally:
        lib.lib.tr_arena_free(arena)
        lib.lib.tr_model_free(model)
        lib.lib.tr_device_close(device)


def main():
    if len(sys.argv) < 5:
        raise SystemExit("usage: generate.py LIBRARY MODEL.gguf COUNT ID [ID ...]")
    library, path, count, *prompt = sys.argv[1:]
    for token in generate(Library(library), path, [int(t) for t in prompt], int(count)):
        print(token, end=" ", flush=True)
    print()


if __name__ == "__main__":
    main()
