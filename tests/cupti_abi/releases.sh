#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# releases.sh SOURCE CC CUDA_INCLUDE FOLDER: compares gnomon with releases of CUPTI
# (releases.txt): abi.c is compiled with the headers of each, and layouts.c run beside its
# library. Wheels are fetched from PyPI into FOLDER and stay there. 77: they cannot be.
set -u
source=$1 cc=$2 cuda=$3 folder=$4
here=$source/tests/cupti_abi
all=
[ -z "${GNOMON_SOAK:-}" ] || all=1

skip() {
    echo "skipped: CUPTI's wheels cannot be fetched: $1"
    exit 77
}

# fetch PACKAGE HASH FOLDER
fetch() {
    mkdir -p "$3" || exit 1
    echo "$1 --hash=sha256:$2" > "$3/requirements.txt"
    PIP_CONSTRAINT='' timeout 100 "$python" -m pip download --quiet --no-deps \
        --only-binary :all: --platform manylinux_2_25_x86_64 \
        --platform manylinux_2_17_x86_64 --platform manylinux2014_x86_64 \
        --platform manylinux1_x86_64 --require-hashes --timeout 10 --retries 1 \
        --disable-pip-version-check --dest "$3" -r "$3/requirements.txt" \
        > "$3/log" 2>&1 || skip "$1"
    "$python" -m zipfile -e "$3"/*.whl "$3/wheel" && rm -f "$3"/*.whl
    find "$3/wheel" -name '*.so*' ! -name 'libcupti.so.1*' -delete
}

# newest NAME HEADER: the type of the newest record of that name.
newest() {
    sed -n "s/^} *\(CUpti_Activity$1[0-9]*\);.*/\1/p" "$2" | sort -V | tail -n 1
}

# check PACKAGE FOLDER
check() {
    header=$(find "$2" -name cupti_activity.h)
    library=$(find "$2" -name 'libcupti.so.1*')
    is_12=0
    case $1 in *11.8*) ;; *) is_12=1 ;; esac
    echo "$1"
    set -- -std=gnu11 -w -isystem "$(dirname "$header")" -idirafter "$cuda" \
        "-I$source/src" "-I$source/include" "-I$source/tests"
    "$cc" "$@" -D IS_CUDA_12=$is_12 -fsyntax-only "$here/abi.c" || return 1
    "$cc" "$@" -D "KERNEL=$(newest Kernel "$header")" \
        -D "MEMCPY=$(newest Memcpy "$header")" \
        -D "PTOP=$(newest MemcpyPtoP "$header")" \
        -D "MEMSET=$(newest Memset "$header")" \
        -D "SYNC=$(newest Synchronization "$header")" \
        -D "OVERHEAD=$(newest Overhead "$header")" \
        -D "GRAPH=$(newest GraphTrace "$header")" -D IS_CUDA_12=$is_12 \
        "$here/layouts.c" "$source/src/device/cupti_records.c" -ldl \
        -o "$folder/layouts" || return 1
    # A library without a driver may do anything: CUPTI of 13.2 calls itself for ever.
    timeout 20 "$folder/layouts" "$library"
    code=$?
    [ $code -ge 124 ] || return $code
    echo "  its library fails without a driver"
    "$folder/layouts"
}

python=$(command -v python3) || skip "no python3"
status=0
while read -r mark package hash; do
    case $mark in
    '#') continue ;;
    '*') ;;
    *)
        hash=$package package=$mark
        [ -n "$all" ] || continue
        ;;
    esac
    at=$folder/${package##*==}
    [ -d "$at/wheel" ] || fetch "$package" "$hash" "$at"
    check "$package" "$at/wheel" || status=1
done < "$here/releases.txt"
exit "$status"
