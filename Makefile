.DEFAULT_GOAL := help
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

help: ## Show what can be made
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

$(READY): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev,jax]'
	@touch $@

setup: $(READY) ## Create .venv and install everything into it

demo: $(READY) ## Count, unroll and run a real program; show what changed
	@$(BIN)/python examples/demo.py

test: $(READY) ## Run every test (pytest, and lit through it)
	$(BIN)/python -m pytest -n 2 --dist loadgroup -m 'not fuzz'

fuzz: $(READY) ## Long property runs
	$(BIN)/python -m pytest -n 2 -m fuzz

lint: $(READY) ## Formatting, lint and types
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/pyright

bench: $(READY) ## Benchmarks, as ratios against peers in one run
	@for b in bench/bench_*.py; do echo "== $$b"; $(BIN)/python $$b || exit 1; done

clean: ## Remove what make made
	rm -rf $(VENV) build dist *.egg-info

.PHONY: help setup demo test fuzz lint bench clean
