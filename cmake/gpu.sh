#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# gpu.sh test|bench
# Builds what needs NVIDIA's compiler in build/gpu, and runs it if there is a GPU. It
# needs only cmake, a C compiler and the CUDA toolkit. $JOBS: jobs at once; all
# processors, if it is not set.
set -eu
cd "$(dirname "$0")/.."
job=${1:-test} jobs=${JOBS:-$(nproc)}
unset MAKEFLAGS MAKELEVEL # of the make that called us

for tool in cmake cc c++; do
    command -v "$tool" > /dev/null || { echo "no $tool" && exit 1; }
done
nvcc=
for at in nvcc "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc" \
    "${CUDA_PATH:-/usr/local/cuda}/bin/nvcc" /usr/local/cuda/bin/nvcc; do
    [ -n "$nvcc" ] || nvcc=$(command -v "$at") || true
done
if [ -z "$nvcc" ]; then
    echo "no nvcc: install NVIDIA's CUDA toolkit, or put the folder of nvcc into"
    echo "PATH, or the toolkit's into CUDA_HOME"
    exit 1
fi

# Where the compiler is another one CMake begins anew, without the options below.
cache=build/gpu/CMakeCache.txt
if [ -f "$cache" ] && ! grep -q "^CMAKE_CUDA_COMPILER:[A-Z]*=$nvcc\$" "$cache"; then
    rm "$cache"
fi
cmake -S . -B build/gpu -D CMAKE_BUILD_TYPE=Release -D GNOMON_GPU=ON \
    -D GNOMON_TESTS=OFF -D GNOMON_EXAMPLES=OFF -D GNOMON_BENCH=OFF \
    -D "CMAKE_CUDA_COMPILER=$nvcc" \
    ${GNOMON_CUBLAS_ROOT:+-D "GNOMON_CUBLAS_ROOT=$GNOMON_CUBLAS_ROOT"}
case $job in
test) cmake --build build/gpu -j "$jobs" --target gpu_suite ;;
bench) cmake --build build/gpu -j "$jobs" --target bench_gpu gpu_which ;;
*) echo "usage: gpu.sh test|bench" && exit 2 ;;
esac

status=0
build/gpu/tests/gpu/gpu_which || status=$?
case $status in
0) ;;
77) echo "no GPU here: built, not run" && exit 0 ;;
*)
    echo "built, but what is here cannot be used: see the line above"
    echo "(a driver that is older than the toolkit wants another toolkit: CUDA_HOME)"
    exit 1
    ;;
esac
if [ "$job" = test ]; then
    exec ctest --test-dir build/gpu -L '^gpu$' --no-tests=error \
        --output-on-failure
fi
build/gpu/bench/gpu/bench_gpu build/bench-gpu.tsv
if command -v python3 > /dev/null; then
    python3 bench/gpu/torch_rows.py build/bench-gpu.tsv build/gpu/libgnomon.so \
        build/gpu/bench/gpu/libbench_gpu_nvtx_tool.so
else
    echo "no python3 here: no rows of PyTorch's"
fi
echo "build/bench-gpu.tsv has the table"
