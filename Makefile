# make setup   the environment: .venv with the opera command, the libraries and every compiler of the main environment
# make demo    a first look in two minutes: four compilers, ten findings, three scripts, a report; make tour: whole campaigns
# make test    everything that has to hold before a commit
# make unit, make integration, make adapters, make e2e: the tests of one folder; unit tests start no process and import no library
# make alone: the tests that measure cores or time, while nothing else runs (part of make test)
# make docs: the site, in .site; it fails at a broken link. make site: the same, then its tests in a browser (part of make test)
# make notebooks: runs the evaluation's notebooks from the recorded campaigns, and stores their outputs; make lab opens them in JupyterLab
# make pictures: the pictures of the documentation, from real output
# make test-slow: the slow tests, in the parts of make test; make bench: the benchmarks

PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
JOBS   ?= 2
WORKERS ?= 3
# unit tests alone take two processes; beside the others one, which collects them once
SHARED := -n 2 --dist loadfile --no-loadscope-reorder
SPREAD ?= -n 2 --dist worksteal
# make test-slow runs the same parts with SELECT=slow
SELECT ?= not slow
PYTEST := $(BIN)/python -m pytest $(LIMIT)
TESTS := $(PYTEST) -m "$(SELECT) and not alone"

# each part of the adapters' tests is one process, because what it imports takes seconds: TensorFlow, other libraries and compilers, extensions
TENSORFLOW := $(sort $(wildcard $(addprefix tests/adapters/test_,*keras*.py *tensorflow*.py operators.py script.py)))
LIBRARIES := $(filter-out $(TENSORFLOW),$(wildcard tests/adapters/test_*.py))
EXTENSIONS := $(patsubst %/,%,$(filter-out %/__pycache__/,$(wildcard tests/adapters/*/)))
ADAPTERS := adapters-libraries adapters-tensorflow adapters-extensions

# processes read the bytecode of the tree, and need not compile it again each time
unexport PYTHONDONTWRITEBYTECODE

.PHONY: setup demo tour test lint types docs site unit integration alone adapters $(ADAPTERS) e2e notebooks lab pictures test-slow bench clean

setup: $(STAMP)

$(STAMP): constraints.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed; set PYTHON=/path/to/python3.11"; exit 3; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt torch==2.13.0 setuptools
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt torch==2.13.0 --no-build-isolation --editable '.[libraries,compilers,evaluation,notebooks,docs,dev]'
	@touch $@
	@echo "ready: $(BIN)/opera --help"

demo: setup
	$(BIN)/python scripts/demo.py --jobs $(JOBS) $(if $(RECORD),--record $(RECORD))

tour: setup
	$(BIN)/python scripts/demo.py --jobs $(JOBS) --tour --workspace .opera-tour

test: lint
	$(MAKE) --no-print-directory --output-sync=target --jobs $(WORKERS) SPREAD="-p no:xdist" integration unit $(ADAPTERS) e2e types site
	$(MAKE) --no-print-directory alone

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: setup
	$(BIN)/pyrefly check

docs: setup
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
	@echo "site: .site/index.html"

site: docs
	$(TESTS) tests/site

unit: setup
	$(TESTS) $(SPREAD) tests/unit

integration: setup
	$(TESTS) $(SHARED) tests/integration

alone: setup
	$(PYTEST) tests/integration -m "alone and not slow"

adapters: $(ADAPTERS)

adapters-libraries: setup
	$(TESTS) $(LIBRARIES)

adapters-tensorflow: setup
	$(TESTS) $(TENSORFLOW)

adapters-extensions: setup
	$(TESTS) $(EXTENSIONS)

e2e: setup
	$(TESTS) tests/e2e

notebooks: setup
	$(BIN)/python scripts/run_notebooks.py

lab: setup
	$(BIN)/jupyter lab notebooks

pictures: setup
	$(BIN)/python scripts/pictures.py

test-slow: setup
	$(MAKE) --no-print-directory --output-sync=target --keep-going --jobs 2 SELECT=slow LIMIT="--timeout 3600" SPREAD="-p no:xdist" \
		integration unit $(ADAPTERS) e2e
	$(BIN)/python -m pytest tests/unit tests/integration -m "hypothesis and not slow" --hypothesis-profile thorough --timeout 3600

bench: setup
	$(BIN)/python benchmarks/bench.py
	$(BIN)/python benchmarks/bench_prioritise.py
	rm -rf .opera-demo
	$(BIN)/python scripts/demo.py --jobs $(JOBS) --record .opera-demo.jsonl

clean:
	rm -rf .opera .opera-demo .opera-tour .site build *.egg-info
