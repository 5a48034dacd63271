# Two commands: `make demo` and `make test`. Both set up everything they need in .venv.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
NODE := node_modules/.package-lock.json

# Compiled modules are kept: every process of the tests would compile them again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test test-all test-lowest lint bench bench-more calibrate docs picture notebook reproduction vega clean

demo: $(READY)
	$(BIN)/attnaudit run --dataset babi:task=1 --out demo/runs
	$(BIN)/attnaudit run --dataset movie_reviews --out demo/runs
	$(BIN)/attnaudit report demo/runs --out demo/report.html
	@echo "Open demo/report.html in a browser."

# Work stealing keeps the tests of a file in one process, so that what they share is made once. One
# process more than cores: some tests wait for commands, for a browser or for a cluster.
TEST_PROCESSES := $(shell $(PYTHON) -c "import os; \
	print(1 + len(getattr(os, 'sched_getaffinity', lambda _: range(os.cpu_count()))(0)))")
# Files of tests are many, small and written for good (fsync): they lie in memory, if that has 2 GB.
TEST_FOLDER := $(or $(TMPDIR),$(shell test -w /dev/shm && df -Pk /dev/shm 2>/dev/null \
	| awk 'NR == 2 && $$6 == "/dev/shm" && $$4 > 2000000 {print $$6}'))
PYTEST := $(if $(TEST_FOLDER),TMPDIR=$(TEST_FOLDER)) $(BIN)/python -m pytest -n $(TEST_PROCESSES) \
	--dist worksteal

# What `make lint` checks of Python runs next to the tests; its output follows theirs, and either may
# fail. The scripts of the page are checked by a test.
define TEST_AND_LINT
@mkdir -p build; trap 'kill 0' INT; \
{ $(LINT_PYTHON); } >build/lint.log 2>&1 & lint=$$!; \
echo '$(1)'; $(1); tests=$$?; \
wait $$lint; checks=$$?; echo; cat build/lint.log; \
[ $$checks = 0 ] || echo "The checks of make lint failed: see the lines above."; \
[ $$tests = 0 ] || echo "Tests failed: see above the checks of make lint."; \
[ $$tests = 0 ] && [ $$checks = 0 ]
endef

test: $(READY) $(NODE)
	$(call TEST_AND_LINT,$(PYTEST) -m "not slow")

test-all: $(READY) $(NODE)
	$(call TEST_AND_LINT,$(PYTEST))

# The same tests with every dependency at its lower bound, in an environment of its own.
test-lowest: .venv-lowest/.ready
	.venv-lowest/bin/python -m pytest -m "not slow"

.venv-lowest/.ready: pyproject.toml constraints-lowest.txt
	$(PYTHON) -m venv .venv-lowest
	.venv-lowest/bin/pip install --quiet --constraint constraints-lowest.txt --editable ".[dev]"
	touch $@

LINT_PYTHON = $(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/mypy

lint: $(READY) $(NODE)
	$(LINT_PYTHON)
	@if [ -f $(NODE) ] && command -v npm >/dev/null; then npm run --silent check; \
	else echo "Skipped: the JavaScript checks (Prettier, TypeScript) need npm and its registry."; fi

# Before the tests, one of which uses it. Without npm or its registry nothing is installed.
$(NODE): package.json package-lock.json
	@if command -v npm >/dev/null && npm ci --silent --no-audit --no-fund; then touch $@; \
	else rm -f $@; fi

# The package next to the published algorithms and other libraries, and its cost by size.
bench: $(READY)
	$(BIN)/python -m benchmarks.speed --json build/speed.json --picture build/speed.png
	$(BIN)/python -m benchmarks.speed.growth --json build/growth.json

# One question each: long texts, many texts, reports, readers, workers.
bench-more: $(READY)
	for each in benchmarks/*.py; do echo "$$each"; $(BIN)/python $$each; done

# How often cards and recommended explanations err on models of known truth; continues where it was
# interrupted.
JOBS ?= 2
calibrate: $(READY)
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.calibration.run --out build/calibration --jobs $(JOBS)
	$(BIN)/python -m benchmarks.calibration.evaluate build/calibration \
		--to benchmarks/calibration/results --document docs/card.md \
		--rates src/attnaudit/results/error_rates.json
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.calibration.explanations.run \
		--out build/calibration --jobs $(JOBS)
	$(BIN)/python -m benchmarks.calibration.explanations.evaluate build/calibration \
		--to benchmarks/calibration/results --document docs/explanations.md \
		--rates src/attnaudit/results/explanation_error_rates.json
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.calibration.citations.run --out build/calibration \
		--document docs/card.md docs/language_models.md \
		--rates src/attnaudit/results/citation_error_rates.json

picture: demo
	chromium --headless --no-sandbox --disable-gpu --disable-background-networking --hide-scrollbars \
		--window-size=900,1180 --screenshot=docs/images/card.png "file://$(CURDIR)/demo/report.html"

notebook: $(READY)
	env -u ATTNAUDIT_DATA $(BIN)/python tools/run_notebook.py examples/audit_your_model.ipynb
	$(BIN)/python tools/run_notebook.py examples/audit_citations.ipynb

# After new tables in benchmarks/reproduction: docs/reproduction.md is made from them.
reproduction: $(READY)
	$(BIN)/python tools/reproduction_pictures.py
	$(BIN)/python tools/reproduction_page.py

# Only for a new version of Vega-Lite: the script it writes is kept in the repository.
vega: $(READY)
	$(BIN)/pip install --quiet vl-convert-python==1.9.0.post1
	$(BIN)/python tools/make_vega.py
	$(BIN)/python tools/make_notice.py

docs: $(READY)
	$(BIN)/pip install --quiet --constraint constraints.txt --editable ".[docs]"
	$(BIN)/mkdocs build --strict

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --constraint constraints.txt --editable ".[dev]"
	touch $(READY)

clean:
	rm -rf $(VENV) .venv-lowest build dist demo
