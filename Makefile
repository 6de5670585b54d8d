# Two commands on a fresh machine: `make demo` and `make test`. Everything lives in .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
# What writes generated pages, indexes and schemas; each takes --check. Rules come first: the pages are made of them.
GENERATORS := gen_rule_index gen_config_schema gen_docs gen_profiles gen_node_group_fields gen_trap_table fill_recipes

.PHONY: help setup demo test test-quick check lint types layers docs docs-check wheel bench conformance fuzz clean

help:
	@echo "make demo         set up and check the bundled example cluster"
	@echo "make test         set up and run the tests"
	@echo "make check        format, lint, types, layers, generated files"
	@echo "make docs         write the generated pages and indexes"
	@echo "make conformance  compare with the real schedulers' answers, write docs/conformance.md"
	@echo "make bench        speed and memory, as ratios measured in one run"
	@echo "make fuzz         the YAML reader against libyaml, ten minutes"

$(STAMP): pyproject.toml
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade pip
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $(STAMP)

setup: $(STAMP)

demo: setup
	@cd fixtures/demo && ../../$(BIN)/unpend check apps; status=$$?; test $$status -le 1

test: setup
	$(BIN)/python -W error::EncodingWarning -m pytest -q

test-quick: setup
	$(BIN)/python -m pytest -q -m "not slow"

check: lint types layers docs-check

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: setup
	$(BIN)/mypy

layers: setup
	$(BIN)/lint-imports

docs: setup
	@for name in $(GENERATORS); do $(BIN)/python tools/$$name.py || exit 1; done

docs-check: setup
	@status=0; for name in $(GENERATORS) build_catalog conformance; do \
	  $(BIN)/python tools/$$name.py --check || status=1; done; exit $$status

wheel: setup
	rm -rf dist
	$(BIN)/python -m build --no-isolation --outdir dist .

bench: setup
	$(BIN)/python -m benchmarks

conformance: setup
	$(BIN)/python tools/conformance.py

fuzz: setup
	$(BIN)/python tools/fuzz_yaml.py --minutes 10

clean:
	rm -rf $(VENV) dist build .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
