#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# check.sh CASE COMPILER ONEFILE SOURCE NVTX
# Builds app.c and gnomon.c, of the folder ONEFILE, as hosts do, and runs them.
#
#   strict   as C11, gnu11 and gnu17, every warning an error, and run. gcc's
#            optimizer, which finds some of them, gets it once, at -O3; clang
#            finds all of its own without one
#   lto      hidden, link-time optimization; a program with -fno-plt, and a
#            library, which exports the public names, no other. That takes the
#            optimizer 10 s: gcc's has the program, clang's the library
#   program  with a plugin that it loads; a static one loads none, and says so
#   late     a library that has gnomon.c, loaded with dlopen; exports the same. As C11
#            with the headers of NVTX in the folder NVTX, if there are any; then
#            the profiler nvtx finds no tool, else it is not in this build
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
exports() { # FILE: what a library with gnomon.c shows
    nm -D --defined-only "$1" | sed 's/.* //' | sort > "$work/found"
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
all="$onefile/gnomon.c $tests/app.c"
errors="-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes
    -Wmissing-prototypes -Wundef -Wcast-qual -Wpointer-arith -Wvla
    -Wwrite-strings -Wformat=2 -Wdouble-promotion -Werror"
# Without mimalloc, and where programs have a stream for each thread.
plain="-std=gnu11 -fPIC -DGNOMON_WITH_MIMALLOC=0
    -DCUDA_API_PER_THREAD_DEFAULT_STREAM"

# shellcheck disable=SC2086 # words
case $case in
strict)
    if [ "$cc" = gcc ]; then
        level=-O3
        # As C11 `late` is compiled. Not told here: functions that nobody uses.
        "$cc" -I"$onefile/include" -fsyntax-only $errors $plain $all
    else
        level=-O0
        runs $errors -O0 -std=c11 $all
        runs $errors -O0 $plain $all
    fi
    runs $errors $level -std=gnu17 -fno-pie -no-pie $all
    ;;
lto)
    hidden='-flto -fvisibility=hidden -std=gnu11'
    of_app=-O1 of_library=-O0
    [ "$cc" != clang ] || of_app=-O0 of_library=-Os
    runs $of_app $hidden -fno-plt $errors $all
    build lib.so $of_library $hidden -fPIC -shared "$onefile/gnomon.c"
    exports "$work/lib.so"
    runs -O1 "$tests/app.c" "$work/lib.so" "-Wl,-rpath,$work"
    ;;
program)
    objects -O0 -std=gnu11 $errors
    runs "$work/gnomon.o" "$work/app.o"
    build plugin.so -O2 -std=gnu11 -fPIC -shared \
        -I"$source/src" "$source/src/profilers/simple.c" "$source/src/print/width.c" "$source/src/print/letters.c"
    GNOMON=$work/plugin.so reported "$work/app"
    says_of_nvtx 'not in this build: '
    runs -static "$work/gnomon.o" "$work/app.o"
    GNOMON=$work/plugin.so "$work/app" > "$work/said" 2> "$work/report" ||
        fail "a plugin that cannot be had harms the host"
    grep -q '^gnomon: .*plugin.so is not loaded: .* linked statically' \
        "$work/report" || fail "$(cat "$work/report")"
    ;;
late)
    flags="-std=c11 -O0 -fPIC $errors" says='not in this build: '
    if [ -n "$nvtx" ]; then
        flags="$flags -DGNOMON_WITH_NVTX=1 -isystem $nvtx"
        says='no tool listens'
    else
        echo "no headers of NVTX"
    fi
    objects $flags
    runs "$work/gnomon.o" "$work/app.o"
    says_of_nvtx "$says"
    if [ "$cc" != musl-gcc ]; then # whose start files show names
        build lib.so -shared "$work/gnomon.o"
        exports "$work/lib.so"
    fi
    build app.o $flags -Dmain=app_main -Wno-missing-prototypes -c "$tests/app.c"
    build lib.so -shared "$work/gnomon.o" "$work/app.o"
    if readelf -d "$work/lib.so" | grep STATIC_TLS; then
        fail "the library wants room beside the threads of the start"
    fi
    build app -O2 "$tests/late.c" -ldl
    quiet "$work/app" "$work/lib.so"
    GNOMON=simple reported "$work/app" "$work/lib.so"
    ;;
*) fail "no case $case" ;;
esac
