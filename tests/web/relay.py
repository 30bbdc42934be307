"""A relay in front of a server, which makes a fast answer slow, or breaks it. Standard library only."""

import http.client
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit


class Relay:
    """Hands everything on to a server. Events of streams come `delay` seconds apart; after `cut` events, if given, the connection ends."""

    def __init__(self, target: str):
        self.delay = 0.0
        self.cut = None
        self.left = threading.Event()  # a client left before the end of its answer
        relay, address = self, urlsplit(target).netloc

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                self.forward(None)

            def do_POST(self):
                self.forward(self.rfile.read(int(self.headers["Content-Length"])))

            def forward(self, body):
                server = http.client.HTTPConnection(address, timeout=60)
                headers = {name: self.headers[name] for name in ("Content-Type", "Authorization") if name in self.headers}
                server.request(self.command, self.path, body, headers)
                answer = server.getresponse()
                self.send_response(answer.status)
                for name, value in answer.getheaders():
                    if name not in ("Transfer-Encoding", "Content-Length", "Connection", "Date"):
                        self.send_header(name, value)
                self.send_header("Connection", "close")
                self.end_headers()
                try:
                    self.copy(answer)
                except (BrokenPipeError, ConnectionResetError):
                    relay.left.set()
                finally:
                    server.close()
                    self.close_connection = True

            def copy(self, answer):
                if not answer.getheader("Content-Type", "").startswith("text/event-stream"):
                    self.wfile.write(answer.read())
                    return
                events = 0
                while line := answer.readline():
                    self.wfile.write(line)
                    self.wfile.flush()
                    if line == b"\n":
                        events += 1
                        if events == relay.cut:
                            return
                        time.sleep(relay.delay)

            def log_message(self, *_):
                pass

        class Listener(ThreadingHTTPServer):
            request_queue_size = 64  # a browser opens many connections at once

        self.http = Listener(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_port}"

    def __enter__(self) -> "Relay":
        threading.Thread(target=self.http.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_) -> None:
        self.http.shutdown()
        self.http.server_close()
