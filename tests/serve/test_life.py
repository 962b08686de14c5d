"""How a service begins and ends, and how runs change under it."""

import http.client
import json
import shutil
import signal
import subprocess
import sys
import threading
import time
from contextlib import closing

from service import started
from small_runs import finish, write_run

from clausal.graph import load_graph
from clausal.run.directory import RunDirectory
from clausal.serve.names import ServedNames
from clausal.serve.runs import Runs


def test_requests_that_were_begun_are_answered_when_the_service_ends(tmp_path):
    write_run(tmp_path / "run")
    statuses, refused = [], []
    with started(tmp_path / "run", "--rate", "0") as service:
        body = json.dumps({"queries": ["located_in(Spain, ?)"]})
        ending = threading.Event()

        def ask():
            with closing(http.client.HTTPConnection("127.0.0.1", service.port, timeout=30)) as connection:
                while True:
                    try:
                        connection.request("POST", "/v1/predict", body, {"content-type": "application/json"})
                        response = connection.getresponse()
                        response.read()
                    except (OSError, http.client.HTTPException) as error:
                        # A connection that was closed while it was idle; a request that was read is answered.
                        refused.append((ending.is_set(), error))
                        return
                    statuses.append(response.status)
                    if response.getheader("connection") == "close":
                        return

        threads = [threading.Thread(target=ask) for _ in range(8)]
        for thread in threads:
            thread.start()
        time.sleep(1)
        ending.set()
        assert service.end() == 0
        for thread in threads:
            thread.join(30)
        assert set(statuses) == {200}
        assert all(ended for ended, _ in refused)


def test_a_run_that_changes_is_loaded_again_without_dropping_a_request(tmp_path):
    write_run(tmp_path / "run", seed=1)
    write_run(tmp_path / "other", seed=2, calibrated=False)
    _, predictor = write_run(tmp_path / "late", finished=False)
    with started(tmp_path / "run", tmp_path / "late", "--rate", "0") as service:
        before = service.get("/v1/run")
        assert before["calibrated"]
        assert service.get("/v1/run/log", run="late")["finished"] is False
        failed, stop = [], threading.Event()

        def ask():
            while not stop.is_set():
                try:
                    service.post("/v1/predict", {"queries": ["located_in(Spain, ?)"]})
                except (AssertionError, OSError) as error:
                    failed.append(error)

        thread = threading.Thread(target=ask)
        thread.start()
        shutil.move(tmp_path / "run", tmp_path / "old")
        shutil.move(tmp_path / "other", tmp_path / "run")
        finish(RunDirectory.open(tmp_path / "late"), predictor)
        for _ in range(100):
            after = service.get("/v1/run")
            late = service.get("/v1/run", run="late")
            if after["digest"] != before["digest"] and late["finished"]:
                break
            time.sleep(0.2)
        (tmp_path / "run" / "model.safetensors").write_bytes(b"damaged")
        time.sleep(4.5)
        stop.set()
        thread.join()
        assert not failed
        assert after["calibrated"] is False
        assert late["finished"]
        assert service.get("/v1/run")["digest"] == after["digest"]  # the damaged one stays out
        assert service.post("/v1/predict", {"run": "late", "queries": ["located_in(Spain, ?)"]})["results"]
        assert service.end(signal.SIGINT) == 0


SLOW = """
import sys, time
from clausal.cli.serve import serve
from clausal.serve import service
before = service.Service.start
def start(self):
    before(self)
    self._working += 1
    self._threads.submit(time.sleep, 600)
service.Service.start = start
from pathlib import Path
serve([Path(sys.argv[1])], port=0, device="cpu")
"""


def test_work_that_nobody_waits_for_does_not_keep_the_service_from_its_end(tmp_path):
    write_run(tmp_path / "run")
    command = [sys.executable, "-c", SLOW, str(tmp_path / "run")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        try:
            assert process.stdout.readline().startswith("http://")
            process.terminate()
            assert process.wait(60) == 0
        finally:
            process.kill()


def run_serve(*arguments):
    command = [sys.executable, "-m", "clausal", "serve", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


def test_a_service_that_others_could_reach_does_not_start_without_token(run_paths):
    result = run_serve(run_paths[0], "--host", "0.0.0.0")
    assert result.returncode == 2
    assert "--token-file" in result.stderr


def test_metrics_count_requests(service):
    def value():
        lines = service.request("GET", "/metrics")[2].decode().splitlines()
        name = 'clausal_requests_total{method="POST",route="/v1/predict",status="200"} '
        return next((int(line.removeprefix(name)) for line in lines if line.startswith(name)), 0)

    before = value()
    for _ in range(3):
        service.post("/v1/predict", {"queries": ["located_in(Spain, ?)"]})
    assert value() == before + 3
    text = service.request("GET", "/metrics")[2].decode()
    for line in text.splitlines():
        assert line.startswith("#") or len(line.rsplit(" ", 1)) == 2
    assert "clausal_batch_questions_bucket" in text


def test_two_runs_of_one_name_are_told_apart(tmp_path):
    for folder in ("a", "b"):
        write_run(tmp_path / folder / "run")
    assert list(Runs([tmp_path / "a" / "run", tmp_path / "b" / "run"]).paths) == ["run", "run-2"]


def test_labels_and_short_names_are_shown_and_found(tmp_path):
    turtle = tmp_path / "pumps.ttl"
    turtle.write_text(
        "@prefix ex: <http://example.org/pumps#> .\n@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n"
        'ex:p1 ex:feeds ex:p2 ; rdfs:label "Big pump"@en .\nex:p2 ex:feeds ex:p3 ; rdfs:label "Small pump"@en .\n'
    )
    graph = load_graph(turtle)
    names = ServedNames(graph)
    ids, total = names.entities.find("big", 5)
    full = "http://example.org/pumps#p1"
    assert (total, graph.entities[ids[0]]) == (1, full)
    assert names.entities.find("ex:p", 5)[1] == 3
    described = names.described("entities", full)
    assert described["label"].startswith("Big pump")
    assert described["short"] == "ex:p1"
    shown = names.shown([{"subject": full, "relation": "http://example.org/pumps#feeds", "object": None}])["names"]
    assert shown[full].startswith("Big pump")
    assert shown["http://example.org/pumps#feeds"] == "ex:feeds"
