"""Requests made up from the OpenAPI document: whatever they are, the server answers them or says what is wrong with them."""

import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from serving import free_port


@pytest.fixture
def demo(binary, tmp_path):
    """A server on the pair that is built in: tiny, so that many requests are quick."""
    url = f"http://127.0.0.1:{(port := free_port())}"
    with (tmp_path / "server.log").open("wb") as log:
        process = subprocess.Popen([str(binary), "serve", "--demo", "--listen", f"127.0.0.1:{port}"], stdout=log, stderr=subprocess.STDOUT)
    try:
        for _ in range(600):
            try:
                urllib.request.urlopen(url + "/readyz", timeout=5).close()
                break
            except (OSError, urllib.error.URLError):
                assert process.poll() is None, (tmp_path / "server.log").read_text()
                time.sleep(0.1)
        yield url
    finally:
        process.terminate()
        process.wait(60)


def test_no_request_makes_the_server_fail(demo, tmp_path):
    run = subprocess.run([str(Path(sys.executable).parent / "st"), "run", f"{demo}/openapi.json", "--checks", "not_a_server_error",
                          "-n", "25", "--request-timeout", "60", "--generation-database", "none"],
                         cwd=tmp_path, capture_output=True, text=True, timeout=900)  # it leaves files where it runs
    assert run.returncode == 0, run.stdout[-5000:] + run.stderr[-2000:]
