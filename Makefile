# SPDX-License-Identifier: MIT
# make run    install what is missing, build, and start a sidecar on a demo workspace
# make test   install what is missing, and run every test and every checker
#
# The rest are short names for what meson and the scripts do; "make help" lists them.

.PHONY: help run demo test build lint format fuzz bench density coverage mutants pictures install uninstall release cross clean

# A user installs without sudo.
PREFIX ?= $(if $(filter 0,$(shell id -u)),/usr/local,$(HOME)/.local)

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-9s %s\n", $$1, $$2 }' Makefile

run: ## install what is missing, build, start a demo (WORKSPACE=dir: serve that directory)
	@scripts/deps run
	@$(MAKE) --no-print-directory build
	@scripts/run-demo

demo: ## watch a scripted agent fix a test, fail to get out, and have its rm -rf undone (no network)
	@scripts/deps run
	@$(MAKE) --no-print-directory build
	@scripts/demo

test: ## install what is missing, run everything (PART="unit lint": only these)
	@scripts/deps test
	@tests/run $(PART)

build: build/build.ninja ## compile; the program is build/sidecar
	@ninja -C build

build/build.ninja:
	meson setup build -Dtests=false

pictures: build ## make the pictures of the documents anew (needs chromium and tmux)
	@scripts/deps test
	@tests/clients/install
	PICTURES=$(CURDIR)/docs/images tests/clients/node_modules/node-linux-*/bin/node --test --test-name-pattern=pictures tests/clients/test_page.mjs

lint: ## format, static analysis, layers (part of make test)
	@scripts/deps test
	@tests/run lint

format: ## format every C file in place
	@scripts/format

fuzz: ## look for new crashes (SECONDS=60 for each, FUZZER=json: only that one)
	@scripts/deps test
	@scripts/fuzz $(or $(SECONDS),60) $(FUZZER)

bench: build ## measure the server beside its peers (bench/commands, bench/search, bench/syscalls, bench/mcp, bench/tokens: more)
	bench/server

density: ## start 1,000 sidecars and measure them (COUNT=100: fewer)
	@scripts/release --program build-release/sidecar.stripped
	@bench/density --program build-release/sidecar.stripped $(if $(COUNT),--count $(COUNT))

release: ## static program, tarballs, packages (Debian, npm, Python), SBOM, checksums, in dist/
	@scripts/deps test
	@scripts/deps release
	@scripts/release

cross: ## build for aarch64 and run its unit tests under qemu
	@scripts/deps release
	@scripts/cross test

coverage: ## run the tests on an instrumented build and print which lines were run
	@scripts/deps test
	@scripts/coverage

mutants: ## break one guard at a time and see that its test notices (NAME=host: only that one)
	@scripts/deps test
	@scripts/mutants $(NAME)

install: ## install program, manuals and library (PREFIX=dir: there; DESTDIR=dir to stage)
	@scripts/deps run
	@$(MAKE) --no-print-directory build/build.ninja
	@meson configure build --prefix '$(abspath $(PREFIX))'
	@ninja -C build
	@meson install -C build --no-rebuild
	@echo 'installed below $(abspath $(PREFIX)); "make uninstall" removes it'

uninstall: ## remove what "make install" has installed from this directory
	@ninja -C build uninstall

clean: ## remove every build directory
	rm -rf build build-* dist
