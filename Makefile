VENV ?= .venv
PYTHON ?= python3
BIN := $(VENV)/bin
PATHS := dbt tests
# Each has a Spark of its own; a file's tests stay together.
PROCESSES ?= 3
# How much of the package the unit tests run, printed by `make test` if this is set.
COVERAGE ?=
MEASURE := --cov dbt.adapters.spark_mv --cov-report term:skip-covered

help:  ## show this list
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## */\t/'

venv: $(BIN)/.made  ## make the environment for all other targets

$(BIN)/.made: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --constraint constraints.txt --editable '.[dev]'
	touch $@

test: venv  ## run all tests; ARGS='tests/unit' for some, COVERAGE=1 to measure that of the unit tests
	$(BIN)/python -m pytest --numprocesses $(PROCESSES) --dist loadfile --no-loadscope-reorder \
		$(if $(COVERAGE),$(MEASURE)) $(ARGS)

whole: export TEST_WHOLE = 1
whole: test  ## the tests with all cases of the slow classes, where `test` takes a sample

lint: venv  ## check style and types
	$(BIN)/ruff check $(PATHS)
	$(BIN)/ruff format --check $(PATHS)
	$(BIN)/mypy

compat: venv  ## install the wheel with lowest and newest versions, and check it; ARGS='lowest'
	$(BIN)/python -m tests.compatibility $(ARGS)

demo: venv  ## load real data, build the demo project, change and read it
	$(BIN)/python integration_tests/demo.py

bench: venv  ## time against dbt-spark and plain Spark, to bench.jsonl; ARGS='--tier smoke --only commands' for a part
	$(BIN)/python -m tests.bench $(ARGS)

soak: venv  ## write, refresh, read and kill at random for 20 minutes; ARGS='--minutes 5'
	$(BIN)/python -m tests.soak $(ARGS)

equivalence: venv  ## random views and histories, refreshed fast and compared; ARGS='--seeds 50' or '--rewrite 60000'
	$(BIN)/python -m tests.equivalence $(ARGS)

docs: venv  ## write the generated parts of docs/: supported queries, options, errors, behaviours, figures
	$(BIN)/python -m tests.supported_queries
	$(BIN)/python -m tests.option_docs
	$(BIN)/python -m tests.error_docs
	$(BIN)/python -m tests.behaviours
	$(BIN)/python -m tests.bench.page

deltas: venv  ## write tests/unit/ivm/deltas anew, after a rule was changed on purpose; read the diff
	$(BIN)/python -m tests.unit.ivm.delta_files

.PHONY: help venv test whole lint docs deltas demo compat bench soak equivalence
