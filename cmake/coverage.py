#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""coverage.py ROOT BUILD LEAST: what the tests reached of src/, by gcov.

The library is compiled twice, with the test clock and without; the built-in
profilers once more as plugins; and the clock once more in a test of its own. A
line is reached if it ran in any of them. Prints a table, then every line and
branch that was not reached. Fails if less than LEAST % of the lines were
reached; if a function has such lines and tests/unreached.txt does not name it;
and if that names a function that was reached, unless it says `sometimes`."""
import collections
import gzip
import json
import os
import subprocess
import sys

root, build, least = os.path.realpath(sys.argv[1]), sys.argv[2], sys.argv[3]
sources = os.path.join(root, "src") + os.sep
object_folders = "_objects.dir", "plugin_", "test_clock_kinds", "gnomon_cli.dir"
lines = collections.defaultdict(collections.Counter)
branches = collections.defaultdict(collections.Counter)
functions = collections.defaultdict(dict)


def read(folder, name):
    """Adds what gcov says of one object."""
    out = subprocess.run(
        ["gcov", "--json-format", "--branch-probabilities", "--stdout", name],
        cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    if out[:2] == b"\x1f\x8b":
        out = gzip.decompress(out)
    for text in out.splitlines():
        data = json.loads(text) if text.startswith(b"{") else {"files": []}
        for file in data["files"]:
            path = os.path.realpath(os.path.join(
                data.get("current_working_directory", folder), file["file"]))
            if not path.startswith(sources):
                continue
            path = path[len(root) + 1:]
            for line in file["lines"]:
                number = line["line_number"]
                lines[path][number] += line["count"]
                functions[path][number] = line.get("function_name", "?")
                ways = [b for b in line["branches"] if not b["throw"]]
                for i, way in enumerate(ways):
                    # Another compilation of a line may have other branches.
                    key = number, len(ways), i
                    branches[path][key] += way["count"]


for folder, _, names in os.walk(build):
    for name in names:
        if name.endswith(".gcno") and any(p in folder for p in object_folders):
            read(folder, name)


def read_named():
    """{(file, function): reason}, as tests/unreached.txt says."""
    with open(os.path.join(root, "tests", "unreached.txt")) as file:
        found = [line.split(None, 2) for line in file if line[:4] == "src/"]
    return {(path, function): reason for path, function, reason in found}


def ranges(numbers):
    """1, 2, 3, 5 as 1-3 5."""
    out = []
    for n in sorted(numbers):
        if out and out[-1][1] == n - 1:
            out[-1][1] = n
        else:
            out.append([n, n])
    return " ".join(str(a) if a == b else f"{a}-{b}" for a, b in out)


def share(counts):
    reached = sum(1 for n in counts if n)
    return reached, len(counts), 100.0 * reached / max(1, len(counts))


print(f"{'file':32} {'lines':>6} {'%':>6} {'branches':>9} {'%':>6}")
all_lines, all_branches, missed, unreached = [], [], [], set()
for path in sorted(lines):
    a, b = list(lines[path].values()), list(branches[path].values())
    all_lines += a
    all_branches += b
    print(f"{path:32} {len(a):6} {share(a)[2]:6.1f} {len(b):9}"
          f" {share(b)[2]:6.1f}")
    never = {n for n, count in lines[path].items() if not count}
    half = {key[0] for key, count in branches[path].items() if not count}
    if never:
        missed.append(f"{path}: lines {ranges(never)}")
    unreached |= {(path, functions[path][n]) for n in never}
    if half - never:
        missed.append(f"{path}: branches at {ranges(half - never)}")
print("\nnever reached")
print("\n".join(missed))
print("\nlines: %d of %d, %.1f %%" % share(all_lines))
print("branches: %d of %d, %.1f %%" % share(all_branches))
named = read_named()
wrong = [f"{path} {function}: unreached, and not in tests/unreached.txt"
         for path, function in sorted(unreached - set(named))]
wrong += [f"{path} {function}: in tests/unreached.txt, and reached"
          for path, function in sorted(set(named) - unreached)
          if not named[path, function].startswith("sometimes")]
if not all_lines or share(all_lines)[2] < float(least):
    wrong.append(f"below {least} % of lines")
print("\n".join(wrong))
sys.exit(bool(wrong))
