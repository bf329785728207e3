# `make demo` shows what jaxlint does, `make test` runs every check. Both set up what they need in `.venv`.
# Choose another Python with `make PYTHON=python3.12 ...`.

PYTHON ?= $(shell tools/find_python.sh)
BIN := .venv/bin
WORKERS ?= 3
PYTEST ?=
SEED ?= 0
MINUTES ?= 60
PROGRAMS ?= tests/adversarial/dangerous tests/adversarial/fine tests/adversarial/behind_flags

# Tests and benchmarks start Python many hundred times, and importing JAX without bytecode costs three times as much.
export PYTHONPYCACHEPREFIX := $(CURDIR)/.bytecode
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help setup demo test lint unit format bench bench-optimise fuzz adversarial test-targets test-editors test-vscode slurm test-ray vscode gpu rules golden recording migrations coverage constraints docs release clean

help: ## this list
	@grep -hE '^[a-z-]+:.*##' Makefile | sed -E 's/:.*## /\t/' | expand -t 14

setup: ## make .venv with pinned versions; quick when nothing has changed
	@$(PYTHON) tools/setup.py

demo: setup ## check, fix and verify on a naive training program
	@$(BIN)/python tools/demo.py

test: lint unit ## everything that CI runs

lint: setup ## ruff, its formatter and mypy
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/mypy benchmarks

unit: setup ## the tests
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -m "not gpu" $(PYTEST)

format: setup ## rewrite the sources in the project's format
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: setup ## time and memory beside other linters; findings over pinned packages from PyPI
	$(BIN)/python -m benchmarks.speed --peers --corpus
	$(BIN)/python -m benchmarks.corpora --packages all

bench-optimise: setup ## programs as written, as verify leaves them, as an expert wrote them
	$(BIN)/python -m benchmarks.optimise

fuzz: WORKERS := $(if $(filter-out file,$(origin WORKERS)),$(WORKERS),1)
fuzz: setup ## hunt for inputs that break check and fix: SEED=1 MINUTES=60 WORKERS=1
	$(BIN)/python -m benchmarks.robustness --seed $(SEED) --minutes $(MINUTES) --workers $(WORKERS) --json .fuzz.json --page benchmarks/results/robustness.md

adversarial: setup ## `verify --apply` on each of PROGRAMS: what a program prints and writes must stay
	$(BIN)/python -m benchmarks.robustness --programs $(PROGRAMS)

test-targets: ## the tests of compiling for TPUs and GPUs that are not there (TARGETS=tpu for the smaller half)
	@PYTHON="$(PYTHON)" TARGETS="$(TARGETS)" tools/targets.sh

vscode: ## the extension for VS Code, as editors/vscode/jaxlint.vsix; needs npm
	cd editors/vscode && npm ci --ignore-scripts && npm test && npm run package

test-editors: setup ## the tests in editors; installs Neovim, Emacs, npm, Chromium and JupyterLab where it may
	@PYTHON="$(PYTHON)" tools/editors.sh

test-vscode: setup ## the extension in VS Code's workbench; downloads 200 MB, needs npm and Chromium
	@PYTHON="$(PYTHON)" tools/vscode_workbench.sh

slurm: ## install Slurm where that is allowed, for the tests that start one
	@tools/slurm.sh

test-ray: setup ## the tests of Ray's JaxTrainer; downloads ray[train] (100 MB)
	@PYTHON="$(PYTHON)" tools/ray_train.sh

gpu: ## the tests that need a GPU
	@PYTHON="$(PYTHON)" tools/gpu.sh

rules: setup ## write docs/rules/, docs/schemas/ and the table of the README
	$(BIN)/python tools/rule_table.py
	@if [ -f tools/rule_pages.py ]; then $(BIN)/python tools/rule_pages.py; fi
	$(BIN)/python tools/schemas.py

golden: setup ## record findings again, after a change that is meant to change them
	$(BIN)/python tools/golden.py

recording: setup ## the pictures of the README, from the real commands
	$(BIN)/python tools/record.py

migrations: setup ## run the old programs of the migration tests on the old releases of JAX again
	$(BIN)/python tools/record_migrations.py

coverage: setup ## what of the names that JAX lost the migration rules know and rewrite
	@$(BIN)/python tools/api_history.py coverage

docs: ## the site, in site/; the playground needs npm, the rest does not
	@$(PYTHON) tools/setup.py --venv .venv-docs --group docs
	@NO_MKDOCS_2_WARNING=1 .venv-docs/bin/mkdocs build --clean
	@echo "docs: built in site/; look at it with: python3 -m http.server -b 127.0.0.1 -d site 8000"

release: ## build and try the packages of this commit on three Pythons; publishes nothing
	@$(PYTHON) tools/release.py

constraints: ## pin the newest versions that fit together
	$(PYTHON) tools/setup.py --constraints

clean: ## remove what make made
	rm -rf .venv .venv-docs .venv-jupyter .venv-gpu .venv-tpu .venv-tpu-gpu .venv-old .vscode-workbench .bootstrap .bytecode .demo .pyodide site .mypy_cache .pytest_cache .ruff_cache .hypothesis .jaxlint_cache .fuzz .fuzz.json
