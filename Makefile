# Two commands matter on a fresh machine: `make demo` and `make test`. Python 3.11+, pip and make are all they need.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# The tests start hundreds of interpreters. Where the environment forbids compiled files, each would compile all modules again,
# which takes a third of the whole time.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: demo web docs test coverage fuzz test-all test-stacks test-made test-builders test-peers agreement acceptance check audit bench clean
.DEFAULT_GOAL := help

help:
	@echo "make demo    evaluate a real ImageNet classifier on real images and write a report"
	@echo "make web     build the pages that mlmodelscope serve shows"
	@echo "make docs    build the documentation as a site, which the server shows under /docs/"
	@echo "make test    install everything the tests need and run them"
	@echo "make test-all   the same with everything slow: stacks, acceptance, random kills, large fuzz budgets (hours)"
	@echo "make coverage   the tests again, and which lines and branches they reach (slow)"
	@echo "make fuzz    damage the input of every parser of foreign bytes, with a large budget (slow)"
	@echo "make test-stacks   run every predictor's tests in its real stack (slow; STACKS='a b' for some)"
	@echo "make test-made   the same in a dozen stacks that are made for a release (slow)"
	@echo "make test-builders   compare pixels and answers of models that libraries build with the libraries' own (hours)"
	@echo "make test-peers   ask real servers of the Open Inference Protocol, each in an environment of its own (slow)"
	@echo "make agreement   compare the same networks in every framework (slow; STACKS='a b' for some)"
	@echo "make acceptance   plant a hundred faults in manifests, and see whether replicate names them (slow)"
	@echo "make check   formatting, lint, types, words, weak spots of the source, the worker's Python floor"
	@echo "make audit   look for known weaknesses in what it depends on"
	@echo "make bench   measure what we promise, beside bare loops (QUICK=1 for a short run)"
	@echo "make clean   remove what the other targets made"

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "mlmodelscope needs Python 3.11 or newer; name one: make PYTHON=python3.12 ..."; exit 1; }
	$(PYTHON) -m venv $(VENV)

# Installed once; the source is used in place, so editing it needs no new installation. The pages are made by `web`.
$(VENV)/.demo: $(VENV)/bin/python pyproject.toml
	HATCH_BUILD_NO_HOOKS=true $(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[onnxruntime]'
	@touch $@

$(VENV)/.dev: $(VENV)/bin/python pyproject.toml
	HATCH_BUILD_NO_HOOKS=true $(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	@touch $@ $(VENV)/.demo

demo: $(VENV)/.demo
	$(BIN)/mlmodelscope evaluate efficientnet-lite0 imagenet-70 --report reports/demo.html
	@echo; echo "A claim that holds:"
	$(BIN)/mlmodelscope replicate efficientnet-lite0 imagenet-70 --claim top1=82.86@imagenet-70
	@echo; echo "The same claim, of a manifest with a mistake in it:"
	$(BIN)/mlmodelscope replicate docs/examples/wrong-colours.yml imagenet-70 --report reports/replicate.html || test $$? = 1
	@echo; echo "open reports/demo.html and reports/replicate.html in a browser"

# Node comes from pip with the other tools, so that nobody needs to install it.
NPM := PATH="$(abspath $(BIN)):$$PATH" $(abspath $(BIN))/npm --prefix web
PAGES := src/mlmodelscope/server/pages/index.html

web/node_modules/.installed: $(VENV)/.dev web/package-lock.json
	$(NPM) ci --no-audit --no-fund --loglevel=error
	@touch $@

$(PAGES): web/node_modules/.installed web/index.html web/vite.config.ts $(shell find web/src web/public -type f)
	$(NPM) run --silent build

web: $(PAGES)

# The theme prints an advertisement unless it is asked not to.
docs: $(VENV)/.dev
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict

PYTEST := $(BIN)/python -m pytest
# Tests marked `alone` come first, one at a time, if there are any; the others run side by side, in random order. The
# seed is printed: `pytest -p randomly --randomly-seed=N` repeats it.
test: $(VENV)/.dev web
	$(BIN)/python tools/get_browser.py
	$(NPM) run --silent test
	@! grep -rqs "mark\.alone" tests --include='test_*.py' || $(PYTEST) -m "alone and not nightly"
	$(PYTEST) -n auto --dist worksteal -m "not alone and not nightly"

test-all: export MLMODELSCOPE_TEST_BUDGET = large
test-all: test
	$(PYTEST) -m nightly
	$(MAKE) test-stacks test-made test-builders test-peers agreement acceptance

# All processes are measured: workers, servers and agents, as far as they are not killed. It takes twice as long.
coverage: export COVERAGE_FILE = $(abspath reports/coverage/data)
coverage: $(VENV)/.dev web
	$(BIN)/python -m pip install --quiet --disable-pip-version-check 'coverage[toml]>=7.10'
	$(BIN)/python tools/get_browser.py
	mkdir -p reports/coverage
	$(BIN)/coverage erase
	$(BIN)/coverage run -m pytest -n auto --dist worksteal -m "not nightly"
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report --skip-covered --sort=cover

# Whatever reads bytes of strangers; the same tests are part of `make test`, with a small budget.
FUZZ := tests/fuzz tests/model_file/test_hostile.py tests/worker_package/test_protocol.py tests/record/test_journal.py \
  tests/worker_package/pipeline/test_fuzz.py tests/worker_package/pipeline/test_header.py tests/dataset/test_labels.py \
  tests/dataset/test_classes.py tests/provision/weights tests/tensor_file
fuzz: export MLMODELSCOPE_TEST_BUDGET = large
fuzz: $(VENV)/.dev
	$(PYTEST) -n auto --dist worksteal $(FUZZ)

test-stacks: $(VENV)/.dev
	$(BIN)/python tools/test_stacks.py $(STACKS)

# A dozen releases that no stack of the catalog has, as `evaluate` makes them; the list is in tools/test_stacks.py.
test-made: $(VENV)/.dev
	$(BIN)/python tools/test_stacks.py --made

test-builders: $(VENV)/.dev
	$(BIN)/python tools/builder_pixels.py
	$(BIN)/python tools/builder_answers.py

test-peers: $(VENV)/.dev
	$(BIN)/python tools/inference_peers.py $(PEERS)

agreement: $(VENV)/.dev
	$(BIN)/python tools/agreement.py $(STACKS)

acceptance: $(VENV)/.dev
	$(BIN)/python tools/acceptance.py --write docs/acceptance.md

check: $(VENV)/.dev web/node_modules/.installed
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/vermin --target=3.6- --no-tips --violations --eval-annotations src/mlmodelscope_worker
	$(BIN)/mlmodelscope check manifests
	$(BIN)/bandit --quiet --recursive --configfile pyproject.toml src 2>/dev/null
	$(BIN)/python tools/check_words.py
	$(NPM) run --silent check

# Its tool comes when it is asked for; advisories come from the package index. It fails for a package of which the
# index has no advisories: that nothing was found where nobody looked would say nothing.
audit: $(VENV)/.dev
	$(BIN)/python -m pip install --quiet --disable-pip-version-check pip-audit
	$(BIN)/python -m pip list --disable-pip-version-check --format=freeze --exclude-editable > $(VENV)/audited.txt
	$(BIN)/pip-audit --strict --no-deps --disable-pip --requirement $(VENV)/audited.txt

bench: $(VENV)/.dev
	$(BIN)/python benchmarks/run_all.py $(if $(QUICK),--quick)

clean:
	rm -rf $(VENV) web/node_modules src/mlmodelscope/server/pages src/mlmodelscope/server/docs build dist reports benchmarks/results .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
