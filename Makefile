# Satchel. `make demo` and `make test` do everything, and install what is missing.
# A new subject adds its tests to a runner below; it needs no target of its own.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
# Builds never run beside each other; only `make test` runs its runners side by side, after the builds.
ifndef SIDE_BY_SIDE
.NOTPARALLEL:
endif
# What a runner needs first: `make test` has built it before it runs them side by side.
needs = $(if $(SIDE_BY_SIDE),,$(1))

PREFIX ?= /usr/local
DESTDIR ?=
LIBDIR ?= $(PREFIX)/lib

VERSION := $(shell sed -n 's/^#define SATCHEL_VERSION_STRING "\(.*\)"/\1/p' Include/satchel.h)
MAJOR := $(firstword $(subst ., ,$(VERSION)))
SONAME := libsatchel.so.$(MAJOR)

# One scratch path a kind of build: builds with other flags would undo each other.
BUILD := .build-lib
BUILT := $(CURDIR)/$(BUILD)/release
STAGED := $(BUILD)/stage/libsatchel.so.$(VERSION)
LOGS := .build-test/logs
VENV := .venv
PYTHON := $(VENV)/bin/python
# The object stores of the tests, in an environment of their own: they bring much along.
SERVERS := .venv-servers
# Runs a command beside a real object store on loopback; see Tests/Servers/run.py.
beside = $(SERVERS)/bin/python Tests/Servers/run.py $(1) --

# Calls every function of the C interface at random, for as many seconds.
fuzz-api = SATCHEL_LIBRARY=$(BUILT)/libsatchel.so PYTHONPATH=$(CURDIR)/Bindings/Python \
  $(PYTHON) Tests/fuzz/api.py --seconds $(1)

STRICT := -Xswiftc -warnings-as-errors
# The Swift runtime is linked in, and nothing but satchel_* is exported. Linker flags are here and not in
# Package.swift, because a package with unsafe flags cannot be imported by others. What only Swift apps call is left
# out: one async function brings Swift's concurrency and libdispatch along, 0.8 MB. Optimized for size, which costs
# some 6 % of time. Only the tests verify at run time that no two accesses to a variable overlap, which costs 4 %. Types
# are asked for by function and not by name: the runtime would search all conformances for each type of key of a
# dictionary. What an app's start runs and writes lies side by side. It runs with glibc 2.34 or newer: without packed
# relocations, which would save 0.6 MB and need 2.36, and with OlderSystems.c in the place of two newer functions.
FRONTEND := -function-sections -disable-concrete-type-metadata-mangled-name-accessors
RELEASE := -c release -Xswiftc -Osize --scratch-path $(BUILD) --disable-local-rpath $(STRICT) -Xswiftc -static-stdlib \
  -Xswiftc -DSATCHEL_WITHOUT_CONCURRENCY -Xswiftc -enforce-exclusivity=unchecked \
  -Xlinker $(CURDIR)/$(BUILD)/static/OlderSystems.o -Xlinker --wrap=hypotf -Xlinker --wrap=_dl_find_object \
  -Xswiftc -cross-module-optimization $(foreach flag,$(FRONTEND),-Xswiftc -Xfrontend -Xswiftc $(flag)) \
  -Xswiftc -use-ld=lld -Xlinker --gc-sections -Xlinker --icf=all -Xlinker --as-needed \
  -Xlinker -L$(CURDIR)/$(BUILD)/static -Xswiftc -Xclang-linker -Xswiftc -static-libgcc
SHARED := -Xlinker $(CURDIR)/$(BUILD)/static/ScalarNames.o \
  -Xlinker --defsym=_swift_stdlib_getScalarName=satchel_no_scalar_name \
  -Xlinker -z -Xlinker defs -Xlinker -z -Xlinker nodelete -Xlinker --version-script=Include/satchel.map \
  -Xlinker -O2 -Xlinker -soname -Xlinker $(SONAME) -Xlinker Sources/Link/discard.ld \
  -Xlinker --symbol-ordering-file=Sources/Link/start.order -Xlinker --no-warn-symbol-ordering
STATIC := $(addprefix $(BUILD)/static/,libstdc++.a OlderSystems.o ScalarNames.o)
SOURCES := Makefile Package.swift $(shell find Include Sources -type f -not -name '*.in')

# Package.swift declares the tool only where this is set.
export SATCHEL_TOOL := 1

# Keeps a runner's output for the closing summary, and its exit status. Beside others, each line names its runner.
log = mkdir -p $(LOGS) && { $(2); } 2>&1 | tee $(LOGS)/$(1).log $(if $(SIDE_BY_SIDE),| sed -u 's/^/$(1): /')

# Makes a target, and shows its output only when it fails.
quietly = mkdir -p $(LOGS) && printf 'Building %s ... ' '$(2)' && \
  if $(MAKE) --no-print-directory $(1) > $(LOGS)/demo-$(1).log 2>&1; then echo done; \
  else echo failed; tail -n 60 $(LOGS)/demo-$(1).log; exit 1; fi

##@ Start here

.PHONY: help
help: ## This list
	@awk 'BEGIN { FS = ":.*## " } \
	  /^##@/ { printf "\n%s\n", substr($$0, 5) } \
	  /^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: demo
demo: ## Build everything, and show what it does: with the tool, and in C, Python and Swift
	@printf '%s\n' $(WELCOME)
	@$(MAKE) --no-print-directory setup
	@$(MAKE) --no-print-directory setup-demo || echo 'Going on without Graphviz: the pages have no graphs.' >&2
	@$(call quietly,lib,the library)
	@$(call quietly,tool,the command-line tool)
	@Tests/examples/demo.sh

define WELCOME
"Satchel keeps an app's content offline, in one SQLite file: what a backend sends for a place, catalogues of photos," \
"branching stories, the app's own records, and its state. Devices synchronize through an S3 bucket or a shared" \
"directory; there is no server. It is used from C, Python and Swift, and through the tool satchel." \
"" \
"This builds it, which takes some minutes the first time, shows what it does, and leaves a folder to play with." \
"It installs missing Debian packages, naming them first; all else stays in this folder, below .build-*." \
""
endef

.PHONY: test
test: setup-tests setup-servers lib tool build-tests ## Every test, after installing what is missing
	@rm -rf $(LOGS)
	@status=0; $(MAKE) --no-print-directory --keep-going --jobs=$(JOBS) SIDE_BY_SIDE=1 $(TESTS) || status=1; \
	  python3 Tests/summary.py $(LOGS) $(TESTS) || status=1; exit $$status

.PHONY: setup
setup: ## Install what building needs (Debian packages); nothing when all is there
	@command -v swift > /dev/null || { \
	  echo "swift is not in PATH: install the Swift toolchain, 6.3 or newer (swift.org/install)" >&2; exit 1; }
	@command -v python3 > /dev/null || { echo "python3 is not in PATH: install it first" >&2; exit 1; }
	@$(call install-missing,$(PACKAGES),$(HEADERS))

.PHONY: setup-demo
setup-demo:
	@$(call install-missing,$(DEMO_PACKAGES),)

##@ Build

.PHONY: lib
lib: setup $(STAGED) ## The library for C and Python: .build-lib/release/libsatchel.so

.PHONY: order
order: lib setup-tests ## Update the list of functions that an app's start runs, which the linker places side by side
	PYTHONPATH=$(CURDIR)/Bindings/Python $(PYTHON) Benchmarks/order.py $(BUILT)/libsatchel.so

.PHONY: tool
tool: setup $(STATIC) ## The command-line tool, release build
	swift build $(RELEASE) --product satchel-cli

# The Swift runtime's C++ library goes in as well: a folder that holds only the archive is searched first.
$(BUILD)/static/libstdc++.a:
	@mkdir -p $(@D) && ln -sf "$$(gcc -print-file-name=libstdc++.a)" $@

$(BUILD)/static/%.o: Sources/Link/%.c
	@mkdir -p $(@D) && gcc -O2 -fPIC -Wall -Wextra -c $< -o $@

$(STAGED): $(SOURCES) | $(STATIC)
	@# Optimizing across modules, the compiler builds layouts of one module into another, and the package manager does
	@# not build the other again when they change: nothing of ours is kept that an older source may have shaped.
	@rm -f $(BUILD)/*/release/Satchel*.build/*.o
	swift build $(RELEASE) $(SHARED) --product satchel
	@ln -sf libsatchel.so $(BUILD)/release/$(SONAME)
	@rm -rf $(@D) && mkdir -p $(@D)
	@strip --strip-unneeded -o $@ $(BUILD)/release/libsatchel.so
	@ln -s $(@F) $(@D)/$(SONAME) && ln -s $(SONAME) $(@D)/libsatchel.so
	@echo "$@: $$(stat -c %s $@) bytes"

##@ Test

# The longest first, because `make test` runs several side by side.
TESTS := test-swift test-python test-crash test-c test-tool test-install test-examples test-journeys test-kill test-power \
  test-docs test-model test-schedules
JOBS ?= 2

.PHONY: build-tests
build-tests: setup ## The Swift suites, debug build
	@swift build --build-tests --scratch-path .build-test $(STRICT)

.PHONY: test-swift
test-swift: $(call needs,setup-tests setup-servers build-tests) ## The Swift suites, beside a real object store
	@$(call log,$@,$(call beside,ministack) swift test --skip-build --scratch-path .build-test $(STRICT))

.PHONY: test-tool
test-tool: $(call needs,setup-tests setup-servers lib tool) ## The command-line tool, as a person uses it
	@$(call log,$@,$(call beside,ministack) Tests/tool/run.sh $(BUILD)/release/satchel-cli)

.PHONY: test-c
test-c: $(call needs,setup-tests lib) ## The C programs against the release library, valgrind and kill -9 included
	@$(call log,$@,Tests/C/run.sh)

.PHONY: test-python
test-python: $(call needs,setup-tests setup-servers lib) ## The Python suite
	@$(call log,$@,SATCHEL_LIBRARY=$(BUILT)/libsatchel.so PYTHONPATH=$(CURDIR)/Bindings/Python \
	  HYPOTHESIS_STORAGE_DIRECTORY=$(CURDIR)/.build-test/hypothesis \
	  $(call beside,ministack) $(PYTHON) -m pytest -p no:cacheprovider -q Bindings/Python/tests)

.PHONY: test-journeys
test-journeys: $(call needs,setup-tests setup-servers lib) ## What people do across the parts, in Python, with real processes, files and stores
	@$(call log,$@,SATCHEL_LIBRARY=$(BUILT)/libsatchel.so PYTHONPATH=$(CURDIR)/Bindings/Python \
	  $(call beside,ministack) $(PYTHON) -m pytest -p no:cacheprovider -q Tests/journeys)

.PHONY: test-crash
test-crash: $(call needs,setup-tests setup-servers lib) ## Devices that synchronize with a real object store and are killed all the time
	@$(call log,$@,SATCHEL_LIBRARY=$(BUILT)/libsatchel.so PYTHONPATH=$(CURDIR)/Bindings/Python:$(CURDIR)/Tests/Servers \
	  $(call beside,ministack) $(PYTHON) Tests/crash/every.py $(or $(SATCHEL_CRASH_SECONDS),10))

.PHONY: test-kill
test-kill: $(call needs,setup-tests lib) ## A process that saves records and state and is killed again and again
	@$(call log,$@,SATCHEL_LIBRARY=$(BUILT)/libsatchel.so PYTHONPATH=$(CURDIR)/Bindings/Python \
	  $(PYTHON) Tests/crash/records.py $(or $(SATCHEL_KILLS),60))

.PHONY: test-power
test-power: $(call needs,setup-tests lib) ## What a loss of power may leave of a store, by traces of what was written and synced
	@$(call log,$@,SATCHEL_LIBRARY=$(BUILT)/libsatchel.so PYTHONPATH=$(CURDIR)/Bindings/Python \
	  $(PYTHON) Tests/crash/power.py $(or $(SATCHEL_POWER_STATES),100))

.PHONY: test-model
test-model: $(call needs,setup) ## Schedules of the sync log's model, and the mutants that it must find
	@$(call log,$@,python3 Tests/model/run.py 1000 && python3 Tests/model/run.py mutants)

.PHONY: test-examples
test-examples: $(call needs,setup lib) ## The examples build, run and say what they should
	@$(call log,$@,Tests/examples/run.sh)

.PHONY: test-install
test-install: $(call needs,setup-tests lib) ## Installing, pkg-config, CMake, and Swift packages that import Satchel
	@$(call log,$@,Tests/install/run.sh)

.PHONY: test-docs
test-docs: $(call needs,setup-tests lib) ## The code blocks of README.md and Documentation/
	@$(call log,$@,$(PYTHON) Tests/documentation/run.py)

# Schedules of devices, by a seed: the commit's, so that each tries others and a failure can be repeated.
SEED := $(shell printf '%d' 0x$$(git rev-parse --short=6 HEAD 2>/dev/null || echo 1))
schedules = $(call log,$(1),SATCHEL_LIBRARY=$(BUILT)/libsatchel.so PYTHONPATH=$(CURDIR)/Bindings/Python \
  $(PYTHON) Tests/schedules/run.py $(2) --seed $(SEED))

.PHONY: test-schedules
test-schedules: $(call needs,setup-tests lib) ## Devices that are killed, restored and cloned, buckets that lose things or have another owner
	@$(call schedules,$@,100)

# What each store can pass: not all of them decide races, and some ignore conditions, for which they must be refused.
STORES := ministack seaweedfs ceph swift rclone
FILTER := SatchelRemoteTests
FILTER_ceph := S3VerdictTests|S3FaultTests|ObjectStoreConformance
FILTER_swift := S3VerdictTests
FILTER_rclone := S3VerdictTests

# Devices that synchronize with a store and are killed, each policy for so many seconds.
killed = SATCHEL_LIBRARY=$(BUILT)/libsatchel.so PYTHONPATH=$(CURDIR)/Bindings/Python:$(CURDIR)/Tests/Servers \
  $(call beside,$(1)) $(PYTHON) Tests/crash/synced_stores.py $(2)

# Those that decide races, besides the one of every test run: devices synchronize with them.
RACING := seaweedfs ceph

.PHONY: test-s3
test-s3: setup-tests setup-servers-all lib build-tests ## Object stores, photos and synchronizing against every S3 server that can be had here
	@$(foreach store,$(STORES),echo "---- $(store) ----"; $(call beside,$(store)) swift test --skip-build \
	  --scratch-path .build-test $(STRICT) --filter '$(or $(FILTER_$(store)),$(FILTER))';)
	@$(foreach store,$(RACING),echo "---- $(store), requests ----"; \
	  SATCHEL_LIBRARY=$(BUILT)/libsatchel.so PYTHONPATH=$(CURDIR)/Bindings/Python $(call beside,$(store)) \
	  $(PYTHON) -m pytest -p no:cacheprovider -q Bindings/Python/tests/test_sync_traffic.py; \
	  echo "---- $(store), kills ----"; $(call killed,$(store),$(or $(SATCHEL_CRASH_SECONDS),20));)

# A newer SQLite than Debian stable's, which the C programs, the Python binding and the Swift suites find first.
NEWER := $(CURDIR)/.build-sqlite

.PHONY: test-sqlite
test-sqlite: setup-tests setup-servers lib build-tests ## The C, Python and Swift suites on a newer SQLite, built from Debian's source package
	@Bindings/Packaging/sqlite.sh $(NEWER)
	@export LD_LIBRARY_PATH=$(NEWER) SATCHEL_LIBRARY=$(BUILT)/libsatchel.so PYTHONPATH=$(CURDIR)/Bindings/Python; status=0; \
	  $(PYTHON) Tests/sqlite/loaded.py $(NEWER) || exit 1; \
	  $(call log,test-sqlite-c,Tests/C/run.sh) || status=1; \
	  $(call log,test-sqlite-python,HYPOTHESIS_STORAGE_DIRECTORY=$(CURDIR)/.build-test/hypothesis \
	    $(call beside,ministack) $(PYTHON) -m pytest -p no:cacheprovider -q Bindings/Python/tests) || status=1; \
	  $(call log,test-sqlite-swift,$(call beside,ministack) swift test --skip-build --scratch-path .build-test $(STRICT)) \
	    || status=1; \
	  python3 Tests/summary.py $(LOGS) test-sqlite-c test-sqlite-python test-sqlite-swift || status=1; exit $$status

.PHONY: test-images
test-images: setup-tests lib ## Dates and sizes of real pictures, compared with exiftool (Debian's libimage-exiftool-perl)
	@SATCHEL_LIBRARY=$(BUILT)/libsatchel.so PYTHONPATH=$(CURDIR)/Bindings/Python Tests/images/run.sh $(PYTHON)

.PHONY: test-corpora
test-corpora: setup-tests lib ## Suites and real documents of others: CORPORA=… is a folder with clones, see CONTRIBUTING.md
	@for suite in 'suites.py $(CORPORA)' 'artworks.py $(CORPORA)/collection' \
	    'deliveries.py $(CORPORA)/countries-states-cities-database'; do \
	  SATCHEL_LIBRARY=$(BUILT)/libsatchel.so PYTHONPATH=$(CURDIR)/Bindings/Python $(PYTHON) Tests/corpora/$$suite || exit 1; \
	done

.PHONY: check
check: lint ## Everything within an hour: tests (longer where chance is in them), formatting, types, sanitizers
	@SATCHEL_CRASHES=300 SATCHEL_CRASH_SECONDS=30 SATCHEL_KILLS=300 $(MAKE) --no-print-directory test
	@$(call fuzz-api,60)
	@$(MAKE) --no-print-directory check-thread
	@$(MAKE) --no-print-directory check-address

.PHONY: check-thread
check-thread: setup-tests setup-servers ## The Swift suites under the thread sanitizer
	@# A debug build: in an optimized one the sanitizer sees the code that copies arrays and dictionaries, but not the
	@# counting of references in the runtime by which two threads may share them. Left out is what one thread does alone,
	@# and takes long for here: hostile and damaged stores, hostile stories and files of photos, simulations, comparison
	@# with a model, and stories of a million segments.
	@$(call log,$@,$(call beside,ministack) swift test --sanitize=thread --scratch-path .build-thread \
	  --skip 'SatchelHostileTests|RecoveryTests|CatalogueDamageTests|OutboxFileTests/every|TweeHostileTests' \
	  --skip 'FormatFuzzTests|SimulationTests|CatalogueModelTests|LargeTests/chain|CountTests/tree')

# What XCTest leaks is not ours. Less work with each allocation, which saves a tenth of the suites' time: the sanitizer
# keeps one frame of the call stack, and does not fill what is allocated.
ALLOCATIONS := detect_leaks=0:malloc_context_size=1:max_malloc_fill_size=0

# The Swift suites in an optimized build.
addresses = swift test -c release -Xswiftc -enable-testing --sanitize=address --scratch-path .build-address

.PHONY: check-address
check-address: setup-tests setup-servers ## The Swift suites under the address sanitizer
	@$(call log,$@,ASAN_OPTIONS=$(ALLOCATIONS) $(call beside,ministack) $(addresses))

# The long searches, each a target of its own.
SOAK_SYNC := $(addprefix soak-sync-,ministack $(RACING))
SOAK := soak-power soak-model soak-schedules soak-simulations soak-mutations soak-api soak-damages $(SOAK_SYNC)

.PHONY: soak
soak: setup-tests ## The long searches: hours
	@status=0; $(MAKE) --no-print-directory --keep-going $(SOAK) || status=1; \
	  python3 Tests/summary.py $(LOGS) $(SOAK) || status=1; exit $$status

.PHONY: soak-power
soak-power: setup-tests lib ## 5,000 states of each workload that a loss of power may leave
	@$(call log,$@,SATCHEL_LIBRARY=$(BUILT)/libsatchel.so PYTHONPATH=$(CURDIR)/Bindings/Python \
	  $(PYTHON) Tests/crash/power.py 5000)

.PHONY: soak-model
soak-model: setup ## 100,000 schedules of the sync log's model, or SATCHEL_SIMULATIONS=…
	@$(call log,$@,python3 Tests/model/run.py $(or $(SATCHEL_SIMULATIONS),100000))

.PHONY: soak-schedules
soak-schedules: setup-tests lib ## 1,000 schedules of devices with a bucket, or SATCHEL_SCHEDULES=…
	@$(call schedules,$@,$(or $(SATCHEL_SCHEDULES),1000))

.PHONY: soak-simulations
soak-simulations: setup ## 100,000 schedules of synchronizing photos, and of the log, or SATCHEL_SIMULATIONS=…
	@$(call log,$@,SATCHEL_SIMULATIONS=$(or $(SATCHEL_SIMULATIONS),100000) swift test -c release \
	  -Xswiftc -enable-testing --scratch-path .build-simulation --filter SimulationTests)

# Most of a mutation's time is the sanitizer's own: memory that was freed is kept as long as it stays in the processor's
# cache.
MANY_ALLOCATIONS := $(ALLOCATIONS):quarantine_size_mb=1:thread_local_quarantine_size_kb=64

.PHONY: soak-mutations
soak-mutations: setup ## 100,000 mutated stores under the address sanitizer, or SATCHEL_MUTATIONS=…
	@$(call log,$@,SATCHEL_MUTATIONS=$(or $(SATCHEL_MUTATIONS),100000) SATCHEL_CALL_SECONDS=10 \
	  ASAN_OPTIONS=$(MANY_ALLOCATIONS) $(addresses) --filter SatchelHostileTests)

.PHONY: soak-api
soak-api: setup-tests lib ## 10 minutes of random calls of every function of the C interface
	@$(call log,$@,$(call fuzz-api,600))

.PHONY: soak-sync $(SOAK_SYNC)
soak-sync: $(SOAK_SYNC) ## Devices that are killed while they synchronize, 5 minutes of each policy with each of 3 S3 stores
$(SOAK_SYNC): soak-sync-%: setup-tests setup-servers-all lib
	@$(call log,$@,$(call killed,$*,$(or $(SATCHEL_CRASH_SECONDS),300)))

.PHONY: soak-damages
soak-damages: setup-tests lib ## Every object of a sync log is damaged in every way
	@$(call log,$@,SATCHEL_ALL_DAMAGES=1 SATCHEL_LIBRARY=$(BUILT)/libsatchel.so PYTHONPATH=$(CURDIR)/Bindings/Python \
	  $(PYTHON) -m pytest -p no:cacheprovider -q Bindings/Python/tests/test_sync_objects.py)

.PHONY: lint
lint: setup-tests ## Formatting of Swift and Python, Python's types, the wording, and satchel.h by Doxygen
	swift format lint --strict -r Sources Tests Examples Package.swift
	$(VENV)/bin/ruff check --no-cache Bindings/Python Tests Examples Bindings/Packaging Documentation
	cd Benchmarks && $(CURDIR)/$(VENV)/bin/ruff check --no-cache .
	cd Bindings/Python && $(CURDIR)/$(VENV)/bin/mypy --cache-dir $(CURDIR)/.build-test/mypy --strict satchel
	python3 Tests/words.py
	@mkdir -p .build-test/doxygen
	@SATCHEL_DOXYGEN_OUT=.build-test/doxygen doxygen Tests/documentation/Doxyfile
	@echo 'doxygen: no warnings about Include/satchel.h'

.PHONY: coverage
coverage: setup-servers ## Line coverage of Sources by the Swift suites: 90 % at least
	@# Merged here and not by `swift test`, which fails when a process that a test has killed leaves half a profile.
	swift build --build-tests --enable-code-coverage --scratch-path .build-coverage
	@rm -rf .build-coverage/profiles
	LLVM_PROFILE_FILE=$(CURDIR)/.build-coverage/profiles/%p.profraw \
	  $(call beside,ministack) swift test --skip-build --scratch-path .build-coverage
	python3 Tests/coverage.py .build-coverage/debug .build-coverage/profiles 90

.PHONY: bench
bench: setup-tests lib ## Measure against other libraries and the limits of the machine
	Benchmarks/run

.PHONY: bench-compare
bench-compare: setup-tests lib ## Two builds of the library in turns: OLD=…/libsatchel.so.0 and NEW=… (that of .build-lib)
	@[ -n "$(OLD)" ] || { echo "usage: make bench-compare OLD=…/libsatchel.so.0 [NEW=…/libsatchel.so.0]" >&2; exit 2; }
	Benchmarks/run compare $(abspath $(OLD)) $(if $(NEW),--new $(abspath $(NEW))) $(if $(ROUNDS),--rounds $(ROUNDS))

.PHONY: fuzz
fuzz: setup ## Fuzz what takes bytes from outside: 60 seconds a target, or FUZZ_SECONDS=…
	FUZZ_SECONDS=$(or $(FUZZ_SECONDS),60) Tests/fuzz/run.sh

.PHONY: setup-tests
setup-tests: setup $(VENV)/requirements-dev.txt ## Install what testing needs besides (Debian packages, .venv)

.PHONY: setup-servers
setup-servers: setup $(SERVERS)/requirements.txt ## Install the object store that the tests run against (.venv-servers)

.PHONY: setup-servers-all
setup-servers-all: setup-servers $(SERVERS)/requirements-more.txt
	@$(call install-missing,$(SERVER_PACKAGES),)

$(SERVERS)/%.txt: Tests/Servers/%.txt | setup-debian-tests
	python3 -m venv $(SERVERS)
	$(SERVERS)/bin/python -m pip install --quiet --requirement $<
	@cp $< $@

# What people write, without .in; each has a file of versions and hashes beside it, which is installed.
REQUIREMENTS := Bindings/Python/requirements-dev Bindings/Python/wheel-requirements Benchmarks/requirements \
  Documentation/site/requirements Tests/Servers/requirements Tests/Servers/requirements-more

.PHONY: requirements
requirements: setup-tests ## Pin Python's packages with their hashes; UPGRADE=1 takes newer versions
	@$(PYTHON) -m pip install --quiet uv
	@for each in $(REQUIREMENTS); do \
	  (cd $$(dirname $$each) && $(CURDIR)/$(VENV)/bin/uv pip compile --quiet --universal --generate-hashes --no-annotate \
	    --no-emit-index-url --custom-compile-command 'make requirements' --python-version 3.11 $(if $(UPGRADE),--upgrade) \
	    $$(basename $$each).in --output-file $$(basename $$each).txt) || exit 1; \
	done

.PHONY: setup-debian-tests
setup-debian-tests:
	@$(call install-missing,$(TEST_PACKAGES),)

$(VENV)/requirements-dev.txt: Bindings/Python/requirements-dev.txt | setup-debian-tests
	python3 -m venv $(VENV)
	$(PYTHON) -m pip install --quiet --requirement $<
	@cp $< $@

include Bindings/Packaging/packaging.mk

# Debian's packages, with the headers that prove them. dpkg's record alone does not prove a package: an image
# may have been trimmed afterwards. Nothing is downloaded, and no network needed, when all is there.
PACKAGES := gcc libsqlite3-dev libjansson-dev libutf8proc-dev nettle-dev pkg-config \
  libcurl4-openssl-dev libexpat1-dev libexif-dev libturbojpeg0-dev libpng-dev
HEADERS := sqlite3.h jansson.h utf8proc.h nettle/sha2.h curl/curl.h expat.h libexif/exif-data.h turbojpeg.h png.h
# Graphviz draws the stories of reports.
DEMO_PACKAGES := graphviz
SERVER_PACKAGES := radosgw ceph-mon ceph-osd ceph-common openssl
TEST_PACKAGES := openssl libheif1 libwebpmux3 valgrind cmake doxygen g++ git $(shell python3 -c 'import ensurepip, venv' 2>&1 | sed -n '$$s/.*/python3-venv/p')
ROOT := $(shell [ "$$(id -u)" = 0 ] || echo sudo)

define install-missing
missing=""; \
for package in $(1); do dpkg -s $$package > /dev/null 2>&1 || missing="$$missing $$package"; done; \
for header in $(2); do \
  [ -f /usr/include/$$header ] || ls /usr/include/*-linux-*/$$header > /dev/null 2>&1 || missing="$(1)"; done; \
if [ -n "$$missing" ]; then \
  command -v apt-get > /dev/null || { echo "please install:$$missing" >&2; exit 1; }; \
  echo "Installing with apt-get (packages that are installed are upgraded, or installed again):$$missing"; \
  mkdir -p $(LOGS); \
  { $(ROOT) apt-get update -qq; \
    $(ROOT) env DEBIAN_FRONTEND=noninteractive \
      apt-get install -y -qq -o DPkg::Lock::Timeout=120 --no-install-recommends --reinstall $$missing; } > $(LOGS)/apt.log 2>&1 \
  || { tail -n 40 $(LOGS)/apt.log >&2; exit 1; }; \
fi
endef
