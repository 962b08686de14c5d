"""A small HTTP server on this machine that can misbehave in the ways that real ones do."""

import re
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class LocalServer:
    """Serves `files` by path; notes each request as (path, Range header)."""

    files: dict = field(default_factory=dict)
    requests: list = field(default_factory=list)
    ranges: bool = True
    cut_after: int | None = None  # bytes of each answer after which the connection ends
    delay: float = 0  # seconds before each answer
    trickle: float = 0  # seconds between two bytes of an answer
    fail_first: int = 0  # requests answered with 503 before the server recovers
    address: str = ""

    def __enter__(self):
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                outer.answer(self)

            def log_message(self, *_):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()
        self.address = f"http://127.0.0.1:{self._server.server_port}"
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def answer(self, request):
        asked = request.headers.get("Range")
        self.requests.append((request.path, asked))
        time.sleep(self.delay)
        content = self.files.get(request.path)
        if self.fail_first or content is None:
            status = 503 if self.fail_first else 404
            self.fail_first = max(0, self.fail_first - 1)
            request.send_response(status)
            request.send_header("Content-Length", "0")
            request.end_headers()
            return
        start = int(re.fullmatch(r"bytes=(\d+)-", asked).group(1)) if asked and self.ranges else 0
        if start and start >= len(content):
            request.send_response(416)
            request.send_header("Content-Length", "0")
            request.end_headers()
            return
        request.send_response(206 if start else 200)
        if start:
            request.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
        request.send_header("Content-Length", str(len(content) - start))
        request.end_headers()
        if self.trickle:
            with suppress(OSError):  # the client has given up
                for byte in content[start:]:
                    request.wfile.write(bytes([byte]))
                    time.sleep(self.trickle)
            return
        request.wfile.write(content[start:][: self.cut_after])
