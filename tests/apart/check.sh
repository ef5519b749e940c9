#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# check.sh FOLDER PROGRAMS
#
# FOLDER has the library without reports, and the reports. PROGRAMS are linked to today's
# library. With both libraries they print the same as with that one; with the first alone
# they know no report, and record all the same.
set -eu
folder=$1 programs=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/alone" "$work/both"
cp -P "$folder"/libgnomon.so* "$work/alone/"
cp -P "$folder"/lib*.so* "$work/both/"
cd "$work"
fail() { echo "$*"; exit 1; }

record() { # libraries, $GNOMON
    LD_LIBRARY_PATH=$1 GNOMON=$2 "$programs/host" stage=fit scope=forward start=loss \
        stop=loss step start=optimizer scope=forward stop=optimizer step end 2>&1
}
report() { # libraries, reports
    libraries=$1
    shift
    LD_LIBRARY_PATH=$libraries "$programs/reports" p.gnomon "$@" 2>&1
}

record alone simple | grep -q "unknown profiler 'simple'" || fail "nothing is said"
LD_LIBRARY_PATH=alone "$programs/registered" > /dev/null || fail "own profilers fail"
record both simple | grep -q '^| *optimizer' || fail "no report of a run"
record both 'profile(file=p.gnomon,events)' > said || fail "no profile: $(cat said)"
for name in simple advanced tree regions links counters steps gaps critical cuda gpu \
    kernels chrome; do
    ! report alone $name > /dev/null || fail "$name is in the library without reports"
    report "" $name > today || fail "$name: $(cat today)"
    [ -s today ] || fail "$name is empty"
    report both $name > apart || fail "$name: $(cat apart)"
    cmp today apart || fail "$name is another one"
done
