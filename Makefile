# make setup   the environment: .venv with the opera command, the libraries and every compiler of the main environment
# make demo    extract, prioritise, drive four compilers, report: a first look in a few minutes
# make test    everything that has to hold before a commit
# make unit, make integration, make adapters, make e2e: the tests of one folder; unit tests start no process and import no library
# make docs: the site, in .site; it fails at a broken link (part of make test)
# make notebooks: runs the evaluation's notebooks from the recorded campaigns, and stores their outputs; make lab opens them in JupyterLab
# make pictures: the pictures of the documentation, from real output
# make test-slow, make bench: what takes longer

PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
JOBS   ?= 2
WORKERS ?= 3
SHARED := -n $(WORKERS) --dist loadfile --no-loadscope-reorder

# processes read the bytecode of the tree, and need not compile it again each time
unexport PYTHONDONTWRITEBYTECODE

.PHONY: setup demo test lint types docs unit integration adapters e2e notebooks lab pictures test-slow bench clean

setup: $(STAMP)

$(STAMP): constraints.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed; set PYTHON=/path/to/python3.11"; exit 3; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt torch==2.13.0 setuptools
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt torch==2.13.0 --no-build-isolation --editable '.[libraries,compilers,evaluation,notebooks,docs,dev]'
	@touch $@
	@echo "ready: $(BIN)/opera --help"

demo: setup
	$(BIN)/python scripts/demo.py --jobs $(JOBS)

test: lint types docs unit
	$(BIN)/python -m pytest $(SHARED) tests/adapters tests/e2e tests/integration -m "not slow and not alone"
	$(BIN)/python -m pytest tests/adapters tests/e2e tests/integration -m "alone and not slow"

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: setup
	$(BIN)/basedpyright
	$(BIN)/basedpyright -p scripts

docs: setup
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
	@echo "site: .site/index.html"

unit: setup
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal tests/unit -m "not slow"

integration: setup
	$(BIN)/python -m pytest $(SHARED) tests/integration -m "not slow and not alone"
	$(BIN)/python -m pytest tests/integration -m "alone and not slow"

adapters: setup
	$(BIN)/python -m pytest $(SHARED) tests/adapters -m "not slow"

e2e: setup
	$(BIN)/python -m pytest tests/e2e -m "not slow"

notebooks: setup
	$(BIN)/python scripts/run_notebooks.py

lab: setup
	$(BIN)/jupyter lab notebooks

pictures: setup
	$(BIN)/python scripts/pictures.py

test-slow: setup
	$(BIN)/python -m pytest tests -m slow --timeout 3600

bench: setup
	$(BIN)/python benchmarks/bench.py
	$(BIN)/python benchmarks/bench_prioritise.py

clean:
	rm -rf .opera .opera-demo .site build *.egg-info
