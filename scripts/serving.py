"""Starts and stops `tokenrouter serve` for scripts and tests. Standard library only."""

import contextlib
import json
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path

SMALL, LARGE, ROUTE = "qwen2.5-coder-0.5b", "qwen2.5-coder-1.5b", "qwen2.5-coder"


class ServerFailed(Exception):
    """The server did not start, or ended; the message has the end of its log."""


def free_port() -> int:
    with contextlib.closing(socket.socket()) as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def pair_config(models: Path, port: int, threshold: float = 0.1, context: int = 4096) -> dict:
    """The real pair as one route, the small model at the entry. JSON is YAML, so this can be written to a .yaml file."""
    return {
        "models": [
            {"name": SMALL, "path": str(models / "qwen2.5-coder-0.5b-instruct-q4_k_m.gguf"), "context": context},
            {"name": LARGE, "path": str(models / "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf"), "context": context},
        ],
        "routes": [{"name": ROUTE, "algorithm": "r-stitch", "models": [SMALL, LARGE], "threshold": threshold}],
        "server": {"listen": f"127.0.0.1:{port}", "log_format": "json"},
    }


class Server:
    """A running server. Use as a context manager; leaving it stops the server and checks that it ended well."""

    ready = "/readyz"  # what answers 200 when the models are loaded

    def __init__(self, binary: Path, models: Path, directory: Path, **options):
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        directory.mkdir(parents=True, exist_ok=True)
        self.log = directory / "server.log"
        with self.log.open("wb") as log:
            self.process = subprocess.Popen([str(binary), *self.arguments(models, directory, **options)],
                                            stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT)

    def arguments(self, models: Path, directory: Path, **options) -> list[str]:
        """What the server is started with."""
        config = directory / "config.yaml"
        config.write_text(json.dumps(pair_config(models.absolute(), self.port, **options), indent=1))
        return ["serve", "--config", str(config)]

    def __enter__(self) -> "Server":
        return self

    def __exit__(self, kind, *_) -> None:
        status = self.stop()
        if kind is None and status != 0:
            raise ServerFailed(f"the server ended with status {status}:\n{self.tail()}")

    def wait_ready(self, seconds: float = 300) -> None:
        """Returns when the models are loaded."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                raise ServerFailed(f"the server ended with status {self.process.returncode} before it was ready:\n{self.tail()}")
            with contextlib.suppress(OSError, urllib.error.URLError):
                with urllib.request.urlopen(self.url + self.ready, timeout=5) as answer:
                    if answer.status == 200:
                        return
            time.sleep(0.1)
        raise ServerFailed(f"the server was not ready within {seconds:.0f} seconds:\n{self.tail()}")

    def tail(self, lines: int = 15) -> str:
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-lines:])

    def stop(self, seconds: float = 40) -> int:
        """Asks the server to end, as systemd would, and returns its exit status."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(seconds)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        return self.process.returncode


class DemoServer(Server):
    """A running server on the pair that the program carries, which needs no files."""

    def __init__(self, binary: Path, directory: Path):
        super().__init__(binary, directory, directory)

    def arguments(self, models: Path, directory: Path) -> list[str]:
        return ["serve", "--demo", "--listen", f"127.0.0.1:{self.port}"]
