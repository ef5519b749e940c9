#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# run.sh GO SOURCE INCLUDE LIBRARY FOLDER: builds the Go program without network, and runs
# it without $GNOMON and with GNOMON=simple. Scopes inside one call of C, and ranges, must
# be counted exactly. A scope whose goroutine moved is counted, or reported as foreign.
set -eu
go=$1 source=$2 include=$3 library=$4 folder=$5
mkdir -p "$folder"
cd "$folder"
export GOCACHE="$folder/cache" GOFLAGS=-mod=mod GO111MODULE=off GOTOOLCHAIN=local
# Go does not notice that the library changed. Its checksum in the flags makes Go build
# again.
sum=$(cksum < "$library")
export CGO_CFLAGS="-O2 -I$include -DLIBRARY=${sum%% *}" CGO_LDFLAGS="$library -ldl -lpthread -lm"
"$go" build -o host "$source" > build.log 2>&1 || { cat build.log; exit 1; }
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
for row in "whole call:96000" "range:32000"; do
    [ "$(calls "${row%:*}")" = "${row#*:}" ] || fail "$row"
done
wandered=$(calls wandering)
foreign=$(sed -n 's/.*gnomon: \([0-9]*\) .*foreign.*/\1/p' err)
echo "wandering: $wandered of 32000 counted, foreign: ${foreign:-0}"
[ $((wandered + ${foreign:-0})) -eq 32000 ] || fail "wandering: not each once"
