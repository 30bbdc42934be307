# TokenRouter: everything is built, run and tested from here. `make help` lists the targets.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules

# A Go of 1.26 or later, wherever it is; found after the prerequisites have been seen to, hence the late evaluation.
GO = $(shell scripts/find-go.sh)
export GOTOOLCHAIN ?= local
# The default build has no cgo: the native library is bound at run time.
export CGO_ENABLED ?= 0
JOBS ?= $(shell nproc)

BUILD := build
NATIVE := $(BUILD)/native
LIBRARY := $(NATIVE)/libtokenrouter.so
EMBEDDED := bindings/embedded/libtokenrouter.so
BINARY := bin/tokenrouter
PYTHON = $(BUILD)/venv/bin/python

# With a + where files have been changed since. Go finds it by itself, but not in every kind of checkout.
COMMIT = $(shell c=$$(git rev-parse --short=12 HEAD 2>/dev/null) && { git diff --quiet HEAD || c=$$c+; echo $$c; })

export TOKENROUTER_MODELS ?= $(if $(XDG_CACHE_HOME),$(XDG_CACHE_HOME),$(HOME)/.cache)/tokenrouter/models

##@ Use

QUESTION ?= Sam earns $$6 per hour. On Monday Sam works 8 hours and on Friday 7 hours. How much does Sam earn?

.PHONY: run
run: build ## Build, let the pair of models that is built in solve a problem (QUESTION=..., ALGORITHM=...), show who wrote what
	$(BINARY) run --demo $(if $(ALGORITHM),--algorithm $(ALGORITHM)) '$(QUESTION)'

.PHONY: run-real
run-real: build real-pair ## Build, get a real pair of models, ask one question over HTTP, show who wrote what
	scripts/demo.py --binary $(BINARY) --models "$$TOKENROUTER_MODELS"

.PHONY: build
build: library ## Build the native library and bin/tokenrouter, which carries it
	$(GO) build -trimpath -ldflags "-X main.builtFrom=$(COMMIT)" -o $(BINARY) ./cmd/tokenrouter

# Where `make install` puts things, and a directory to put that tree into (for packages).
PREFIX ?= /usr/local
DESTDIR ?=

.PHONY: install
install: build ## Install program, library, header, completions, man page, service, docs below PREFIX (/usr/local)
	scripts/install.sh "$(DESTDIR)" "$(PREFIX)"

.PHONY: dist
dist: build ## Make dist/tokenrouter-VERSION-linux-x86_64.tar.gz of the same
	scripts/dist.sh

.PHONY: real-pair
real-pair: prerequisites ## Download the real pair of models (1.6 GB) and check it
	scripts/fetch-models --pair

.PHONY: models
models: prerequisites ## Download all models that the tests use (the pair, and 0.35 GB of other families)
	scripts/fetch-models

.PHONY: prerequisites
prerequisites: ## See that Go, a C++ compiler, CMake, Ninja and Python are there; install or explain what is not
	@scripts/prerequisites.sh

##@ Develop

.PHONY: library
library: prerequisites
	cmake -S . -B $(NATIVE) -G Ninja -DCMAKE_BUILD_TYPE=Release --log-level=NOTICE
	cmake --build $(NATIVE) --parallel $(JOBS) --target tokenrouter
	cmp -s $(LIBRARY) $(EMBEDDED) || install -D -m 755 $(LIBRARY) $(EMBEDDED)

# The compiler comes from the Python registry unless NVCC names one.
NVCC ?= $(BUILD)/cuda-venv/bin/nvcc
CUDA_ARCHITECTURES ?= 80;86;89;90;120
CUDA := $(BUILD)/cuda

.PHONY: cuda
cuda: cuda-compiler ## Build libtokenrouter-cuda, for CUDA_ARCHITECTURES
	cmake -S . -B $(CUDA) -G Ninja -DCMAKE_BUILD_TYPE=Release -DTR_CUDA=ON -DTR_NVCC="$(abspath $(NVCC))" \
		-DTR_CUDA_ARCHITECTURES="$(CUDA_ARCHITECTURES)" -DTR_BUILD_TESTS=OFF -DTR_BUILD_FUZZ=OFF --log-level=NOTICE
	cmake --build $(CUDA) --parallel $(JOBS) --target tokenrouter-cuda

.PHONY: cuda-compiler
cuda-compiler: prerequisites
	$(if $(filter $(BUILD)/%,$(NVCC)),scripts/cuda-compiler.sh $(BUILD)/cuda-venv)

# Two architectures: that kernels compile for a GPU, with warnings and spilled registers as errors. What they compute is tested on the emulation,
# by ctest. In the build of the native library, whose objects it is linked from.
.PHONY: test-cuda
test-cuda: library cuda-compiler ## Compile the CUDA library for two architectures
	cmake -S . -B $(NATIVE) -DTR_CUDA=ON -DTR_CUDA_ON_REQUEST=ON -DTR_NVCC="$(abspath $(NVCC))" -DTR_CUDA_ARCHITECTURES="80;90" -DTR_CUDA_STRICT=ON --log-level=NOTICE
	cmake --build $(NATIVE) --parallel $(JOBS) --target tokenrouter-cuda

.PHONY: native
native: library ## Build the native library with its tests
	cmake --build $(NATIVE) --parallel $(JOBS)

.PHONY: test
test: test-native test-cuda test-go test-race lint test-real test-dist test-clients test-web test-tools fuzz ## All tests
	@echo "all tests passed"

.PHONY: test-native
test-native: native ## Tests of the native library, golden files of Transformers among them
	ctest --test-dir $(NATIVE) --parallel $(JOBS) --output-on-failure --no-tests=error

# Packages whose tests need the real pair.
REAL := ./tests/golden ./tests/exactness
UNIT = $(shell $(GO) list ./... | grep -v -E '/tests/(golden|exactness)$$')

.PHONY: test-go
test-go: library models ## go vet and the unit tests, without cgo
	$(GO) vet ./...
	TOKENROUTER_GRID=full $(GO) test $(UNIT)

.PHONY: test-race
test-race: library models ## The unit tests under the race detector (which needs cgo)
	CGO_ENABLED=1 $(GO) test -race $(UNIT)

.PHONY: test-real
test-real: build native models ## The real pair: golden answers, and exactness over HTTP against a sequential loop
	for file in "$$TOKENROUTER_MODELS"/qwen2.5-coder-*.gguf; do echo "$$file"; TR_TEST_MODEL="$$file" $(NATIVE)/tests/real_model_test; done
	TOKENROUTER_REQUIRE_MODELS=1 $(GO) test -v -count=1 -p 1 -timeout 60m $(REAL)

.PHONY: test-dist
test-dist: dist ## The archive, unpacked and used from the command line, C and Python
	scripts/check-dist.sh dist/tokenrouter-*-linux-x86_64.tar.gz

.PHONY: test-clients
test-clients: build real-pair python ## The official OpenAI clients for Python and Go against a running server
	$(PYTHON) -m pytest -q tests/clients
	TOKENROUTER_REQUIRE_MODELS=1 $(GO) -C tests/openai-go test -count=1 .

# `make test` goes on, and says so, where Chromium is not and cannot be installed.
test: BROWSER := wanted
.PHONY: test-web
test-web: build ## The web page in headless Chromium, with axe-core; pictures of it go to build/web
	@if scripts/prerequisites.sh --web; then $(MAKE) --no-print-directory test-browser; \
	elif [ "$(BROWSER)" = wanted ]; then echo "NOT RUN: the tests of the web page, which need Chromium" >&2; else exit 1; fi

.PHONY: test-browser
test-browser:
	scripts/python-env.sh $(BUILD)/web-venv tests/web/requirements.txt
	$(BUILD)/web-venv/bin/python -m pytest -q tests/web

# How long each fuzz target runs.
FUZZ_SECONDS ?= 60
FUZZ := $(BUILD)/fuzz

.PHONY: fuzz
fuzz: fuzz-native fuzz-go ## Every fuzz target, C++ (with ASan and UBSan) and Go, for FUZZ_SECONDS (60) each

# `make test` goes on, and says so, where clang is not and cannot be installed: ctest has replayed the corpora by then.
test: CLANG := wanted
.PHONY: fuzz-native
fuzz-native: library
	@if scripts/prerequisites.sh --fuzz; then $(MAKE) --no-print-directory fuzz-libfuzzer; \
	elif [ "$(CLANG)" = wanted ]; then echo "NOT RUN: the C++ fuzz targets, which need clang" >&2; else exit 1; fi

.PHONY: fuzz-libfuzzer
fuzz-libfuzzer:
	CC=clang CXX=clang++ cmake -S . -B $(FUZZ) -G Ninja -DCMAKE_BUILD_TYPE=Fuzz -DCMAKE_CXX_FLAGS_FUZZ=-O1 \
		-DTR_SANITIZE=address,undefined,fuzzer-no-link -DTR_ISAS=avx2 -DTR_BUILD_TESTS=OFF --log-level=NOTICE
	cmake --build $(FUZZ) --parallel $(JOBS) --target fuzzers
	FUZZ_SECONDS=$(FUZZ_SECONDS) GO=$(GO) scripts/fuzz.sh $(FUZZ)/fuzz native

.PHONY: fuzz-go
fuzz-go: library
	FUZZ_SECONDS=$(FUZZ_SECONDS) GO=$(GO) scripts/fuzz.sh $(FUZZ)/fuzz go

.PHONY: python
python: prerequisites
	scripts/python-env.sh $(BUILD)/venv tests/clients/requirements.txt

# PAIR_PYTHON: an interpreter that has tools/pair/requirements.txt; by default one is made, a download of 5 GB.
PAIR_PYTHON ?= $(BUILD)/pair-venv/bin/python

.PHONY: test-tools
test-tools: build ## The tools in Python: all but PyTorch's part, and that too where PAIR_PYTHON is there already
	$(GO) build -trimpath -o bin/policies ./bench/policies
	scripts/test-tools.sh $(BUILD)/tools-venv $(abspath $(PAIR_PYTHON))

.PHONY: pair-python
pair-python: prerequisites
	$(if $(filter $(BUILD)/%,$(PAIR_PYTHON)),scripts/python-env.sh $(BUILD)/pair-venv tools/requirements.txt tools/pair/requirements.txt)

.PHONY: pair-check
pair-check: pair-python ## The scripts that train the default pair, end to end on tiny sizes (needs PyTorch)
	PYTHON=$(abspath $(PAIR_PYTHON)) tools/pair/check.sh

PAIR ?= models/pair

.PHONY: router-check
router-check: build pair-python ## The scripts that train and convert routers, on the pair in PAIR=DIR (models/pair; needs PyTorch)
	PYTHON=$(abspath $(PAIR_PYTHON)) tools/router/check.sh $(PAIR)/small.gguf $(PAIR)/large.gguf

.PHONY: train-pair
train-pair: pair-python ## Train the default pair anew, to build/pair (about an hour on one core; goes on where it stopped)
	PYTHON=$(abspath $(PAIR_PYTHON)) COUNT=1000 tools/pair/make.sh tools/pair/recipe.toml $(BUILD)/pair $(BUILD)/pair

.PHONY: lint
lint: prerequisites ## Formatting, the arrows between packages, and golangci-lint
	@unformatted=$$(gofmt -l $$(git ls-files '*.go')); \
	if [ -n "$$unformatted" ]; then echo "not formatted (run gofmt -w): $$unformatted" >&2; exit 1; fi
	scripts/render-performance.py --check
	scripts/render-configuration.py --check
	scripts/render-llama-server.py --check
	scripts/render-routing.py --check
	scripts/golangci-lint.sh run ./...

.PHONY: bench
bench: build real-pair ## Measure decoding and prefill; with LLAMA_BENCH=path, alternate with llama.cpp's llama-batched-bench
	bench/llamacpp/compare.py --models "$$TOKENROUTER_MODELS" $(if $(LLAMA_BENCH),--peer "$(LLAMA_BENCH)")

.PHONY: pareto
pareto: build ## Measure accuracy against the large model's share on the built-in pair, for docs/routing-quality.md
	bench/pareto/measure.py
	scripts/render-routing.py

.PHONY: clean
clean: ## Remove what was built; downloaded models stay
	rm -rf $(BUILD) bin dist $(EMBEDDED)

.PHONY: help
help: ## This list
	@awk 'BEGIN {FS = ":.*## "} /^##@/ {printf "\n%s\n", substr($$0, 5)} /^[a-z-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
