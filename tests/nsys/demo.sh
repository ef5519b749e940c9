#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# demo.sh TRAIN_GPT GNOMON
# Trains the demo's model under Nsight Systems and under gnomon at once: the tool must
# have as many ranges of each name as the profiles have calls.
set -eu
train=$1 program=$2
unset GNOMON
here=$(cd "$(dirname "$0")" && pwd)
. "$here/nsys.sh"
command -v python3 > /dev/null || { echo "skipped: no python3"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
fail() { cat log; echo "$*"; exit 1; }

GNOMON='nvtx,simple,file=%s.gnomon' OMP_NUM_THREADS=1 nsys_profile "$train" \
    --epochs 2 --steps 20 --sample 0 --out out > log 2>&1 ||
    fail "$nsys profile: status $?"
nsys_tables >> log 2>&1 ||
    { echo "skipped: its exporter does not work here"; exit 77; }
for stage in fit validate; do
    "$program" report --as regions --columns name,calls --format csv \
        "$stage.gnomon" > "$stage.csv" 2>> log || fail "no report of $stage"
done
python3 "$here/compare.py" run.sqlite fit.csv validate.csv || fail "not equal"

# Releases before 2023 have the report under another name.
for report in nvtx_sum nvtxsum; do
    "$nsys" stats --report "$report" --format csv --force-export=false \
        run.sqlite > theirs.csv 2>> log && break
done
grep -q '^Time.*Range' theirs.csv ||
    { echo "nsys stats does not work here"; exit 0; }
"$program" nsys nvtx_sum --csv run.sqlite > ours.csv 2>> log ||
    fail "no report nvtx_sum"
python3 "$here/compare_stats.py" theirs.csv ours.csv || fail "nvtx_sum differs"
