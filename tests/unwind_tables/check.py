# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""check.py SOURCE STATIC-LIBRARY SHARED-LIBRARY [broken]

A thread may be cancelled at any instruction of a mark, and is then unwound by the
compiler's tables. This compares the tables with the code. The pushes, pops, adds and
subs on the path to an instruction give the distance from rsp to the frame, and the
table's row must say the same. A wrong row crashes the host.

It checks the functions of src/mark/ on x86-64 whose tables are relative to rsp. With
"broken" it changes one row of the tables, and must find it.
"""
import bisect
import glob
import os
import re
import subprocess
import sys

# Calls a loader's function by hand, once in a process, without unwind tables.
EXEMPT = {"gnomon__tls_far"}


def lines(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True,
                          env=dict(os.environ, LC_ALL="C")).stdout.splitlines()


def functions_of_marks(source, archive):
    """Names of the functions that the objects of src/mark/ have."""
    members = {os.path.basename(path) + ".o"
               for path in glob.glob(os.path.join(source, "src/mark/*.c"))}
    names = set()
    for line in lines("nm", "-A", archive):
        found = re.match(r".*:([^:]+):[0-9a-f]+ [tT] (\S+)$", line)
        if found and found[1] in members:
            names.add(found[2])
    return names


def instructions(library):
    code = {}
    for line in lines("objdump", "-d", "--no-show-raw-insn", library):
        found = re.match(r"\s+([0-9a-f]+):\s+(\S+)\s*(.*)", line)
        if found:
            code[int(found[1], 16)] = (found[2], found[3])
    return code


def tables(library):
    """start -> (end, rows); a row is an address and how far from the stack's pointer
    the frame lies; none of them where it is told another way."""
    all_tables, rows = {}, None
    for line in lines("readelf", "--debug-dump=frames-interp", library):
        head = re.search(r"FDE .*pc=([0-9a-f]+)\.\.([0-9a-f]+)", line)
        row = re.match(r"([0-9a-f]{16}) (\S+)", line)
        if head:
            rows = []
            all_tables[int(head[1], 16)] = (int(head[2], 16), rows)
        elif " CIE " in line:
            rows = None
        elif row and rows is not None:
            away = re.match(r"rsp\+(\d+)$", row[2])
            rows.append((int(row[1], 16), int(away[1]) if away else None))
    return {start: t for start, t in all_tables.items()
            if t[1] and None not in (away for _, away in t[1])}


def distances(code, start, end, far):
    """By address: the distance from rsp to the frame, along the first path that
    leads to the address; it is `far` at `start`. None: the code sets rsp in a way
    that this function does not know."""
    order = sorted(a for a in code if start <= a < end)
    after = dict(zip(order, order[1:]))
    away, kept, ways = {}, {}, [(start, far)]
    while ways:
        at, now = ways.pop()
        if at in away or at not in code:
            continue
        away[at] = now
        op, args = code[at]
        amount = re.match(r"\$(0x[0-9a-f]+),%rsp$", args)
        if op == "push":
            now += 8
        elif op == "pop":
            now -= 8
        elif op in ("add", "sub") and amount:
            value = int(amount[1], 16)
            value -= (value >> 63) << 64
            now += value if op == "sub" else -value
        elif op == "mov" and args.startswith("%rsp,%"):
            kept[args[5:]] = now
        elif op == "mov" and args.endswith(",%rsp") and args[:-5] in kept:
            now = kept[args[:-5]]
        elif args.endswith(",%rsp") and op not in ("cmp", "test"):
            return None
        if op[0] == "j":
            target = re.match(r"([0-9a-f]+) ", args)
            if target and start <= int(target[1], 16) < end:
                ways.append((int(target[1], 16), now))
        if op not in ("jmp", "ret", "ud2") and at in after:
            ways.append((after[at], now))
    return away


def main():
    source, archive, library = sys.argv[1:4]
    if not re.search(r"x86-64", " ".join(lines("readelf", "-h", library)), re.I):
        print("skipped: tells x86-64 alone")
        return 77
    broken = len(sys.argv) > 4
    names = functions_of_marks(source, archive) - EXEMPT
    code, said = instructions(library), tables(library)
    wrong = functions = checked = 0
    for line in lines("nm", library):
        found = re.match(r"([0-9a-f]+) [tT] (\S+)$", line)
        if not found or found[2] not in names or int(found[1], 16) not in said:
            continue
        start = int(found[1], 16)
        end, rows = said[start]
        starts = [at for at, _ in rows]
        if broken and found[2] == "gnomon__hook_begin":
            rows[-1] = (rows[-1][0], rows[-1][1] + 8)
        # A separate part (.cold) begins with values that the main part pushed.
        away = distances(code, start, end, rows[0][1])
        functions += away is not None
        for at, far in sorted((away or {}).items()):
            row = rows[bisect.bisect_right(starts, at) - 1]
            checked += 1
            if row[1] != far:
                wrong += 1
                print("%s+0x%x: %s: the frame is %d away, the table says %d" %
                      (found[2], at - start, code[at][0], far, row[1]))
    print("%d functions, %d instructions, %d wrong" % (functions, checked, wrong))
    if functions < 100 or checked < 5000:
        print("too few: were the libraries stripped?")
        return 1
    return 1 if (wrong > 0) != broken else 0


sys.exit(main())
