PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
export PIP_CONSTRAINT := $(CURDIR)/constraints.txt
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: demo test check docs clean

demo: $(VENV)/installed  ## train on an embedded graph without and with clauses
	$(BIN)/clausal demo

test: $(VENV)/tested check  ## lint, types and tests
	$(BIN)/pytest

check: $(VENV)/tested
	$(BIN)/ruff check src tests tools
	$(BIN)/ruff format --check src tests tools
	$(BIN)/mypy

docs: $(VENV)/installed  ## write the pages that are generated from code
	$(BIN)/python -m clausal.reference docs/reference/settings.md

clean:
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache

$(VENV)/bin/pip:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --upgrade "pip>=25.1"

$(VENV)/installed: $(VENV)/bin/pip pyproject.toml constraints.txt
	$(BIN)/pip install --quiet --editable .
	@touch $@

$(VENV)/tested: $(VENV)/installed
	$(BIN)/pip install --quiet --group test
	@touch $@
