#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# check.sh rooms|licence|statics|clocks ROOT
# check.sh calls|circles|process ROOT NM OBJECTS
#
#   rooms    a room of src/ includes itself, the rooms to its left and public
#            headers; src/print, src/export and src/profilers, which plugins are
#            made of, themselves, those two, platform/order.h and platform/out.h,
#            which need libc alone, and public headers only; src/inject, beside
#            the library, itself, platform and public headers only; src/malloc also mark and run
#   calls    what an object of the library or the program needs of another one lies in
#            its own room or to its left: the same order, as the linker sees it. The
#            exception are the functions of mark/upcall.h, which `run` defines, and the
#            table of run/host.h. OBJECTS lists the object files, each on a line
#   circles  nor do the files of one room need each other in a circle
#   licence  each source file says its licence in its first two lines
#   statics  no two files of the library have a static variable of one name: in the
#            one file of `make onefile` they would be one variable, and where their
#            types are the same no compiler minds
#   process  a forked child begins each variable anew that is marked GNOMON__OF_PROCESS;
#            outlive.txt lists the others, and says why
#   clocks   no wait until a moment of the real-time clock, which somebody may set:
#            that clock is for the times of files and of the run's begin alone
#
# ROOT may be the word "broken": then a house is made that breaks every rule,
# and the check must find each of the planted faults.
set -eu
rule=$1 root=$2 nm=${3:-} objects=${4:-}
rooms="platform spec ops profile mark record device print export profilers run memory command advice page merge diff report nsys cli malloc inject"

# Public headers are named with quotes, the system's with brackets.
check_rooms() {
    awk -v rooms="$rooms" '
    BEGIN {
        for (n = split(rooms, room); n; n--) position[room[n]] = n
        position["gnomon"] = position["gnomon.h"] = 0
        apart["print"] = " print "
        apart["export"] = apart["profilers"] = " print export "
        apart["inject"] = " platform ops "
        apart["malloc"] = " platform mark run "
        apart["memory"] = " platform print profile "
    }
    FNR == 1 {
        split(FILENAME, part, "/")
        mine = part[2]
        if (!(mine in position)) print FILENAME ": src/README.md knows no room " mine
    }
    !/^ *# *include *[<"]/ { next }
    /^ *# *include *"/ {
        split($0, quoted, "\"")
        to = quoted[2]
        sub(/\/.*/, "", to)
        fits = to in position && position[to] <= position[mine]
        if (mine in apart && to in position && position[to] && to != mine)
            fits = index(apart[mine], " " to " ") || quoted[2] ~ /^platform\/(order|out)\.h$/
        if (!fits) print FILENAME " includes " quoted[2]
        next
    }
    /<gnomon[.\/]/ {
        split($0, bracketed, /[<>]/)
        print FILENAME " includes with brackets: " bracketed[2]
    }' src/*/*.[ch]
}

check_calls() {
    check_symbols 0
}

check_circles() {
    check_symbols 1
}

# Of lines as those of `nm -A -P`: "PATH/src/ROOM/FILE.c.o: SYMBOL TYPE ...".
check_symbols() {
    if [ -f symbols ]; then cat symbols; else xargs "$nm" -A -P < "$objects"; fi |
        awk -v rooms="$rooms" -v inside="$1" '
        BEGIN { for (n = split(rooms, room); n; n--) position[room[n]] = n }
        {
            file = $1
            sub(/:$/, "", file)
            sub(/.*\/src\//, "", file)
            sub(/\.o$/, "", file)
            if ($3 == "U") needs[file, $2] = 1
            else if ($3 ~ /[A-Z]/) home[$2] = file
        }
        END {
            for (need in needs) {
                split(need, part, SUBSEP)
                from = part[1]; to = home[part[2]]
                if (to == "" || part[2] ~ /^gnomon__upcall_/) continue
                split(from, a, "/"); split(to, b, "/")
                if (!inside && position[b[1]] > position[a[1]])
                    print from ": needs " part[2] " of " to
                if (inside && from != to && a[1] == b[1])
                    edge[from, to] = 1
            }
            # A file that needs no remaining file, or that none needs, is in no circle.
            do {
                split("", needy); split("", needed)
                for (e in edge) { split(e, part, SUBSEP); needy[part[1]] = needed[part[2]] = 1 }
                gone = 0
                for (e in edge) {
                    split(e, part, SUBSEP)
                    if (!(part[2] in needy) || !(part[1] in needed)) { delete edge[e]; gone = 1 }
                }
            } while (gone)
            for (e in edge) {
                split(e, part, SUBSEP)
                print part[1] ": needs " part[2] ", in a circle"
            }
            if (NR < 9) print "these are not the symbols of the library"
        }'
}

check_licence() {
    find src include tests examples bench cmake bindings \
        '(' -name '*.[ch]' -o -name '*.cc' -o -name '*.[ch]pp' -o -name '*.cu' \
        -o -name '*.f90' \
        -o -name '*.sh' -o -name '*.py' -o -name '*.cmake' -o -name CMakeLists.txt ')' \
        -exec awk '
        function told() { if (file && !found) print file ": no licence line" }
        FNR == 1 { told(); file = FILENAME; found = 0 }
        FNR <= 2 && /SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception/ {
            found = 1
        }
        END { told() }' {} +
}

check_statics() {
    find src -name '*.c' ! -path 'src/command/*' ! -path 'src/advice/*' ! -path 'src/page/*' ! -path 'src/merge/*' \
        ! -path 'src/diff/*' ! -path 'src/report/*' ! -path 'src/nsys/*' ! -path 'src/cli/*' \
        ! -path 'src/inject/*' -exec awk '
        /^static / && !/^static inline/ {
            line = $0
            sub(/( GNOMON__TLS| GNOMON__OF_PROCESS|[=;[{]).*/, "", line)
            if (line ~ /[()]/) next
            count = split(line, part, ",")
            for (i = 1; i <= count; i++) {
                sub(/ *$/, "", part[i])
                sub(/.*[ *]/, "", part[i])
                if (part[i] != "struct") print part[i], FILENAME
            }
        }' {} + | sort -u | awk '
        $1 == last { print $2 ": static " $1 ", as in " file }
        { last = $1; file = $2 }'
}

# Of lines as those of `nm -A -f sysv`: "PATH/src/ROOM/FILE.c.o:NAME|..|TYPE|..|..|..|SECTION".
check_process() {
    if [ -f variables ]; then cat variables; else
        grep gnomon_objects.dir "$objects" | xargs "$nm" -A -f sysv
    fi | awk -F '|' -v list=tests/structure/outlive.txt '
        BEGIN {
            while ((getline line < list) > 0) {
                count = split(line, word, " ")
                if (word[1] == "#") continue
                if (word[1] != "...") file = word[1]
                for (i = 2; i <= count && word[i - 1] !~ /:$/; i++) {
                    name = word[i]
                    sub(/:$/, "", name)
                    listed[file, name] = 1
                }
            }
        }
        { gsub(/ /, "") }
        $3 !~ /[bdBD]/ || $7 !~ /^\.(data|bss)/ || $7 ~ /rel\.ro/ { next }
        {
            seen++
            sub(/.*\/src\//, "", $1)
            file = name = $1
            sub(/\.c\..*/, ".c", file)
            sub(/.*:/, "", name)
            sub(/\.[0-9]+$/, "", name) # what compilers add to names of functions
            sub(/.*\./, "", name)
            if (!((file, name) in listed)) print file ": " name " outlives a fork, and nobody says why"
        }
        END { if (seen < 3) print "these are not the symbols of the library" }'
}

check_clocks() {
    grep -rnE 'sem_timedwait|_timedlock|_timed(rd|wr)lock|mq_timed|CLOCK_REALTIME' \
        src --include='*.[ch]' |
        grep -v '^src/platform/os_linux.c:.*read_clock(CLOCK_REALTIME)' || :
    grep -rlE 'pthread_cond_timedwait|cnd_timedwait' src --include='*.c' |
        while read -r file; do
            grep -q 'pthread_condattr_setclock(.*CLOCK_MONOTONIC)' "$file" ||
                echo "$file: waits by the real-time clock"
        done
}

if [ "$root" != broken ]; then
    cd "$root"
    [ -n "$(find src -name '*.c')" ] || { echo "nothing to check"; exit 1; }
    faults=$(check_"$rule")
    [ -z "$faults" ] || { echo "$faults"; exit 1; }
    exit 0
fi

root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
cd "$root"
mkdir -p src/mark src/run src/print src/profilers src/inject src/attic include tests examples \
    bench cmake bindings
echo '#include "run/run.h"' > src/mark/up.c
echo '#include "mark/tree.h"' > src/profilers/private.c
echo '#include "platform/os.h"' > src/print/private.c
echo '#include "mark/tree.h"' > src/inject/private.c
echo '  #  include "nowhere.h"' > src/run/lost.c
echo '#include <gnomon.h>' > src/run/brackets.c
echo '#include "gnomon.h"' > src/attic/room.c
cat > symbols << 'END'
b/src/mark/up.c.o: gnomon__view_find U
b/src/mark/up.c.o: gnomon__upcall_start U
b/src/mark/up.c.o: memcpy U
b/src/mark/up.c.o: own_table d 0 8
b/src/run/view.c.o: gnomon__view_find T 0 8
b/src/run/view.c.o: gnomon__upcall_start T 8 8
b/src/run/view.c.o: gnomon__tree_find U
b/src/mark/tree.c.o: gnomon__tree_find T 0 8
b/src/mark/tree.c.o: gnomon__views U
b/src/run/snapshots.c.o: gnomon__views B 0 8
b/src/mark/near.c.o: gnomon__near T 0 8
b/src/mark/near.c.o: gnomon__far U
b/src/mark/far.c.o: gnomon__far T 0 8
b/src/mark/far.c.o: gnomon__near U
b/src/mark/above.c.o: gnomon__above T 0 8
b/src/mark/above.c.o: gnomon__tree_find U
b/src/run/view.c.o: gnomon__run_record U
b/src/run/snapshots.c.o: gnomon__run_record T 8 8
b/src/run/snapshots.c.o: gnomon__view_find U
END
cat > variables << 'END'
b/src/mark/kept.c.o:kept|0|b|OBJECT|4||.bss
b/src/mark/kept.c.o:is_told.0|0|b|OBJECT|4||.bss
b/src/mark/kept.c.o:zeroed|0|d|OBJECT|4||gnomon_process
b/src/mark/kept.c.o:table|0|d|OBJECT|4||.data.rel.ro.local
b/src/mark/forgotten.c.o:kept|0|D|OBJECT|4||.data
END
mkdir -p tests/structure
echo 'mark/kept.c kept: it is kept' > tests/structure/outlive.txt
echo '... is_told: it is kept too' >> tests/structure/outlive.txt
echo 'static unsigned one, two_of_them;' > src/mark/two.c
echo 'static unsigned two_of_them;' > src/run/two.c
echo 'sem_timedwait(&bell, &until);' >> src/run/two.c
echo 'clock_gettime(CLOCK_REALTIME, &until);' >> src/mark/two.c
echo 'pthread_cond_timedwait(&bell, &lock, &until);' >> src/mark/two.c
check_"$rule" > faults
case $rule in
rooms) want=7 ;;
calls) want=2 ;;
circles) want=4 ;;
licence) want=9 ;;
statics) want=1 ;;
clocks) want=3 ;;
process) want=1 ;;
esac
found=$(wc -l < faults)
cat faults
echo "$found of $want planted faults found"
[ "$found" -eq "$want" ]
