"""A real server of PostgreSQL for tests, as a user that may run one; it can be stopped and started again."""

import os
import shutil
import socket
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path

import pytest


class PostgresServer:
    """A server with one user, ``me``, and a password."""

    def __init__(self, folder, programs, user, password):
        self.folder, self.password = folder, password
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        words = folder / "words"
        words.write_text(password)
        words.chmod(0o644)
        options = ["-D", folder / "data", "-U", "me", "-A", "md5", "--pwfile", words, "-N"]
        subprocess.run([*user, programs / "initdb", *options], check=True, capture_output=True, cwd="/")
        self._control = [*user, programs / "pg_ctl", "-D", folder / "data", "-w"]
        self.start()

    @classmethod
    @contextmanager
    def started(cls, password):
        """Start a server and stop it at the end; skip where there is none."""
        found = shutil.which("initdb") or next(iter(sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))), None)
        if found is None:
            pytest.skip("PostgreSQL is not installed: apt-get install postgresql, or your system's package of it")
        pytest.importorskip("psycopg", reason="psycopg is not installed: pip install 'clausal[postgres]'")
        user = ["runuser", "-u", "postgres", "--"] if os.getuid() == 0 else []
        if user and shutil.which("runuser") is None:
            pytest.skip("PostgreSQL does not run as root, and there is no runuser: run the tests as another user")
        folder = Path(tempfile.mkdtemp(prefix="clausal-pg-"))
        folder.chmod(0o777)
        server = None
        try:
            server = cls(folder, Path(found).parent, user, password)
            yield server
        finally:
            if server is not None:
                server.stop()
            shutil.rmtree(folder, ignore_errors=True)

    @property
    def address(self):
        """The address with the password."""
        return f"postgresql://me:{self.password}@127.0.0.1:{self.port}/postgres"

    @property
    def address_alone(self):
        """The address without the password."""
        return f"postgresql://me@127.0.0.1:{self.port}/postgres"

    def start(self):
        """Start it, and wait until it answers."""
        options = f"-F -p {self.port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={self.folder}"
        command = [*self._control, "-o", options, "-l", self.folder / "log", "start"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd="/")

    def stop(self):
        """End it at once, as a crash would."""
        subprocess.run([*self._control, "-m", "immediate", "stop"], check=False, capture_output=True, cwd="/")
