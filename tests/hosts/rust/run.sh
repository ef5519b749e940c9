#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# run.sh RUSTC SOURCE LIBRARY FOLDER: builds the Rust program, and runs it without $GNOMON
# and with GNOMON=simple. Each scope must be counted, also those that a panic leaves.
set -eu
rustc=$1 source=$2 library=$3 folder=$4
mkdir -p "$folder"
cd "$folder"
"$rustc" -O -C link-arg="$library" -l dl -l pthread -l m -o host "$source" \
    > build.log 2>&1 || { cat build.log; exit 1; }
fail() {
    echo "FAILED: $*"
    cat out err
    exit 1
}
# calls ROW: prints how often ROW was called.
calls() { awk -F'|' -v row="$1" '{ gsub(/^[ \t]+|[ \t]+$/, "", $2) } $2 == row { print $4 + 0 }' err; }

./host > out 2> err || fail "off: $?"
[ "$(cat out)" = done ] && [ ! -s err ] || fail "off: it says more"
GNOMON=simple ./host > out 2> err || fail "simple: $?"
[ "$(cat out)" = done ] || fail "simple: not done"
for row in outer inner "by name"; do
    [ "$(calls "$row")" = 16000 ] || fail "$row"
done
