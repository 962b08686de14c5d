"""A real standalone Spark cluster on this machine: a master and workers, each a process of its own."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path


class Standalone:
    """Starts the processes, kills single ones, and ends all of them."""

    def __init__(self, folder: Path, workers: int = 2, memory: str = "1G") -> None:
        import pyspark

        self.folder, self._memory = folder, memory
        self._home = Path(pyspark.__file__).parent
        self._processes: list[subprocess.Popen[bytes]] = []
        _, log = self._start("master.Master", "--host", "127.0.0.1", "--port", "0", "--webui-port", "0")
        self.master = _awaited(log, r"spark://127\.0\.0\.1:\d+")
        self.workers = [self.add_worker() for _ in range(workers)]
        for _, log in self.workers:
            _awaited(log, "Successfully registered with master")

    def add_worker(self) -> tuple[subprocess.Popen[bytes], Path]:
        """Start one worker of one core; return its process and its log."""
        place = self.folder / f"work-{len(self._processes)}"
        options = ("--host", "127.0.0.1", "--webui-port", "0", "--cores", "1", "--memory", self._memory)
        return self._start("worker.Worker", *options, "--work-dir", str(place), self.master)

    def kill(self, worker: int) -> None:
        """Kill a worker with the executor that it has started, as a machine that is switched off would end."""
        os.killpg(self.workers[worker][0].pid, signal.SIGKILL)

    def stop(self) -> None:
        """End every process."""
        for process in self._processes:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def _start(self, role: str, *options: str) -> tuple[subprocess.Popen[bytes], Path]:
        log = self.folder / f"log-{len(self._processes)}"
        command = [self._home / "bin" / "spark-class", f"org.apache.spark.deploy.{role}", *options]
        environment = os.environ | {"SPARK_HOME": str(self._home), "SPARK_LOCAL_IP": "127.0.0.1"}
        with log.open("w") as file:
            process = subprocess.Popen(
                command, stdout=file, stderr=file, env=environment, start_new_session=True, cwd=self.folder
            )
        self._processes.append(process)
        return process, log


def _awaited(log: Path, pattern: str, seconds: float = 120) -> str:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if found := re.search(pattern, log.read_text()):
            return found[0]
        time.sleep(0.05)
    raise AssertionError(f"no {pattern} in {log.read_text()}")
