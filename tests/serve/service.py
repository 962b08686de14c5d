"""The real server in a process of its own, and a small client."""

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
from contextlib import contextmanager, suppress
from urllib.parse import urlencode

TOKEN = "a-token-of-tests-0123456789"


class Service:
    """A server that runs; every request has a connection of its own."""

    def __init__(self, process, port):
        self.process, self.port = process, port

    def request(self, method, path, body=None, headers=None):
        """Return status, headers and the body as bytes."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            with suppress(BrokenPipeError):  # refused before all was sent: the answer is there all the same
                connection.request(method, path, body, headers or {})
            response = connection.getresponse()
            found = {name.lower(): value for name, value in response.getheaders()}
            return response.status, found, response.read()
        finally:
            connection.close()

    def get(self, path, status=200, **parameters):
        """Return the JSON of an answer."""
        found, _headers, body = self.request("GET", path + ("?" + urlencode(parameters) if parameters else ""))
        assert found == status, body
        return json.loads(body)

    def post(self, path, payload, status=200):
        found, _, body = self.request("POST", path, json.dumps(payload), {"content-type": "application/json"})
        assert found == status, body
        return json.loads(body)

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.port), timeout=30)

    def end(self, sent=signal.SIGTERM):
        self.process.send_signal(sent)
        return self.process.wait(60)


@contextmanager
def started(*arguments):
    """Start ``clausal serve`` on a free port."""
    command = [sys.executable, "-m", "clausal", "serve", *map(str, arguments), "--port", "0", "--device", "cpu"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    with (
        tempfile.TemporaryFile("w+") as errors,  # a pipe that nobody reads would fill up
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True, env=environment) as process,
    ):
        try:
            line = process.stdout.readline()
            assert line.startswith("http://"), _read(errors)
            yield Service(process, int(line.strip().rsplit(":", 1)[1]))
        finally:
            if process.poll() is None:
                process.terminate()
            process.communicate(timeout=60)
        said = _read(errors)
        assert "Traceback" not in said, said


def _read(file):
    file.seek(0)
    return file.read()


def read_all(connection):
    """Read until the other side closes."""
    parts = []
    try:
        while part := connection.recv(1 << 16):
            parts.append(part)
    except ConnectionResetError:
        pass
    return b"".join(parts)
