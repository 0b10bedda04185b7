# A thin front for Meson and ninja. `make help` lists the targets.
#
# build/       release build: what `make`, `make install`, `make bench` and `make demo` use
# build-asan/  address and undefined-behaviour sanitizers: what `make test` runs
# build-quick/  no sanitizers, for `make quick`
# build-tsan/  thread sanitizer, for the tests of threaded code (`make test-all`)
# build-steps/ counts what a command does, for the tests of how that grows with the trace (`make test-all`)
# build-mutate/  one library of everything, which `make mutate` links anew for every change
# build-tune/  constants of the analysis as variables, for `make sensitivity`
# build-venv/  Python packages of the Python tests
# build-lint/  those of `make lint`
# build-node/  Perfetto's trace processor, for one of them
# build-wheels/  the wheels of `make wheels`, and what builds them
# build-docs/  the site of the documents, and what builds it
# build-browser/  Playwright and TypeScript, for the tests of the HTML page

PREFIX ?= /usr/local
JOBS ?= $(shell nproc)
T ?=

NINJA := ninja -j$(JOBS)
DEBUG := -Ddebug=true -Doptimization=1 -Db_ndebug=false -Db_lundef=false

.PHONY: all
all: build
	@$(NINJA) -C build

# Setting up again is cheap and notices new test files.
.PHONY: build build-asan build-tsan build-steps build-tune
build: deps
	@tools/setup.sh build -Dprefix=$(PREFIX) -Dtests=false

build-asan: deps
	@tools/setup.sh build-asan $(DEBUG) -Db_sanitize=address,undefined

build-tsan: deps
	@tools/setup.sh build-tsan $(DEBUG) -Db_sanitize=thread

build-steps: deps
	@tools/setup.sh build-steps -Ddebug=false -Doptimization=1 -Db_ndebug=true -Dtests=false -Dsteps=true

build-tune: deps
	@tools/setup.sh build-tune -Dprefix=$(PREFIX) -Dtests=false -Dtune=true

.PHONY: deps
deps:
	@tools/deps.sh build

## test: build with sanitizers, run what guards behaviour (T=WORD: only those with WORD in the name)
.PHONY: test
test: test-tools build build-asan
	@$(NINJA) -C build
	@$(NINJA) -C build-asan
	@tools/run_tests.py -j$(JOBS) -k '$(T)' --without slow build-asan:-oracle build:oracle \
		build:python build:browser

## test-all: all of that and the slow rest: thread sanitizer, growth, wheels, every allocation failing; what CI runs
.PHONY: test-all
test-all: test-tools build build-asan build-tsan build-steps
	@$(NINJA) -C build
	@$(NINJA) -C build-asan
	@$(NINJA) -C build-tsan threaded
	@$(NINJA) -C build-steps src/strata
	@tools/run_tests.py -j$(JOBS) -k '$(T)' build-asan:-renderings build:renderings build-tsan:tsan \
		build-steps:growth build:wheels build:python-all build:browser build:journeys

# What tests need besides the builds.
.PHONY: test-tools
test-tools: deps
	@tools/venv.sh build-venv >/dev/null
	@tools/perfetto.sh build-node
	@tools/flamegraph.sh build-node
	@tools/deps.sh browser && tools/node.sh build-browser || :

## quick: one build without sanitizers, unit tests and goldens
.PHONY: quick
quick: deps
	@tools/setup.sh build-quick $(DEBUG)
	@$(NINJA) -C build-quick
	@tools/run_tests.py -j$(JOBS) build-quick:unit build-quick:cli

## test-map: which tests are nearest to each module (M=WORD: only modules with WORD in their path)
.PHONY: test-map
test-map:
	@tools/test_map.py $(M)

## growth: only the test that no command grows faster than n log n, whatever the trace
.PHONY: growth
growth: build-steps
	@$(NINJA) -C build-steps src/strata
	@tests/growth/test_growth.py --strata build-steps/src/strata

## fuzz: mutants through readers and whole commands (T=TARGET, SECONDS=60 each, SEED=N)
.PHONY: fuzz
fuzz:
	@tools/fuzz.sh $(or $(T),all) $(or $(SECONDS),60) $(SEED)

## mutate: small changes of the core, and whether a test notices (N=30, SEED=1, T=REGEX of files, CSV=FILE); slow
.PHONY: mutate
mutate: deps
	@tools/mutate.py --n $(or $(N),30) --seed $(or $(SEED),1) $(if $(T),--only '$(T)') $(if $(CSV),--csv '$(CSV)')

## demo: build, then diagnose a bundled trace of a real pipeline; needs no GPU
.PHONY: demo
demo: all
	@tools/demo.sh build

## sensitivity: what each constant of the analysis still decides on the traces at hand; writes bench/sensitivity.csv; slow
.PHONY: sensitivity
sensitivity: build-tune
	@$(NINJA) -C build-tune src/strata
	@bench/sensitivity.py --strata build-tune/src/strata

## bench: speed against other tools, side by side, with the results checked; writes bench/*.csv
.PHONY: bench
bench: all
	@bench/run.sh build/src/strata
	@bench/ranks/scale.py --strata build/src/strata
	@bench/record.py --build build --python "$$(tools/venv.sh build-venv)"
	@bench/torch_table.py --build build --python "$$(tools/venv.sh build-venv)"
	@STRATA_BUILD=build "$$(tools/venv.sh build-venv)" bench/python_side.py -o bench/python_side.csv
	@test ! -e /dev/nvidiactl || bench/capture.py --build build --out bench/capture.csv
	@bench/attach.py --build build --out bench/attach.csv
	@bench/page.py --strata build/src/strata
	@bench/pftrace.py --strata build/src/strata
	@bench/mcp.py --strata build/src/strata
	@bench/memory.py --strata build/src/strata

## advice: what the report says of programs with a known fix, against the measured (STRATA_ADVICE=DIR)
.PHONY: advice
advice: all
	@test -n "$(STRATA_ADVICE)" || { echo 'make advice: STRATA_ADVICE=DIR names what' \
		'bench/advice/measure.py wrote on a machine with a GPU' >&2; exit 2; }
	@bench/advice/judge.py --strata build/src/strata --traces $(STRATA_ADVICE) \
		--csv bench/advice/advice.csv --options bench/advice/options.csv -v

## agents: how many questions of bench/agents the report alone answers (STRATA_ADVICE=DIR, as above)
.PHONY: agents
agents: all
	@bench/agents/from_md.py --strata build/src/strata --traces $(STRATA_ADVICE) -o build/agents.jsonl
	@bench/agents/score.py build/agents.jsonl $(if $(STRATA_ADVICE),--csv bench/agents/report_md.csv)

## asan: build the program with sanitizers: build-asan/src/strata
.PHONY: asan
asan: build-asan
	@$(NINJA) -C build-asan

## lint: formatting, layers, banned functions, static analysis, types, commit subjects
.PHONY: lint
lint: build-asan
	@tools/deps.sh lint
	@tools/lint.sh build-asan

## update-goldens: rewrite the expectations of tests/cli and the examples in documents
.PHONY: update-goldens
update-goldens: asan
	@tests/cli/run.py --strata build-asan/src/strata --update $(or $(T),$(wildcard tests/cli/*.t))
	@tools/check_docs.py --strata build-asan/src/strata --update

## journeys: play ten new users on a fresh install; writes bench/journeys; some minutes
.PHONY: journeys
journeys: all test-tools
	@tests/journeys/run.sh build --keep bench/journeys

## update-images: take the README's pictures of the HTML page again
.PHONY: update-images
update-images: all
	@tests/browser/run.sh build --update-images

## docs: the documents as a site with search and a gallery of report pages: build-docs/site
.PHONY: docs
docs: all
	@tools/site.py --strata build/src/strata --python "$$(tools/venv.sh build-docs/venv tools/docs.txt)" build-docs

## install: install into PREFIX (default /usr/local); DESTDIR is obeyed
.PHONY: install
install: all
	@meson configure build -Dprefix=$(PREFIX)
	@$(NINJA) -C build >/dev/null
	@meson install -C build --no-rebuild

## wheels: wheels for x86-64 and 64-bit ARM that need nothing but glibc, into build-wheels/dist
.PHONY: wheels
wheels:
	@tools/deps.sh wheels
	@tools/venv.sh build-wheels/venv tools/wheels.txt >/dev/null
	@tools/wheels.py build-wheels

## try-wheels: run them in bare root folders of Debian and Ubuntu (as root; downloads 200 MB)
.PHONY: try-wheels
try-wheels: wheels
	@tools/deps.sh roots
	@tools/try_wheel.sh build-wheels/dist

## clean: remove everything that was built
.PHONY: clean
clean:
	@rm -rf build build-asan build-tsan build-steps build-fuzz build-mutate build-venv build-lint build-node \
		build-browser build-wheels build-docs build-roots

## help: this list
.PHONY: help
help:
	@echo 'make: build the program: build/src/strata'
	@sed -n 's/^## //p' $(MAKEFILE_LIST)
