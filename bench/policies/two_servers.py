#!/usr/bin/env python3
"""Measures what can be built without TokenRouter: a client that sends every token to one of two llama-server processes.

    scripts/build-llamacpp.sh
    bench/policies/two_servers.py --server build/llamacpp/build/bin/llama-server --small SMALL.gguf --large LARGE.gguf \\
        --requests 1,4,16 --share 0.1 --tokens 128 --rounds 3 --out bench/results/two_servers.json \\
        --against bench/results/policies.json

The client asks the small model for one token and its probability, and for a share of the positions, drawn with a fixed seed, the
large model for that position instead. Both servers keep every request in a slot of their own with its KV cache, so each call
takes in only what the server has not seen. The servers are started anew for each number of requests and each number of threads
(all of them in turn, so that the best can be named), and each round asks all that is to be measured once, after a short warm-up.
Prompts are those of the benchmark beside this file. With --against, the result says how many times faster its lazy policy is.
Needs nothing but Python.
"""

import argparse
import datetime
import http.client
import json
import os
import random
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

CONTEXT = 1024  # tokens of each slot


class Server:
    """A llama-server process, ended when the block is left."""

    def __init__(self, program: str, model: str, threads: int, slots: int):
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            self.port = s.getsockname()[1]
        self.log = tempfile.TemporaryFile()
        self.process = subprocess.Popen(
            [program, "-m", model, "--port", str(self.port), "-t", str(threads), "-np", str(slots), "-c", str(CONTEXT * slots)],
            stdout=self.log, stderr=self.log)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        self.log.close()

    def wait(self):
        for _ in range(600):
            if self.process.poll() is not None:
                self.log.seek(0)
                raise SystemExit(f"two_servers: llama-server ended with status {self.process.returncode}:\n{self.log.read()[-2000:].decode()}")
            try:
                if call(http.client.HTTPConnection("127.0.0.1", self.port, timeout=5), "/health", None)[0] == 200:
                    return
            except OSError:
                pass
            time.sleep(0.1)
        raise SystemExit("two_servers: llama-server does not get ready")


def call(connection: http.client.HTTPConnection, path: str, body: dict | None) -> tuple[int, dict]:
    text = None if body is None else json.dumps(body).encode()
    for again in (True, False):
        try:
            connection.request("GET" if text is None else "POST", path, text, {"Content-Type": "application/json"})
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read())
        except (BrokenPipeError, ConnectionResetError, http.client.RemoteDisconnected):
            connection.close()  # the server closes what was idle for some seconds; the next request opens it again
            if not again:
                raise
    raise AssertionError("not reached")


class Client:
    """One request at a time, with a connection to each server."""

    def __init__(self, slot: int, small: Server, large: Server):
        self.slot = slot
        self.small, self.large = (http.client.HTTPConnection("127.0.0.1", s.port, timeout=600) for s in (small, large))

    def token(self, connection: http.client.HTTPConnection, tokens: list[int], probabilities: int) -> int:
        status, answer = call(connection, "/completion", {
            "prompt": tokens, "n_predict": 1, "temperature": 0, "samplers": ["temperature"], "cache_prompt": True,
            "id_slot": self.slot, "n_probs": probabilities, "return_tokens": True, "ignore_eos": True})
        if status != 200 or not answer.get("tokens"):
            raise RuntimeError(f"llama-server answered {status}: {answer}")
        return answer["tokens"][0]

    def write(self, tokens: list[int], count: int, share: float, seed: int) -> dict:
        """Writes `count` tokens after the prompt and says when the first came, when the last, and how many were routed."""
        draw, tokens = random.Random(seed), list(tokens)
        asked, first, routed = time.perf_counter(), 0.0, 0
        for _ in range(count):
            token = self.token(self.small, tokens, 1)  # its probability is what a router would look at
            if draw.random() < share:
                token = self.token(self.large, tokens, 0)
                routed += 1
            tokens.append(token)
            first = first or time.perf_counter() - asked
        return {"first": first, "end": time.perf_counter(), "routed": routed}


def texts(path: str) -> list[str]:
    if path:
        rows = [json.loads(line) for line in Path(path).read_text().splitlines()]
        return [r.get("question") or r.get("problem") or r["prompt"] for r in rows]
    words = Path(__file__).with_name("passage.txt").read_text().split()
    return [" ".join(words[i:i + 12 + i * 48 // 16]) for i in range(17)]


def prompt(list_of_texts: list[str], i: int, numbered: bool) -> str:
    text = list_of_texts[i % len(list_of_texts)]
    return f"Question {i + 1}. {text}" if numbered or i >= len(list_of_texts) else text


def together(clients: list[Client], prompts: list[list[int]], tokens: int, share: float, seed: int) -> tuple[float, list[dict]]:
    """All clients at once; returns the seconds until the last is through, and what each saw."""
    results: list = [None] * len(clients)

    def one(i: int):
        try:
            results[i] = clients[i].write(prompts[i], tokens, share, seed + i)
        except Exception as e:  # to be raised where somebody sees it
            results[i] = e

    threads = [threading.Thread(target=one, args=(i,)) for i in range(len(clients))]
    start = time.perf_counter()
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    for r in results:
        if isinstance(r, Exception):
            raise r
    return max(r["end"] for r in results) - start, results


def measure(a: argparse.Namespace, requests: int, threads: tuple[int, int]) -> dict:
    """One setting on servers of its own: the medians of its rounds."""
    with Server(a.server, a.small, threads[0], requests) as small, Server(a.server, a.large, threads[1], requests) as large:
        small.wait()
        large.wait()
        clients = [Client(i, small, large) for i in range(requests)]

        def ids(i: int) -> list[int]:
            status, answer = call(clients[0].small, "/tokenize", {"content": prompt(a.texts, i, not a.prompts), "add_special": True})
            if status != 200:
                raise RuntimeError(f"llama-server answered {status}: {answer}")
            return answer["tokens"]

        together(clients, [ids(100_000 + i) for i in range(requests)], 8, a.share, 1_000_000)
        rates, firsts, routed = [], [], 0
        for r in range(a.rounds):
            # Other prompts in each round: a slot finds nothing of the last one.
            seconds, seen = together(clients, [ids(r * requests + i) for i in range(requests)], a.tokens, a.share, 1 + r * requests)
            rates.append(requests * a.tokens / seconds)
            firsts += [x["first"] for x in seen]
            routed += sum(x["routed"] for x in seen)
    firsts.sort()
    figure = {"threads": list(threads), "tokens_per_second": statistics.median(rates), "runs": rates,
              "routed": routed / (requests * a.tokens * a.rounds), "first_token_p50_ms": 1000 * statistics.median(firsts),
              "first_token_p95_ms": 1000 * firsts[max(0, -(-95 * len(firsts) // 100) - 1)]}
    print(f"N={requests} threads {threads[0]} and {threads[1]}: {figure['tokens_per_second']:.2f} tokens/s, routed {figure['routed']:.3f}, "
          f"first token {figure['first_token_p50_ms']:.0f} ms", file=sys.stderr)
    return figure


def compare(case: dict, share: float, against: dict) -> None:
    """Adds how many times faster the engine's lazy policy is, if it was measured so, and how many times its steps allow."""
    for c in against["cases"]:
        lazy = c["policies"].get("lazy")
        if c["requests"] == case["requests"] and abs(c["share"] - share) < 1e-9 and lazy:
            case["engine_tokens_per_second"] = lazy["tokens_per_second"]
            case["engine_over_two_servers"] = lazy["tokens_per_second"] / case["best"]["tokens_per_second"]
            if "prediction" in c:
                case["predicted_over_two_servers"] = c["prediction"]["tokens_per_second"] / case["best"]["tokens_per_second"]


def main() -> None:
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--server", default="build/llamacpp/build/bin/llama-server", help="the llama-server program")
    p.add_argument("--small", required=True)
    p.add_argument("--large", required=True)
    p.add_argument("--requests", default="1,4,16", help="numbers of requests at a time")
    p.add_argument("--threads", default="1:1,2:2", help="threads of the small and of the large server, several settings")
    p.add_argument("--share", type=float, default=0.1, help="share of the positions that the large model writes")
    p.add_argument("--tokens", type=int, default=128, help="tokens of an answer")
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--prompts", default="", help="JSON lines with a question, problem or prompt")
    p.add_argument("--against", default="", help="result of bench/policies on the same machine")
    p.add_argument("--out", default="", help="file to write; default: standard output")
    a = p.parse_args()
    a.texts = texts(a.prompts)
    settings = [tuple(int(n) for n in s.split(":")) for s in a.threads.split(",")]
    against = json.loads(Path(a.against).read_text()) if a.against else None
    result = {"date": datetime.date.today().isoformat(), "cores": os.cpu_count(), "small": Path(a.small).name,
              "large": Path(a.large).name, "share": a.share, "tokens": a.tokens, "rounds": a.rounds, "cases": []}
    for requests in (int(n) for n in a.requests.split(",")):
        figures = [measure(a, requests, s) for s in settings]
        case = {"requests": requests, "best": max(figures, key=lambda f: f["tokens_per_second"]), "settings": figures}
        if against:
            compare(case, a.share, against)
        result["cases"].append(case)
        text = json.dumps(result, indent=2) + "\n"
        if a.out:
            Path(a.out).write_text(text)
    if not a.out:
        sys.stdout.write(text)


if __name__ == "__main__":
    main()
