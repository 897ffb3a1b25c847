# Everything here works from a fresh clone with only make and a Python >= 3.11:
# each target makes its own environment in .venv first, once per change of pyproject.toml.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
JOBS   ?= 2
MINUTES ?= 10
SEED   ?= 1

.DEFAULT_GOAL := help
.PHONY: help demo test check format validate bench mutants fuzz floors clean

help:  ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: $(VENV)/.installed  ## two labs, damaged frames, one seed: the same hidden checks
	@$(BIN)/python examples/demo.py

test: check  ## everything that must hold: check, then all tests and doctests
	$(BIN)/python -m pytest -n $(JOBS)

check: $(VENV)/.installed-dev  ## lint, formatting, types, import layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/.installed-dev  ## let ruff fix and format the code
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

validate: $(VENV)/.installed-dev  ## the theorems, by Monte-Carlo (slow)
	$(BIN)/python -m pytest -n $(JOBS) -m statistical

bench: $(VENV)/.installed-dev  ## time the kernels against their peers, hold them to their floors
	@$(BIN)/python -m pip install --quiet ldpc || echo "ldpc cannot be installed here: going on without it"
	$(BIN)/python -m benchmarks

mutants: $(VENV)/.installed-dev  ## plant mistakes, listed and random ones, and see what the tests miss
	$(BIN)/python -m scripts.mutate

fuzz: $(VENV)/.installed-dev  ## hostile files, names and signals (MINUTES=10, SEED=1); goes on where it was
	$(BIN)/python -m scripts.fuzz --minutes $(MINUTES) --seed $(SEED)

floors: | $(BIN)/python  ## the tests again, with the oldest packages that pyproject.toml allows
	$(PYTHON) -m venv .floors
	.floors/bin/python scripts/floors.py > .floors/pins.txt
	.floors/bin/python -m pip install --quiet --constraint .floors/pins.txt --editable '.[dev]'
	NUMBA_CACHE_DIR=$(CURDIR)/.floors/kernels .floors/bin/python -m pytest -n $(JOBS)

clean:  ## remove the environment and every cache
	rm -rf $(VENV) .floors .fuzz .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
	rm -rf build dist
	find src -name '*.nb[ic]' -delete

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "flagstone needs Python 3.11 or newer, but '$(PYTHON)' is" \
	       "$$($(PYTHON) --version 2>&1 || echo missing)." >&2; \
	  echo "Name another one: make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

# The interpreter is order-only: a venv's python is a link whose time says nothing.
$(VENV)/.installed: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable '.[plot]'
	@touch $@

$(VENV)/.installed-dev: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	@touch $@ $(VENV)/.installed
