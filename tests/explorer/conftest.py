"""The explorer in a real Chromium, on a real service of three small runs."""

import json
import os
import re
import shutil
import subprocess
import sys
import time
import urllib.request
from urllib.parse import urlencode

import numpy as np
import pytest

pytest.importorskip("fastapi", reason="the service: pip install 'clausal[serve]'")
pytest.importorskip("playwright", reason="drives the browser: pip install --group test")

from clausal import Graph, train
from clausal.config import Settings
from clausal.demo import world
from clausal.run.directory import RunDirectory

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
SMALL = Settings.from_mapping(
    {
        "model": {"scorer": "complex", "dim": 16, "domain": "cube"},
        "clauses": {"adversary": "closed-form", "fallback": "gradient"},
        "train": {"epochs": 6},
        "evaluate": {"every": 2, "patience": 0},
    }
)
ODD = ["<img src=x onerror=alert(1)>", "https://example.org/a/b#c", 'a "quoted", (odd) name', "Zoë & co", "long_" * 60]


def _around_southern_europe(graph):
    """Return the ids of facts near Southern Europe: large enough for a calibration, small enough for a second."""
    located, region = graph.relations.id("located_in"), graph.entities.id("Southern Europe")
    facts = graph.known
    inside = np.unique(facts[(facts[:, 1] == located) & (facts[:, 2] == region), 0])
    return np.unique(np.append(facts[np.isin(facts[:, 0], inside), 2], inside))


@pytest.fixture(scope="session")
def runs(tmp_path_factory):
    """Three runs: with clauses, without, and one of a strange graph: one relation, self-loops, odd names."""
    folder = tmp_path_factory.mktemp("explorer")
    whole, clauses = world()
    near = _around_southern_europe(whole)

    def rows(facts):
        kept = facts[np.isin(facts[:, 0], near) & np.isin(facts[:, 2], near)]
        return [(whole.entities[s], whole.relations[r], whole.entities[o]) for s, r, o in kept]

    graph = Graph.from_triples(rows(whole.train), valid=rows(whole.valid), test=rows(whole.test), name="south")
    present = set(graph.relations)
    kept = [one for one in clauses if set(re.findall(r"(\w+)\(", str(one))) <= present]
    train(graph, kept, SMALL, out=folder / "south")
    train(graph, (), SMALL, out=folder / "south-without")
    odd = [(one, "knows (well)/ok", other) for one in ODD for other in ODD[:2]]
    train(Graph.from_triples(odd, name="odd"), (), SMALL, out=folder / "odd")
    RunDirectory.create(folder / "growing", graph, kept, SMALL)
    return folder


@pytest.fixture(scope="session")
def service(runs):
    """The address of the service, as a process of its own."""
    paths = [str(runs / name) for name in ("south", "south-without", "odd", "growing")]
    command = [sys.executable, "-m", "clausal", "serve", *paths, "--port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        address = process.stdout.readline().strip()
        assert address.startswith("http://127.0.0.1:"), process.stderr.read()
        yield address
    finally:
        process.terminate()
        process.communicate(timeout=30)


@pytest.fixture(scope="module")  # while it is open, an event loop runs in this thread
def browser():
    """Debian's Chromium, or another that is installed."""
    from playwright.sync_api import sync_playwright

    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        pytest.skip(
            "no Chromium on this machine; get it by: apt-get install chromium (any of " + ", ".join(BROWSERS) + ")"
        )
    options = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=path, args=options)
        yield started
        started.close()


class Explorer:
    """A tab of the explorer that notes what no page may do."""

    def __init__(self, context, address):
        self.address = address
        self.page = context.new_page()
        self.page.set_default_timeout(10_000)
        self.wrong = []
        self.page.on("console", lambda message: self._note(message) if message.type in ("error", "warning") else None)
        self.page.on("pageerror", lambda error: self.wrong.append(str(error)))
        self.page.on("request", self._watch)

    def _note(self, message):
        self.wrong.append(message.text)

    def _watch(self, request):
        if not request.url.startswith((self.address, "blob:", "data:")):
            self.wrong.append(f"a request leaves: {request.url}")

    def open(self, page="", **params):
        """Open a page by its address and wait until it is drawn."""
        query = f"?{urlencode(params)}" if params else ""
        self.page.goto(f"{self.address}/#/{page}{query}")
        self.drawn()
        return self.page

    def drawn(self):
        """Wait until the page of the address is drawn."""
        until = time.monotonic() + 10
        while not self.page.evaluate("document.getElementById('main')?.dataset.drawn === location.hash"):
            assert time.monotonic() < until, f"{self.page.url} is not drawn: {self.wrong}"
            self.page.wait_for_timeout(20)

    def axe(self, **options):
        """Return what axe finds wrong with the page, in a line each."""
        from axe_playwright_python.sync_playwright import Axe

        found = Axe().run(self.page, options=options or None).response["violations"]
        return [f"{one['id']}: {one['help']}: {one['nodes'][0]['html'][:200]}" for one in found]

    def check(self):
        """Fail if anything was wrong so far, or axe finds something."""
        assert self.wrong == []
        assert self.axe() == []


@pytest.fixture
def explorer(browser, service):
    """A tab on a desk, in light colours; nothing may be wrong at the end."""
    yield from _tab(browser, service, viewport={"width": 1280, "height": 900}, color_scheme="light")


@pytest.fixture(scope="module")
def desk(browser, service):
    """The same for all tests that only look."""
    yield from _tab(browser, service, viewport={"width": 1280, "height": 900}, color_scheme="light")


@pytest.fixture(scope="module")
def phone(browser, service):
    """A tab on a phone, in dark colours, for all tests that only look."""
    yield from _tab(browser, service, viewport={"width": 390, "height": 844}, color_scheme="dark", has_touch=True)


def _tab(browser, service, **options):
    context = browser.new_context(accept_downloads=True, **options)
    tab = Explorer(context, service)
    yield tab
    assert tab.wrong == []
    context.close()


@pytest.fixture(scope="session")
def ask(service):
    """Ask the service itself: what a page shows is compared with it."""

    def get(path, body=None, **params):
        url = f"{service}/v1/{path}?{urlencode(params)}"
        data = None if body is None else json.dumps(body).encode()
        with urllib.request.urlopen(urllib.request.Request(url, data, {"content-type": "application/json"})) as answer:
            return json.load(answer)

    return get


@pytest.fixture(scope="session")
def certified(ask):
    """The clauses of the first run, certified."""
    job = ask("certify", {})["job"]
    until = time.monotonic() + 60
    while (state := ask(f"jobs/{job}"))["state"] != "done":
        assert state["state"] in ("waiting", "running"), state
        assert time.monotonic() < until
        time.sleep(0.1)
    return state["result"]
