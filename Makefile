# Everything a person or a CI job does with passfuzz. `make help` lists it. All set-up goes into .venv.

PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11 python3.10; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null && { echo $$p; break; }; done)
VENV ?= .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
TIME ?= 60s
OUT ?= passfuzz-out
ARGS ?=
TVM ?=
SEED ?= $(shell git log -1 --format=%cs 2>/dev/null || date +%F)

# A forked child that runs a parallel kernel hangs.
export TVM_NUM_THREADS := 1
export OPENBLAS_NUM_THREADS := 1
# Tests start many processes; each would compile our sources anew.
unexport PYTHONDONTWRITEBYTECODE

# Neighbouring tests, which share fixtures, go to one process.
PYTEST := $(BIN)/python -m pytest -n auto --maxprocesses 4 --dist worksteal

.DEFAULT_GOAL := help
.PHONY: help setup fuzz test test-deep test-sample test-tvm lint format bench docs-bugs lock clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(READY) ## Install everything into .venv, once

$(READY): requirements.lock pyproject.toml
	@test -n "$(PYTHON)" || { echo "passfuzz needs Python 3.10 or newer as python3; or: make PYTHON=/path/to/python" >&2; exit 3; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation -e .
	@test -z "$(TVM)" || $(BIN)/python -m pip install --quiet $$($(BIN)/python -c \
		"from fuzzer.replaying.environments import requirements; print(*requirements('$(TVM)'))")
	@touch $@

fuzz: $(READY) ## Fuzz anew for TIME=60s; the report is in OUT=passfuzz-out (ARGS= more options of passfuzz run)
	@status=0; $(BIN)/passfuzz run --time "$(TIME)" --fresh --out "$(OUT)" $(ARGS) || status=$$?; \
	if [ $$status -gt 1 ]; then exit $$status; fi; \
	echo "Open $(OUT)/report.html or $(OUT)/report.md; each finding has a script under $(OUT)/findings/."

test: $(READY) ## Run the tests
	$(PYTEST) -m "not deep"

test-deep: $(READY) ## Run the slow tests
	$(PYTEST) -m deep

test-sample: $(READY) ## Run a tenth of the slow tests, chosen by SEED= (default: the day of the commit)
	$(PYTEST) -m deep --sample "$(SEED)"

test-tvm: ## Run the tests on another TVM: make test-tvm TVM=0.26.0
	@test -n "$(TVM)" || { echo "which one? make test-tvm TVM=0.26.0" >&2; exit 2; }
	$(MAKE) test VENV=".venv-tvm-$(TVM)" TVM="$(TVM)"

lint: $(READY) ## Check format, lint and types
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

format: $(READY) ## Format and mend what ruff can
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(READY) ## Measure (docs/benchmarks.md says what)
	$(BIN)/python -m benchmarks

docs-bugs: $(READY) ## Write docs/bugs anew from corpus/known.toml and its cases
	$(BIN)/python -m corpus.bug_pages

lock: ## Renew requirements.lock from pyproject.toml (needs uv)
	uv pip compile pyproject.toml --extra dev --universal --python-version 3.10 --generate-hashes --no-header \
		--output-file requirements.lock

clean: ## Remove .venv and caches
	rm -rf $(VENV) .mypy_cache .ruff_cache .hypothesis
