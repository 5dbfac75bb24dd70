# The way in. `make help` lists the targets; meson and ninja do the building.
PREFIX  ?= /usr/local
DESTDIR ?=
PORT    ?= 1433
LISTEN  ?= 127.0.0.1:$(PORT)
HTTP    ?= 127.0.0.1:8433
DATA    ?= ./procession-data
# Seconds that `make fuzz` gives each target.
FUZZ_TIME ?= 60
# What `make test-failover` does: how many things happen, and what chance decides.
ROUNDS ?= 12
SEED ?= 1

MESON_DIR := build/meson

.PHONY: all build run test test-long test-failover test-documents mutants bench fuzz lint format install dist deb clean help setup setup-test
.DEFAULT_GOAL := build

all: build

help:
	@echo 'make build         build build/processiond (the server) and build/procession (the command)'
	@echo 'make run           the same, then start a server; DATA=$(DATA) PORT=$(PORT) HTTP=$(HTTP)'
	@echo 'make test          every test, with sanitizers; ends with "N passed, N failed"'
	@echo 'make test-long     the tests that take minutes each: kept out of make test, to be run before a release'
	@echo 'make test-failover  three PostgreSQL under Patroni, three servers, clients that must count; minutes; ROUNDS=$(ROUNDS) SEED=$(SEED)'
	@echo 'make test-documents DIR=…  converts every document of a folder, elsewhere, and prints what failed'
	@echo 'make mutants       breaks the declarations one by one and shows what no test notices; hours; MUTANTS="--service state"'
	@echo 'make bench         repeatable measurements beside PostgreSQL and Redis; BENCH="--only tls", BENCH=--full'
	@echo 'make fuzz          the fuzz targets, FUZZ_TIME=$(FUZZ_TIME) seconds each (fuzz/)'
	@echo 'make lint          clang-tidy, cppcheck and our own checkers'
	@echo 'make format        clang-format over all C, documents wrapped at 100 columns; make lint fails on what it would change'
	@echo 'make install       DESTDIR=$(DESTDIR) PREFIX=$(PREFIX)'
	@echo 'make dist          a source archive of what is committed, in build/dist'
	@echo 'make deb           Debian packages of what is committed, in build/deb; checked by lintian'
	@echo 'make clean         remove build/ (data stays)'
	@echo 'On Debian 12, missing packages are installed by tools/setup.sh (root or sudo).'

setup:
	@tools/setup.sh build

setup-test:
	@tools/setup.sh build test

build: setup
	@tools/build.sh plain

run: build
	@exec build/processiond --data '$(DATA)' --listen '$(LISTEN)' --http '$(HTTP)' $(ARGS)

test: setup-test
	@tools/test.sh

test-long: setup-test
	@tools/setup.sh clients machines
	@LONG=1 tools/test.sh

test-failover: build
	@tools/setup.sh failover
	@ROUNDS=$(ROUNDS) SEED=$(SEED) /usr/bin/python3 -m pytest tests/failover -q -p no:cacheprovider

test-documents: build
	@/usr/bin/python3 tools/test_documents.py '$(DIR)'

mutants: setup-test
	@tools/build.sh plain
	@/usr/bin/python3 tools/mutate.py --verbose $(MUTANTS)

bench: setup
	@tools/bench.sh $(BENCH)

fuzz: setup-test
	@FUZZ_TIME=$(FUZZ_TIME) tools/fuzz.sh

lint: setup-test
	@tools/lint.sh

format: setup-test
	@tools/format.sh

install: setup
	@PREFIX='$(PREFIX)' DESTDIR='$(DESTDIR)' tools/install.sh

dist:
	@tools/dist.sh

deb: setup
	@tools/setup.sh packages
	@tools/deb.sh

clean:
	rm -rf build
