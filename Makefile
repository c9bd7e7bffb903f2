VENV ?= .venv
PYTHON ?= python3
BIN := $(VENV)/bin
PATHS := dbt tests

help:  ## show this list
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## */\t/'

venv: $(BIN)/.made  ## make the environment for all other targets

$(BIN)/.made: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --constraint constraints.txt --editable '.[dev]'
	touch $@

test: venv  ## run all tests; ARGS='tests/unit' for some
	$(BIN)/python -m pytest $(ARGS)

lint: venv  ## check style and types
	$(BIN)/ruff check $(PATHS)
	$(BIN)/ruff format --check $(PATHS)
	$(BIN)/mypy

.PHONY: help venv test lint
