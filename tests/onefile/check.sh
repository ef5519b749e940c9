#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# check.sh CASE COMPILER ONEFILE SOURCE NVTX
# Builds app.c and gnomon.c, of the folder ONEFILE, as hosts do, and runs them.
#
#   lto      as gnu11, hidden, optimized at link time, of one object by clang: a `plain`
#            program for one address with -fno-plt, and a library, which exports the
#            public names, no other. Only what links the library optimizes. gcc has such
#            a library in consumer.onefile, where its optimizer shows its warnings; here
#            it only reads the file. If GNOMON_SOAK is set gcc builds the program, clang's
#            optimizer gets that library whole, and both compile a program at -O3, as gnu17
#   program  as gnu17, for one address, with a plugin that it loads; a static one
#            loads none, and says so
#   late     a library that has gnomon.c, loaded with dlopen; exports the same. As C11
#            with the headers of NVTX in the folder NVTX, if there are any; then
#            the profiler nvtx finds no tool, else it is not in this build
#   both     program and late of one pair of objects, as late has them: by gcc, with
#            glibc's headers and with musl's
#
# Every warning is an error. Each compiler takes the file once as C11 and gnu11, once
# with NVTX, and once `plain`; clang also as gnu17, which gcc does in consumer.onefile.
set -eu
case=$1 cc=$2 onefile=$3 source=$4 nvtx=${5:-}
tests=$source/tests/onefile
export CCACHE_DISABLE=1
unset GNOMON

command -v "$cc" > /dev/null || { echo "skipped: no $cc here"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "$*"; exit 1; }
build() { # OUTPUT FLAGS...
    out=$1
    shift
    "$cc" -I"$onefile/include" "$@" -o "$work/$out"
}
objects() { # FLAGS...: gnomon.o and app.o, for more than one output
    build gnomon.o "$@" -c "$onefile/gnomon.c"
    build app.o "$@" -c "$tests/app.c"
}

# The table of `simple` holds every mark.
counted() { # NAME CALLS
    awk -F '|' -v name="$1" -v calls="$2" '
        { gsub(/[ \t]/, "", $2); gsub(/[ \t]/, "", $4) }
        $2 == name { found = $4 == calls } END { exit !found }' "$work/report"
}
reported() { # COMMAND...
    "$@" > "$work/said" 2> "$work/report" || {
        cat "$work/report"
        fail "$*: status $?"
    }
    counted work 4000 && counted inner 4000 && counted step 3 || {
        cat "$work/report"
        fail "$*: not all marks are in its report"
    }
}
quiet() { # COMMAND...: off is silent
    "$@" 2> "$work/report" > "$work/said" || fail "$*: status $?"
    [ ! -s "$work/report" ] || fail "$*: $(cat "$work/report")"
}
runs() { # FLAGS...: a program of these
    build app "$@"
    quiet "$work/app"
    GNOMON=simple reported "$work/app"
}
exports() { # FILE: what a library with gnomon.c shows. GNU ld lists hidden names too
    readelf -W --dyn-syms "$1" | awk '$7 ~ /^[0-9]/ && $6 != "HIDDEN" { print $8 }' |
        sort > "$work/found"
    grep -v '^#' "$source/tests/symbols.txt" | cut -d ' ' -f 1 | sort |
        diff -u - "$work/found" || fail "- wanted, + exported"
}
says_of_nvtx() { # WORDS: in one line
    GNOMON=nvtx "$work/app" > "$work/said" 2> "$work/report" ||
        fail "status $?"
    [ "$(wc -l < "$work/report")" = 1 ] &&
        grep -q "^gnomon: nvtx: $1" "$work/report" ||
        fail "$(cat "$work/report")"
}
has_nvtx= says='not in this build: '
if [ -n "$nvtx" ]; then
    has_nvtx="-DGNOMON_WITH_NVTX=1 -isystem $nvtx" says='no tool listens'
else
    echo "no headers of NVTX"
fi
loads_a_plugin() { # FLAGS...
    build plugin.so "$@" -fPIC -shared -I"$source/src" \
        "$source/src/profilers/simple.c" "$source/src/print/"*.c -lm
    GNOMON=$work/plugin.so reported "$work/app"
}
static_loads_none() {
    runs -static "$work/gnomon.o" "$work/app.o"
    GNOMON=$work/plugin.so "$work/app" > "$work/said" 2> "$work/report" ||
        fail "a plugin that cannot be had harms the host"
    grep -q '^gnomon: .*plugin.so is not loaded: .* linked statically' \
        "$work/report" || fail "$(cat "$work/report")"
}
is_loaded_late() { # FLAGS...: of $work/gnomon.o
    build app.o "$@" -Dmain=app_main -Wno-missing-prototypes -c "$tests/app.c"
    build lib.so -shared "$work/gnomon.o" "$work/app.o"
    if readelf -d "$work/lib.so" | grep STATIC_TLS; then
        fail "the library wants room beside the threads of the start"
    fi
    build app -O0 "$tests/late.c" -ldl
    quiet "$work/app" "$work/lib.so"
    GNOMON=simple reported "$work/app" "$work/lib.so"
}
all="$onefile/gnomon.c $tests/app.c"
errors="-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes
    -Wmissing-prototypes -Wundef -Wcast-qual -Wpointer-arith -Wvla
    -Wwrite-strings -Wformat=2 -Wdouble-promotion -Werror"
# gcc reads so large a file again for each line of it; clang tells the same.
[ "$cc" = clang ] || [ -n "${GNOMON_SOAK:-}" ] ||
    errors="$errors -Wno-misleading-indentation"
# Without mimalloc, and where programs have a stream for each thread.
plain='-DGNOMON_WITH_MIMALLOC=0 -DCUDA_API_PER_THREAD_DEFAULT_STREAM'

# shellcheck disable=SC2086 # words
case $case in
lto)
    hidden='-flto -fvisibility=hidden -std=gnu11'
    if [ -n "${GNOMON_SOAK:-}" ]; then
        runs -O3 -std=gnu17 -fno-pie -no-pie $errors $all
    elif [ "$cc" != clang ]; then
        build none -fsyntax-only $hidden $plain $errors "$onefile/gnomon.c"
        exit 0
    fi
    level=-O1 position=-fno-pie
    [ "$cc" != clang ] || level=-O0 position=-fPIC
    objects $level $hidden -fno-plt $position $plain $errors
    runs $level $hidden -fno-plt -no-pie $errors "$work/gnomon.o" "$work/app.o"
    [ "$cc" = clang ] || exit 0
    [ -z "${GNOMON_SOAK:-}" ] ||
        build gnomon.o -Os $hidden -fPIC -c "$onefile/gnomon.c"
    build lib.so -O1 $hidden -shared "$work/gnomon.o"
    exports "$work/lib.so"
    runs -O0 "$tests/app.c" "$work/lib.so" "-Wl,-rpath,$work"
    ;;
program)
    flags="-O0 -std=gnu17 -fno-pie $errors"
    [ "$cc" != clang ] || flags="$flags $plain"
    objects $flags
    runs -no-pie "$work/gnomon.o" "$work/app.o"
    loads_a_plugin -O0 -std=gnu17
    says_of_nvtx 'not in this build: '
    static_loads_none
    # A C++ compiler says what to do, and nothing else.
    if c++ -fsyntax-only -I"$onefile/include" -x c++ "$onefile/gnomon.c" \
        2> "$work/report"; then fail "a C++ compiler takes gnomon.c"; fi
    grep -q 'gnomon.c is C: ' "$work/report" &&
        [ "$(grep -c error "$work/report")" -le 2 ] ||
        fail "$(head "$work/report")"
    ;;
late)
    flags="-std=c11 -O0 -fPIC $errors $has_nvtx"
    objects $flags
    runs "$work/gnomon.o" "$work/app.o"
    says_of_nvtx "$says"
    build lib.so -shared "$work/gnomon.o"
    exports "$work/lib.so"
    is_loaded_late $flags
    ;;
both)
    flags="-std=c11 -O0 -fPIC $errors $has_nvtx"
    objects $flags
    runs "$work/gnomon.o" "$work/app.o"
    says_of_nvtx "$says"
    # musl's start files show names of their own.
    if [ "$cc" != musl-gcc ]; then
        build lib.so -shared "$work/gnomon.o"
        exports "$work/lib.so"
    fi
    loads_a_plugin -O0 -std=c11 -D_GNU_SOURCE
    static_loads_none
    is_loaded_late $flags
    ;;
*) fail "no case $case" ;;
esac
