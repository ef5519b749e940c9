#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# run.sh PROGRAMS MODULE: runs a new server with the marked extension, with
# GNOMON=simple,fork=follow and a socket in a folder of its own. Each connection must write
# a correct report of its own, and the server must work as it does without gnomon.
set -eu
programs=$1 module=$2
work=$(mktemp -d /tmp/gnomon-pg-XXXXXX)
user=
trap 'status=$?; stop || :; rm -rf "$work"; exit $status' EXIT

# The server refuses to run as root.
as() { "$@"; }
if [ "$(id -u)" -eq 0 ]; then
    user=$(getent passwd postgres nobody | head -n 1 | cut -d : -f 1)
    [ -n "$user" ] && command -v setpriv > /dev/null ||
        { echo "skipped: no other user to be"; exit 0; }
    as() { setpriv --reuid "$user" --regid "$(id -g "$user")" --clear-groups "$@"; }
    chown "$user" "$work"
fi
cd "$work"
cp "$module" marked.so
chmod a+r marked.so

stop() {
    [ -f data/postmaster.pid ] || return 0
    as "$programs/pg_ctl" -D data -m fast -w stop > stop.log 2>&1
}
fail() {
    echo "FAILED: $*"
    tail -n 40 server.log reports/* 2> /dev/null
    exit 1
}
sql() { as "$programs/psql" -X -q -A -t -h "$work" -p 54329 -U tester "$@" postgres; }
# await FILE: waits at most 20 seconds. A report is renamed when it is complete.
await() {
    try=0
    while [ ! -f "$1" ] && [ $((try += 1)) -le 100 ]; do sleep 0.2; done
}
# calls FILE ROW: prints how often ROW was called.
calls() { awk -F'|' -v row="$2" '{ gsub(/[ \t]/, "", $2) } $2 == row { print $4 + 0 }' "$1"; }

as "$programs/initdb" -D data -U tester -A trust --no-sync > init.log 2>&1 ||
    { cat init.log; fail "initdb"; }
cat >> data/postgresql.conf <<EOF
listen_addresses = ''
unix_socket_directories = '$work'
port = 54329
shared_preload_libraries = '$work/marked'
fsync = off
EOF
mkdir reports
chmod a+rwx reports
as env GNOMON="simple,fork=follow,file=$work/reports/%p" \
    "$programs/pg_ctl" -D data -l server.log -w start > start.log 2>&1 ||
    { cat start.log; fail "the server does not start"; }
sql -c "create function marked_sum(int) returns bigint
        as '$work/marked', 'marked_sum' language c strict"

# Connections one after the other, each with its own pid and report.
for n in 10 200 3000; do
    out=$(sql -c "select pg_backend_pid()" -c "select marked_sum($n)" \
        -c "select marked_sum($n)")
    pid=$(echo "$out" | sed -n 1p)
    [ "$(echo "$out" | sed -n 3p)" -eq $((n * (n + 1) / 2)) ] || fail "sum $n"
    await "reports/$pid" # the server answers before its end
    [ "$(calls "reports/$pid" call)" = 2 ] || fail "calls of $pid"
    [ "$(calls "reports/$pid" add)" = $((2 * n)) ] || fail "adds of $pid"
    [ -z "$(calls "reports/$pid" init)" ] || fail "$pid has the server's rows"
done

# Errors leave scopes by longjmp. What follows must be counted correctly.
out=$(sql -c "select pg_backend_pid()" -c "select marked_sum(-1)" \
    -c "select marked_sum(5)" 2> errors) || :
grep -q "nothing to add" errors || fail "the error"
# A process that is asked to end (SIGTERM, which the server handles).
sql -c "select pg_backend_pid()" -c "select marked_sum(7)" \
    -c "select pg_sleep(60)" > sleeper 2>&1 &
for try in $(seq 100); do
    pid=$(sed -n 1p sleeper 2> /dev/null) || : # it may not exist yet
    [ -n "$pid" ] && [ "$(wc -l < sleeper)" -ge 2 ] && break
    sleep 0.2
done
sql -c "select pg_terminate_backend($pid)" > /dev/null
wait
grep -q "terminating connection" sleeper || fail "it was not told to end"
await "reports/$pid"
[ "$(calls "reports/$pid" add)" = 7 ] || fail "the report of a backend told to end"

server=$(head -n 1 data/postmaster.pid)
stop || fail "the server does not stop"
[ ! -f data/postmaster.pid ] || fail "the server did not stop"
await "reports/$server" # the file of its pid goes first
[ "$(calls "reports/$server" init)" = 1 ] || fail "the server's own report"
! grep -Eq "PANIC|FATAL: *(could|terminated)|signal 11|signal 6" server.log || fail "the log"
echo "ok: $(find reports -type f | wc -l) reports"
