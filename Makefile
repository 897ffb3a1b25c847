# Everything here works from a fresh clone with only make and a Python >= 3.11; a C++ compiler makes
# it fast. Each target makes its own environment in .venv first, and again when pyproject.toml or the
# C++ sources change.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
JOBS   ?= 2
MINUTES ?= 10
SEED   ?= 1
CASES  ?= 100000
# Bytecode is compiled for what is imported, not for a gigabyte of packages.
INSTALL := -m pip install --quiet --no-compile --editable
NATIVE := $(wildcard cpp/CMakeLists.txt cpp/*.h cpp/*.cpp cpp/*/*.h cpp/*/*.cpp)

.DEFAULT_GOAL := help
.PHONY: help demo test check format validate bench mutants fuzz sanitize floors docs man wheel release clean

help:  ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: $(VENV)/.installed  ## two labs, damaged frames, one seed: the same hidden checks
	@$(BIN)/python examples/demo.py

# Types take half a minute on one core: they are checked while the tests run, and reported after them.
test: $(VENV)/.installed-dev  ## everything that must hold: check, and all tests and doctests
	@$(MAKE) --no-print-directory check > $(VENV)/check.log 2>&1 & check=$$!; \
	$(BIN)/python -m pytest -n $(JOBS); tests=$$?; \
	wait $$check; check=$$?; cat $(VENV)/check.log; \
	test $$tests -eq 0 || echo "make test: the tests failed (above)"; \
	test $$check -eq 0 || echo "make test: 'make check' failed (above)"; \
	test $$tests -eq 0 -a $$check -eq 0

check: $(VENV)/.installed-dev  ## lint, formatting, types, import layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/.installed-dev  ## let ruff fix and format the code
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

validate: $(VENV)/.installed-dev  ## slow tests: the theorems by Monte-Carlo, packages that can be removed
	$(BIN)/python -m pytest -n $(JOBS) -m "statistical or slow"

bench: $(VENV)/.installed-dev  ## time it against other programs and its targets (LARGE=1: also a file of 10 GB)
	@$(BIN)/python -m pip install --quiet ldpc galois || echo "ldpc or galois cannot be installed here: going on without them"
	$(BIN)/python -m benchmarks $(if $(LARGE),--large)

mutants: $(VENV)/.installed-dev  ## plant mistakes, listed and random ones, and show which ones the tests miss
	$(BIN)/python -m scripts.mutate

fuzz: $(VENV)/.installed-dev  ## damaged files, odd names, signals (MINUTES=10, SEED=1; PAGE=1 writes docs/reliability.md)
	$(BIN)/python -m scripts.fuzz --minutes $(MINUTES) --seed $(SEED) $(if $(PAGE),--page)

sanitize: $(VENV)/.installed-dev  ## kernel tests and random cases under address and undefined-behaviour sanitizers (CASES=100000)
	@$(BIN)/python -m pip install --quiet cmake 'nanobind>=2.4'
	$(BIN)/python scripts/sanitize.py --cases $(CASES)

floors: | $(BIN)/python  ## all tests with the oldest packages that pyproject.toml allows
	$(PYTHON) -m venv .floors
	.floors/bin/python scripts/floors.py > .floors/pins.txt
	.floors/bin/python $(INSTALL) '.[dev]' --constraint .floors/pins.txt
	.floors/bin/python -m pytest -n $(JOBS)

docs: $(VENV)/.installed-docs  ## the site, gallery included, in build/site; warnings are errors
	rm -rf docs/api/generated
	$(BIN)/python -m sphinx -W --keep-going --quiet -b html docs build/site
	$(BIN)/python scripts/check_site.py build/site
	@echo "Open build/site/index.html"

man: $(VENV)/.installed  ## the manual page of the command, in build/flagstone.1
	@mkdir -p build
	$(BIN)/flagstone --print-man > build/flagstone.1

wheel: $(VENV)/.installed-dev  ## wheel and sdist, each tried in an environment of its own
	$(BIN)/python scripts/try_wheel.py

# What the tree lacks is listed at once, before minutes of building.
release: $(VENV)/.installed-dev  ## list what is missing for a release, then build and try the packages
	@$(BIN)/python scripts/release.py --tree
	@$(MAKE) --no-print-directory check wheel
	@$(BIN)/python scripts/release.py

clean:  ## remove the environment and every cache
	rm -rf $(VENV) .floors .fuzz .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
	rm -rf build dist docs/gallery docs/api/generated
	rm -rf cpp/.cmake cpp/.ninja_* cpp/.skbuild-info.json cpp/CMakeCache.txt cpp/CMakeFiles
	rm -f cpp/CMakeInit.txt cpp/build.ninja cpp/cmake_install.cmake cpp/*.a src/flagstone/_native*

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "flagstone needs Python 3.11 or newer, but '$(PYTHON)' is" \
	       "$$($(PYTHON) --version 2>&1 || echo missing)." >&2; \
	  echo "Name another one: make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

# The interpreter is order-only: a venv's python is a link whose time says nothing. A module that was
# built before is removed: it would hide a build that fails.
$(VENV)/.installed: pyproject.toml $(NATIVE) | $(BIN)/python
	@rm -f src/flagstone/_native*
	$(BIN)/python $(INSTALL) '.[plot]'
	@touch $@

$(VENV)/.installed-dev: pyproject.toml $(NATIVE) | $(BIN)/python
	@rm -f src/flagstone/_native*
	$(BIN)/python $(INSTALL) '.[dev]'
	@touch $@ $(VENV)/.installed

$(VENV)/.installed-docs: pyproject.toml $(NATIVE) | $(BIN)/python
	@rm -f src/flagstone/_native*
	$(BIN)/python $(INSTALL) '.[docs]'
	@touch $@ $(VENV)/.installed
