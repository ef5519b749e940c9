#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# planted.sh RUNNER: faults in cases, each of which the runner must report by a failure
# and this line; and what --write makes of them.
set -u
runner=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
failures=0

fail() {
    failures=$((failures + 1))
    echo "$1"
    cat case.txt out
}

# reports LINE: the runner fails on case.txt, with a line that contains this.
reports() {
    "$runner" case.txt > out 2>&1
    [ $? = 1 ] || fail "no failure: $1"
    grep -q -e "$1" out || fail "not reported: $1"
}

# Each case is of standard input.
cat > right <<'END'
A sentence.
=== file p.gnomon n=3
{"gnomon": 1, "stages": [{"name": "fit", "end_ns": 9000}],
 "tracks": [{"name": "main"}], "regions": [{"name": "step"}],
 "nodes": [{"track": 1, "stage": 1, "region": 1, "host": $took(n of 5)}]}
=== run fail=each $G report --as regions --columns calls p.gnomon
FIT Regions

Action  Calls
step        3
=== # Both streams, and the status.
=== run echo text; printf 'no end' >&2; exit 3
text
=== error
no end
\ No newline at end
=== status 3
END
cp right case.txt
"$runner" case.txt > out 2>&1
status=$?
[ $status != 77 ] || { cat out; exit 77; }
[ $status = 0 ] || fail "the right case fails"

sed 's/step        3/step        4/' right > case.txt
reports '^+step        3$'
sed 's/^text$//' right > case.txt
reports '^+text$'
sed 's/^no end$/another end/' right > case.txt
reports '^-another end$'
sed '/=== error/,/newline/d' right > case.txt
reports '^+=== error$'
sed 's/=== status 3/=== status 4/' right > case.txt
reports '^+=== status 3$'
sed '/=== status/d' right > case.txt
reports '^+=== status 3$'
sed 's/n=3//' right > case.txt
reports 'case.txt:2: .*number'
sed 's/"tracks":/tracks:/' right > case.txt
reports 'no profile: '
sed 's/file p.gnomon/file q.gnomon/' right > case.txt
reports 'p.gnomon: No such file'
printf '=== file a from nowhere\n' > case.txt
reports 'no such file: nowhere'
printf '=== ran x\n' > case.txt
reports 'is missing: ran x'
printf '=== run echo "=== run"\n' > case.txt
reports 'a line of the output begins with'
printf '=== run kill -SEGV $$\n' > case.txt
reports '^+=== status 267$'
: > case.txt
reports 'no command'

# What fails only where an allocation does.
for later in crash:'signal 6' exit:'status 2' other:other; do
    sed "s|^=== run fail.*|=== run fail=each \$G report --as \
\"\$B/plugins/changing.so(later=${later%:*})\" p.gnomon|" right |
        sed '/^FIT/,/^step/d; s/^=== # Both/first\n&/' > case.txt
    reports 'fail=each: allocation [0-9]* fails: '
    grep -q "${later#*:}" out || fail "not reported: $later"
done

# Written anew the wrong one is right.
sed 's/step        3/step        4/; /^text$/d; /=== status/d' right > case.txt
"$runner" --write case.txt > out 2>&1 || fail "--write fails"
cmp -s right case.txt || fail "--write: another text"
[ $failures = 0 ]
