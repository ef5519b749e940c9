# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""compare_stats.py THEIRS.csv OURS.csv

The report nvtx_sum of `nsys stats` against that of `gnomon nsys`: the same ranges, with
the same counts and times.
"""
import csv
import sys


def rows(path):
    with open(path, newline="", encoding="utf-8") as report:
        lines = [line for line in report if "," in line]
    return {(r["Range"], r["Style"]): [r["Instances"]] +
            [r[f"{what} (ns)"] for what in ("Total Time", "Min", "Max", "Med")]
            for r in csv.DictReader(lines)}


theirs, ours = rows(sys.argv[1]), rows(sys.argv[2])
for name in sorted(set(theirs) | set(ours)):
    if theirs.get(name) != ours.get(name):
        print(f"{name}: {theirs.get(name)}, here {ours.get(name)}")
sys.exit(theirs != ours or not ours)
