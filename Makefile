PYTHON ?= python3
VENV := .venv
PEER := .venv-peer
LOWEST := .venv-lowest
LOWEST_TESTS := tests/adversary tests/bounds tests/cli tests/graph tests/logic tests/model tests/run tests/training
BIN := $(VENV)/bin
PIP := $(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt

.PHONY: demo test test-gpu test-lowest fuzz differential states faults coverage check docs site lock sbom release bench load scaling zoo clean

demo: $(VENV)/installed  ## train on an embedded graph without and with clauses
	rm -rf .demo
	$(BIN)/clausal demo --out .demo/world
	@echo "Look at it: $(BIN)/clausal serve .demo/world .demo/world-without"

test: $(VENV)/tested check  ## lint, types and tests
	$(BIN)/pytest --numprocesses auto --dist loadfile --no-loadscope-reorder

test-gpu: $(VENV)/tested  ## the tests that need an NVIDIA GPU, which `make test` leaves alone
	$(BIN)/pytest -m gpu

test-lowest: $(LOWEST)/installed  ## a part of the tests with the oldest versions that pyproject.toml allows
	$(LOWEST)/bin/python -m pytest -W ignore::DeprecationWarning --numprocesses auto --dist loadfile --no-loadscope-reorder $(LOWEST_TESTS)

faults: $(VENV)/tested  ## kills, power cuts, full disks and more at every step of every command; about an hour
	cd tests && ../$(BIN)/python -m faults --processes 2 --out ../results/tests/faults.json
	$(BIN)/python tools/tests_page.py

coverage: $(VENV)/tested  ## lines and branches that the tests reach, into results/tests/coverage.json
	$(BIN)/coverage erase
	$(BIN)/coverage run -m pytest --numprocesses auto --dist loadfile --no-loadscope-reorder
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage json --quiet -o .coverage.json
	$(BIN)/python tools/tests_page.py --coverage .coverage.json

MINUTES ?= 10

fuzz: $(VENV)/tested  ## odd inputs of all kinds for MINUTES=10; counts go to results/tests, failures to .fuzz
	PYTHONPATH=tests $(BIN)/python -m fuzzing --minutes $(MINUTES)

differential: $(VENV)/tested  ## random programs against other engines and forms for MINUTES=10
	PYTHONPATH=tests $(BIN)/python -m differential --minutes $(MINUTES)

states: $(VENV)/tested  ## runs made, killed, resumed, updated, copied, damaged in any order for MINUTES=10
	PYTHONPATH=tests $(BIN)/python -m states --minutes $(MINUTES)

check: $(VENV)/tested
	$(BIN)/ruff check src tests tools benchmarks
	$(BIN)/ruff format --check src tests tools benchmarks
	$(BIN)/mypy

docs: $(VENV)/tested  ## write the pages that are generated from code
	$(BIN)/python tools/settings_page.py docs/reference/settings.md
	$(BIN)/python -m clausal_paper.report docs/results.md
	PYTHONPATH=benchmarks $(BIN)/python -m scaling.page
	$(BIN)/python tools/tests_page.py

site: $(VENV)/tested  ## the documentation as a site, in .site; needs no network once installed
	$(BIN)/python -m sphinx -W --keep-going -q -c docs -b html . .site
	@echo "Look at it: .site/README.html"

lock: $(VENV)/bin/pip  ## locked.txt anew, from pyproject.toml and constraints.txt
	$(PIP) --upgrade pip
	$(PIP) --group lock
	$(BIN)/python tools/lock.py

sbom: $(VENV)/tested  ## what a user gets, with versions and licences: dist/sbom.json (CycloneDX) and a page of the docs
	$(PIP) --group release
	$(BIN)/python tools/sbom.py

release: $(VENV)/tested  ## build and check what is released, in dist
	$(PIP) --group release
	$(BIN)/python tools/release.py

bench: $(VENV)/tested $(PEER)/installed  ## print each figure next to its target, beside PyKEEN's
	for benchmark in benchmarks/*.py; do $(BIN)/python $$benchmark || exit 1; done

load: $(VENV)/tested  ## requests a second of the service, and how long they take
	PYTHONPATH=benchmarks $(BIN)/python -m load

scaling: $(VENV)/tested  ## measure growing graphs, and write the page and the figure; goes on where it was stopped
	PYTHONPATH=benchmarks $(BIN)/python -m scaling
	PYTHONPATH=benchmarks $(BIN)/python -m scaling.page

zoo: $(VENV)/tested  ## the recommended commands on strange graphs, in one table; goes on where it was stopped
	PYTHONPATH=benchmarks $(BIN)/python -m zoo

clean:
	rm -rf $(VENV) $(PEER) $(LOWEST) .coverage* .site .mypy_cache .pytest_cache .ruff_cache

$(VENV)/bin/pip:
	$(PYTHON) -m venv $(VENV)

$(VENV)/installed: $(VENV)/bin/pip pyproject.toml constraints.txt
	$(PIP) --upgrade pip
	$(PIP) --editable '.[serve]'
	@touch $@

# All but torch by their hashes; then torch, whose build depends on the machine; the last two lines find all that they need.
$(VENV)/tested: $(VENV)/bin/pip pyproject.toml constraints.txt locked.txt
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --require-hashes --requirement locked.txt
	$(PIP) torch
	$(PIP) --no-build-isolation --editable '.[serve]' --group test
	@touch $(VENV)/installed $@

$(LOWEST)/installed: pyproject.toml tools/lowest.py
	$(PYTHON) -m venv $(LOWEST)
	$(LOWEST)/bin/pip install --quiet --disable-pip-version-check --upgrade pip
	$(LOWEST)/bin/python tools/lowest.py > $(LOWEST)/lowest.txt
	$(LOWEST)/bin/pip install --quiet --constraint $(LOWEST)/lowest.txt --editable '.[index,pandas,plots,search,serve]' hypothesis networkx pykeen pytest pytest-timeout pytest-xdist rdflib scipy
	@touch $@

$(PEER)/installed: benchmarks/side_by_side/requirements.txt constraints.txt
	$(PYTHON) -m venv $(PEER)
	$(PEER)/bin/pip install --quiet --disable-pip-version-check --constraint constraints.txt --requirement $<
	@touch $@
