# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# A door to CMake. Each target first sees to it that what it needs is installed.
# CMakePresets.json has the builds, cmake/ the scripts.
.PHONY: help demo onefile dist test bench fuzz coverage lint soak format clean
.PHONY: test-gpu bench-gpu test-nsys mutants
JOBS ?= 2
need = @sh cmake/bootstrap.sh
nvtx = @sh cmake/nvtx.sh
release = cmake --preset release && cmake --build --preset release -j $(JOBS)

help:
	@echo "make demo     train a small GPT for about 10 s and see its profile,"
	@echo "              which stays in build/demo/fit.gnomon"
	@echo "make onefile  the library as one file: build/onefile/gnomon.c"
	@echo "make dist     the files of a release, into build/dist"
	@echo "make test     all builds and all tests (minutes); SKIPS=file: fails if one"
	@echo "              is skipped for a cause that the file does not list"
	@echo "make bench    what marks cost, into build/bench.tsv;"
	@echo "              SELFTEST=1: with planted faults that must show"
	@echo "make test-gpu the tests on a GPU: needs NVIDIA's CUDA toolkit; without"
	@echo "              a GPU they are only built"
	@echo "make bench-gpu what marks around launches cost, into"
	@echo "              build/bench-gpu.tsv; with PyTorch's ways beside them"
	@echo "make test-nsys what Nsight Systems records, where it is installed"
	@echo "make soak     the long versions of the tests (hours)"
	@echo "make mutants  small mistakes, which the tests must see: 60 at random;"
	@echo "              SEED=n repeats, COUNT=n, FILES='print/rows merge',"
	@echo "              SKIP=n goes on after the first n"
	@echo "make fuzz     random inputs, a minute for each target of tests/fuzz;"
	@echo "              SECONDS_EACH=n: n seconds; RUNS=n: n inputs each"
	@echo "make coverage lines and branches of src/ that the tests reach"
	@echo "make lint     clang-format, clang-tidy, cppcheck"
	@echo "make format   clang-format, in place"
	@echo "make clean    remove build/"

demo:
	$(need) build
	$(nvtx)
	@$(release) --target gnomon_demo
	@echo
	@echo "GNOMON='simple,file=build/demo/%s.gnomon' \\"
	@echo "    build/examples/train_gpt/train_gpt"
	@echo "trains a small GPT on text for about 10 s; its reports of FIT and"
	@echo "VALIDATE follow."
	@GNOMON='simple,file=build/demo/%s.gnomon' OMP_WAIT_POLICY=passive \
	    build/examples/train_gpt/train_gpt --sample 0 --out build/demo
	@[ ! -x build/gnomon ] || printf '\n%s\n    %s\n    %s\n    %s\n' \
	    "build/demo/fit.gnomon is the profile of FIT. These show more of it:" \
	    "build/gnomon report --as 'regions(columns=calls|total|flops)' build/demo/fit.gnomon" \
	    "build/gnomon report --as advanced build/demo/fit.gnomon" \
	    "build/gnomon info build/demo/fit.gnomon"

onefile:
	$(need) build
	@cmake -D "SOURCE=$(CURDIR)" -D "OUT=$(CURDIR)/build/onefile" \
	    -P cmake/amalgamate.cmake
	@echo "build/onefile: gnomon.c, and the headers in include/"

dist:
	$(need) build
	@sh cmake/dist.sh build/dist

test:
	$(need) test
	$(nvtx)
	@JOBS=$(JOBS) SKIPS=$(SKIPS) sh cmake/run_tests.sh

bench:
	$(need) bench
	$(nvtx)
	@$(release) --target bench --target bench_static
	GNOMON_BENCH_SELFTEST=$(SELFTEST) build/bench/bench
	@if [ -d build/python ]; then cmake --build build --target gnomon_python && \
		python=build/tests/python/lightning/bin/python && \
		{ [ -x $$python ] || python=python3; } && \
		$$python bench/python.py build/python build/bench-python.tsv; fi

# All processors, if nobody says how many: nothing is measured while it builds.
gpu = @JOBS=$(if $(filter file,$(origin JOBS)),,$(JOBS)) sh cmake/gpu.sh

test-gpu:
	$(gpu) test

bench-gpu:
	$(gpu) bench

test-nsys:
	$(need) test
	$(nvtx)
	@$(release)
	ctest --preset release -L '^nsys$$' --no-tests=error --verbose

soak:
	$(need) soak
	@$(release)
	GNOMON_SOAK=1 ctest --preset release -L soak --no-tests=error \
		--output-on-failure
	@cmake --preset asan && cmake --build --preset asan -j $(JOBS)
	GNOMON_SOAK=1 ctest --preset asan -R '^(faults[.]|no_memory[.]|cuda_trouble.no_memory)' \
		--no-tests=error --output-on-failure
	RUNS=10000000 JOBS=$(JOBS) sh cmake/fuzz.sh
	python3 tests/mutants/mutants.py --jobs $(JOBS)

mutants:
	$(need) test
	$(nvtx)
	@python3 tests/mutants/mutants.py --jobs $(JOBS) \
	    $(if $(SEED),--seed $(SEED)) $(if $(COUNT),--count $(COUNT)) \
	    $(if $(SKIP),--skip $(SKIP)) $(FILES)

fuzz:
	$(need) fuzz
	@JOBS=$(JOBS) SECONDS_EACH=$(SECONDS_EACH) RUNS=$(RUNS) sh cmake/fuzz.sh

coverage:
	$(need) coverage
	@JOBS=$(JOBS) sh cmake/coverage.sh

lint:
	$(need) lint
	@sh cmake/lint.sh

format:
	$(need) lint
	@find src include tests examples bench bindings -name '*.[ch]' -o \
	    -name '*.hpp' -o -name '*.cu' | \
		xargs clang-format -i

clean:
	cmake -E rm -rf build
