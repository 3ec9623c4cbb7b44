# Satchel. `make demo` and `make test` do everything, and install what is missing.
# The work is done in Scripts: build.sh has the flags and their reasons, test.sh the runners, setup.sh the packages.
# A new subject adds its tests to a runner; it needs no target of its own.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

PREFIX ?= /usr/local
DESTDIR ?=
LIBDIR ?= $(PREFIX)/lib

VERSION := $(shell sed -n 's/^#define SATCHEL_VERSION_STRING "\(.*\)"/\1/p' Include/satchel.h)
MAJOR := $(firstword $(subst ., ,$(VERSION)))
SONAME := libsatchel.so.$(MAJOR)
BUILD := .build-lib
STAGED := $(BUILD)/stage/libsatchel.so.$(VERSION)
SOURCES := Package.swift Scripts/build.sh Scripts/collectable.py Scripts/split.py Scripts/order.py $(shell find Include Sources -type f -not -name '*.in')
LOGS := .build-test/logs
PYTHON := .venv/bin/python

# Runners of two and more that close with a summary: JOBS at a time, or one.
runners = rm -f $(LOGS)/*.log $(LOGS)/*.time; status=0; SIDE_BY_SIDE=$(filter-out 1,$(JOBS)) \
  $(MAKE) --no-print-directory --keep-going --jobs=$(JOBS) $(1) || status=1; \
  python3 Tests/summary.py $(LOGS) $(1) || status=1; exit $$status

##@ Start here

help: ## This list
	@awk 'BEGIN { FS = ":.*## " } \
	  /^##@/ { printf "\n%s\n", substr($$0, 5) } \
	  /^[a-z0-9-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: ## Build everything, and show what it does: with the tool, and in C, Python and Swift
	@Scripts/demo.sh

# The longest first, since two run side by side.
TESTS := test-swift test-python test-crash test-c test-tool test-install test-examples test-journeys test-kill test-power \
  test-docs test-model test-schedules
JOBS ?= 2

test: setup-tests setup-servers ## Every test, after installing what is missing
	@$(call runners,$(TESTS))

check: lint ## Everything within an hour: tests (all of what is left to chance), formatting, types, sanitizers
	@$(MAKE) --no-print-directory test
	@$(MAKE) --no-print-directory check-api check-thread check-address

check: export SATCHEL_CHANCE := all

setup: ## Install what building needs (Debian packages); nothing when all is there
	@Scripts/setup.sh build

setup-tests: setup ## Install what testing needs besides (Debian packages, .venv)
	@Scripts/setup.sh tests

setup-servers: setup ## Install the object store that the tests run against (.venv-servers)
	@Scripts/setup.sh servers

setup-all-servers: setup
	@Scripts/setup.sh all-servers

##@ Build

lib: setup $(STAGED) ## The library for C and Python: .build-lib/release/libsatchel.so

$(STAGED): $(SOURCES) | setup
	@Scripts/build.sh lib

# After the library, whose modules it links.
tool: lib ## The command-line tool, release build
	@Scripts/build.sh tool

suites: setup ## The Swift suites, debug build
	@Scripts/build.sh suites

##@ Test

test-swift: setup-tests setup-servers suites ## The Swift suites, beside a real object store
test-tool: setup-tests setup-servers tool ## The command-line tool, as a person uses it
test-c: setup-tests lib ## The C programs against the release library, valgrind and kill -9 included
test-python: setup-tests setup-servers lib ## The Python suite
test-journeys: setup-tests setup-servers lib ## What people do across the parts, with real processes, files and stores
test-crash: setup-tests setup-servers lib ## Devices that synchronize with an object store and are killed all the time
test-kill: setup-tests lib ## A process that saves records and state and is killed again and again
test-power: setup-tests lib ## What a loss of power may leave of a store, by traces of what was written and synced
test-model: setup ## Schedules of the sync log's model, and the mutants that it must find
test-schedules: setup-tests lib ## Devices that are killed, restored and cloned, buckets that lose things
test-examples: setup lib suites ## The examples build, run and say what they should
test-install: setup-tests tool suites ## Installing, pkg-config, CMake, and Swift packages that import Satchel
test-docs: setup-tests tool suites ## The code blocks of README.md and Documentation/
test-s3: setup-tests setup-all-servers lib suites ## The suites against every S3 server that can be had here
test-sqlite: setup-tests setup-servers lib suites ## The C, Python and Swift suites on a newer SQLite, built from source
test-images: setup-tests lib ## Dates and sizes of real pictures, compared with exiftool
test-corpora: setup-tests lib ## Suites and documents of others: CORPORA=… is a folder with clones, see CONTRIBUTING.md
check-api: setup-tests lib ## A minute of random calls of every function of the C interface
check-thread: setup-tests setup-servers ## The Swift suites under the thread sanitizer
check-address: setup-tests setup-servers ## The Swift suites under the address sanitizer
soak-power: setup-tests lib ## 5,000 states of each workload that a loss of power may leave
soak-model: setup ## 100,000 schedules of the sync log's model, or SATCHEL_SIMULATIONS=…
soak-schedules: setup-tests lib ## 1,000 schedules of devices with a bucket, or SATCHEL_SCHEDULES=…
soak-simulations: setup ## 100,000 schedules of synchronizing photos, and of the log, or SATCHEL_SIMULATIONS=…
soak-assets: setup ## 30,000 schedules of assets in a remote and in their folder, or SATCHEL_SIMULATIONS=…
soak-mutations: setup ## 100,000 mutated stores under the address sanitizer, or SATCHEL_MUTATIONS=…
soak-api: setup-tests lib ## 10 minutes of random calls of every function of the C interface
soak-films: setup-tests lib ## 5 GiB of films as assets, in bounded memory
soak-damages: setup-tests lib ## Every object of a sync log is damaged in every way
soak-sync-ministack soak-sync-seaweedfs soak-sync-ceph: setup-tests setup-all-servers lib

$(filter test-% check-% soak-%,$(shell sed -n '/^##@ Test/,$$s/^\([a-z0-9 -]*\):.*/\1/p' Makefile)):
	@Scripts/test.sh $@

# The long searches, one after the other.
SYNC := soak-sync-ministack soak-sync-seaweedfs soak-sync-ceph
SOAK := soak-power soak-model soak-schedules soak-simulations soak-assets soak-mutations soak-api soak-films soak-damages \
  $(SYNC)

soak: setup-tests ## The long searches: hours
	@$(call runners,$(SOAK))

soak: JOBS := 1

soak-sync: $(SYNC) ## Devices that are killed while they synchronize, 5 minutes of each policy with each of 3 S3 stores

lint: setup-tests ## Formatting of Swift and Python, Python's types, the wording, and satchel.h by Doxygen
	@Scripts/lint.sh

coverage: setup-servers ## Line coverage of Sources by the Swift suites: 90 % at least
	@Scripts/coverage.sh

fuzz: setup ## Fuzz what takes bytes from outside: 60 seconds a target, or FUZZ_SECONDS=…
	FUZZ_SECONDS=$(or $(FUZZ_SECONDS),60) Tests/fuzz/run.sh

bench: setup-tests lib ## Measure against other libraries and the limits of the machine
	Benchmarks/run

bench-compare: setup-tests lib ## Two builds of the library in turns: OLD=…/libsatchel.so.0 and NEW=… (that of .build-lib)
	@[ -n "$(OLD)" ] || { echo "usage: make bench-compare OLD=…/libsatchel.so.0 [NEW=…/libsatchel.so.0]" >&2; exit 2; }
	Benchmarks/run compare $(abspath $(OLD)) $(if $(NEW),--new $(abspath $(NEW))) $(if $(ROUNDS),--rounds $(ROUNDS))

requirements: setup-tests ## Pin Python's packages with their hashes; UPGRADE=1 takes newer versions
	@UPGRADE=$(UPGRADE) Scripts/requirements.sh

include Bindings/Packaging/packaging.mk

# No target is a file, but the library.
.PHONY: $(shell sed -n 's/^\([a-z0-9 -]*\):.*/\1/p' $(MAKEFILE_LIST))
