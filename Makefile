PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt

.PHONY: demo test check docs bench clean

demo: $(VENV)/installed  ## train on an embedded graph without and with clauses
	$(BIN)/clausal demo

test: $(VENV)/tested check  ## lint, types and tests
	$(BIN)/pytest

check: $(VENV)/tested
	$(BIN)/ruff check src tests tools benchmarks
	$(BIN)/ruff format --check src tests tools benchmarks
	$(BIN)/mypy

docs: $(VENV)/installed  ## write the pages that are generated from code
	$(BIN)/python -m clausal.reference docs/reference/settings.md
	$(BIN)/python -m clausal.experiments.report docs/results.md

bench: $(VENV)/tested  ## print each figure next to its target, on fb122, fb15k-237 and graphs that are made up
	for benchmark in benchmarks/*.py; do $(BIN)/python $$benchmark || exit 1; done

clean:
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache

$(VENV)/bin/pip:
	$(PYTHON) -m venv $(VENV)
	$(PIP) --upgrade pip

$(VENV)/installed: $(VENV)/bin/pip pyproject.toml constraints.txt
	$(PIP) --editable .
	@touch $@

$(VENV)/tested: $(VENV)/installed
	$(PIP) --group test
	@touch $@
