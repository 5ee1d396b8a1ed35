# Makefile - short names for what CMake, CTest and the scripts in tools/ do
#
# Presets are in CMakePresets.json; CMAKE_ARGS adds to the configuration of the release,
# TARGET builds only that.

PREFIX ?= /usr/local
CMAKE_ARGS ?=
FUZZ_SECONDS ?= 60
jobs := $(shell nproc 2>/dev/null || echo 1)

.PHONY: all demo test test-all nightly bench site lint format fuzz install deb tarball wheel wheels duckdb release check-packages clean help

all:
	@mkdir -p build
	@cmake --preset release $(CMAKE_ARGS) >build/configure.log 2>&1 \
	    || { cat build/configure.log; tools/bootstrap.sh --check build; exit 1; }
	@cmake --build --preset release $(if $(TARGET),--target $(TARGET))

help:
	@echo 'make            build build/release/neardup and the libraries; installs nothing'
	@echo 'make demo       install what is needed, build, deduplicate documents of this machine'
	@echo 'make test       install what is needed, build, run the tests'
	@echo 'make test-all   beside make test: lint, sanitizers, other processors, each a sample'
	@echo 'make nightly    all tests at full size, under all sanitizers, and fuzzing: hours'
	@echo 'make bench      measure, beside the other tools'
	@echo 'make site       the documentation site, in build/site/'
	@echo 'make lint       formatting, clang-tidy, cppcheck, shellcheck'
	@echo 'make format     put the code into its form'
	@echo 'make fuzz       every fuzz target for FUZZ_SECONDS ($(FUZZ_SECONDS))'
	@echo 'make install    into PREFIX ($(PREFIX)), below DESTDIR'
	@echo 'make deb        Debian packages, in build/deb/'
	@echo 'make tarball    the command with what it needs, to unpack anywhere, in build/'
	@echo 'make wheel      the Python package and the command as a wheel, and the sources, in build/wheel/dist/'
	@echo 'make duckdb     the extension of DuckDB, built and tried, in build/duckdb/'
	@echo 'make wheels     that, and the wheels for other processors and systems, made and tried here'
	@echo 'make release    all that a release consists of, with checksums, in build/dist/'
	@echo 'make check-packages  packages, tarball and wheel, each in a fresh Debian that has nothing else'
	@echo 'make clean      remove build/'

demo:
	@tools/demo.sh

test:
	@tools/bootstrap.sh build test
	@$(MAKE) --no-print-directory all
	@ctest --preset release --parallel $(jobs) --no-tests=error --label-exclude '^slow$$'

test-all:
	@tools/bootstrap.sh build test lint site
	@tools/bootstrap.sh spark || echo 'test-all: without Java the tests of Spark are skipped'
	@tools/bootstrap.sh page || echo 'test-all: without Chromium the page is not tried in a browser'
	@tools/bootstrap.sh package || echo 'test-all: without mmdebstrap no fresh Debian is tried'
	@tools/bootstrap.sh windows || echo 'test-all: without wine the command for Windows is built, and not tried'
	@$(MAKE) --no-print-directory all
	@tools/checks.sh all

nightly:
	@tools/bootstrap.sh build test lint fuzz faults
	@tools/bootstrap.sh windows || echo 'nightly: without wine the command for Windows is built, and not tried'
	@tools/bootstrap.sh package || echo 'nightly: without mmdebstrap no fresh Debian is tried'
	@$(MAKE) --no-print-directory all
	@NEARDUP_NIGHTLY=1 ctest --preset release --parallel $(jobs) --no-tests=error
	@tools/checks.sh nightly

bench:
	@tools/bootstrap.sh build test bench
	@$(MAKE) --no-print-directory all
	@bench/run

site:
	@tools/bootstrap.sh build site
	@$(MAKE) --no-print-directory all TARGET=neardup
	@tools/make-site.sh

lint:
	@tools/bootstrap.sh build test lint
	@tools/lint.sh

format:
	@tools/bootstrap.sh lint
	@tools/list-files.sh '*.c' '*.h' '*.cpp' | grep -v '^src/text/[a-z]*_table\.c$$' | xargs clang-format-14 -i

fuzz:
	@tools/bootstrap.sh build fuzz
	@tools/fuzz.sh $(FUZZ_SECONDS)

install: all
	cmake --install build/release --prefix $(PREFIX)
	@if [ -z "$(DESTDIR)" ]; then \
	    tools/after-install.sh "$(abspath $(PREFIX))" "$(abspath $(PREFIX))/lib"; \
	fi

deb:
	@tools/bootstrap.sh build package
	@tools/make-deb.sh

tarball: all
	@tools/make-tarball.sh

wheel:
	@tools/bootstrap.sh build test
	@tools/make-wheel.sh

wheels:
	@tools/bootstrap.sh build test
	@tools/make-wheels.sh

release: all
	@tools/bootstrap.sh build test package
	@tools/make-release.sh

duckdb:
	@tools/bootstrap.sh build test
	@tools/make-duckdb.sh

check-packages: all
	@tools/bootstrap.sh build package
	@tools/check-packages.sh

clean:
	rm -rf build
