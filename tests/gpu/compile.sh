#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# compile.sh SOURCE [NVCC]: compiles what needs NVIDIA's compiler or headers, for
# one kind of GPU. 77: there is no nvcc.
set -u
source=$1 nvcc=${2:-}
if [ ! -x "$nvcc" ]; then
    echo "skipped: no nvcc"
    exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

compile() {
    "$nvcc" -arch=sm_80 -O1 -c -o out.o -D_GNU_SOURCE -I"$source/include" \
        -I"$source/bench" -I"$source/tests/gpu" -DBENCH_LINKAGE='""' \
        -DTRAIN_GPT='""' -DTRAIN_GPT_CUDA='""' \
        -Xcompiler=-Wall,-Wextra,-Werror "$1"
}

echo '#include <cublas_v2.h>' > cublas.c
compile cublas.c 2> /dev/null && has_cublas=1 || has_cublas=
status=0
for file in $(find "$source/tests/gpu" "$source/bench/gpu" \
    "$source/examples/train_gpt_cuda" -name '*.c' -o -name '*.cu') \
    "$source/examples/08_cuda_timer.c"; do
    case $has_cublas$file in
    */train_gpt_cuda/*.cu | 1*) ;;
    */train_gpt_cuda/*.c | */test_gemm.c)
        echo "not compiled, no cuBLAS: $file"
        continue
        ;;
    esac
    echo "$file"
    compile "$file" || status=1
done
exit "$status"
