#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# check.sh NONE HOST SPEC: whether HOST ends with status 0 under $GNOMON, in which @
# stands for a file of the test's own. NONE is the same host without the library:
# where that fails, this machine cannot search for leaks.
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
unset GNOMON
LSAN_OPTIONS=exitcode=23
export LSAN_OPTIONS
if ! "$1" >out 2>&1; then
    echo "skipped: the leak sanitizer does not run here"
    cat out
    exit 77
fi
if "$1" leak >out 2>&1; then
    echo "skipped: the leak sanitizer finds no leak here"
    exit 77
fi
for way in "" stages thread teardown detach forks; do
    GNOMON=$(printf '%s' "$3" | sed "s|@|$folder/kept|") "$2" $way >out 2>&1
    code=$?
    if [ $code != 0 ]; then
        echo "status $code, way '$way':"
        cat out
        exit 1
    fi
done
