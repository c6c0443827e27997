# Set-up and the everyday commands. Only Python 3.11 or later, make and the Python package registry are needed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
DOCS_VENV := .venv-docs
DOCS_STAMP := $(DOCS_VENV)/.installed

.PHONY: rehearse test test-long test-kubernetes test-frameworks check check-types check-style bench outside mutants state docs docs-site clean train-demo venv

rehearse: $(STAMP)
	@$(BIN)/trn rehearse $(or $(STACK),dev)

# The tests of a file run in one process, which keeps what they share. TESTS=tests/facts for some of them.
test: $(STAMP)
	@$(BIN)/pytest -n 2 --dist loadfile -m "not long and not engine and not helm and not kubernetes and not browser and not frameworks" $(TESTS)

# What takes minutes, in full: of each the tests above try a fixed part.
test-long: $(STAMP)
	@$(BIN)/pytest -n 2 -m "long and not engine and not helm and not kubernetes and not browser and not frameworks" $(TESTS)

# Three real control planes (half of the time their tests wait, not compute), built from Go modules the first time (about 15 minutes, kept in the user's cache); skips without Go.
test-kubernetes: $(STAMP)
	@$(BIN)/python -m local_kubernetes.build
	@$(BIN)/pytest -m kubernetes -n 3 --dist loadfile --no-loadscope-reorder

# A training that loses a worker and resumes, on this machine alone. FRAMEWORK=torch for PyTorch with gloo.
train-demo: $(STAMP)
	@$(BIN)/python -m tools.train_demo --framework $(or $(FRAMEWORK),jax)

# Every recipe on this machine's processors. Environments are made the first time (10 GB, kept in the user's cache).
test-frameworks: $(STAMP)
	@$(BIN)/pytest -m frameworks

# Side by side: pyright takes one processor for a minute, the others another for ten seconds.
check: $(STAMP)
	@$(MAKE) --no-print-directory --keep-going --jobs 2 check-types check-style

check-types: $(STAMP)
	$(BIN)/pyright

check-style: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

bench: $(STAMP)
	@$(BIN)/python -m tests.bench

# How the program does against manifests and clusters that others wrote: right, false, missed.
outside: $(STAMP)
	@$(BIN)/python -m tests.outside

# Which small changes no test notices: every edge of the program, and SAMPLE others (SEED picks them). Takes long.
mutants: $(STAMP)
	@$(BIN)/python -m tests.mutants --sample $(or $(SAMPLE),150) --seed $(or $(SEED),0)

# What this version leaves in a state, before it is tagged: later versions are held to it. Needs the Pulumi CLI.
state: $(STAMP)
	@$(BIN)/python -m tests.states.record $(if $(AGAIN),--again)

# Everything under docs/ that is made from the code.
docs: $(STAMP)
	@$(BIN)/python -m tools.pages.pages

# The pages as a site in build/site, which is read without a server and loads nothing from elsewhere. Its tools have an environment of their own.
docs-site: $(STAMP) $(DOCS_STAMP)
	@$(BIN)/python -m tools.pages.site
	@NO_MKDOCS_2_WARNING=1 $(DOCS_VENV)/bin/mkdocs build --quiet --strict
	@echo "wrote build/site/index.html"

$(DOCS_STAMP): docs-site/requirements.lock
	@echo "making $(DOCS_VENV) from docs-site/requirements.lock, once"
	@$(PYTHON) -m venv $(DOCS_VENV)
	@$(DOCS_VENV)/bin/python tools/installation.py docs-site/requirements.lock
	@touch $@

venv: $(STAMP)

$(STAMP): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or later is needed, this is " + sys.version.split()[0]) if sys.version_info < (3, 11) else None'
	@echo "making $(VENV) from requirements.lock, about a minute the first time"
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python tools/installation.py requirements.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

clean:
	rm -rf $(VENV) $(DOCS_VENV) build .pytest_cache .ruff_cache *.egg-info
