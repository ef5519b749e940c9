# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""compare.py TABLES.sqlite REPORT.csv...

Ranges of Nsight Systems (pushed and popped, started and ended) against the calls that
`gnomon report --as regions --format csv` counts, summed over the reports, by name.
"""
import collections
import csv
import sqlite3
import sys

rows = sqlite3.connect(sys.argv[1]).execute(
    "SELECT coalesce(e.text, s.value), count(*) FROM NVTX_EVENTS e"
    " LEFT JOIN StringIds s ON e.textId = s.id"
    " WHERE e.eventType IN (59, 60) AND e.end IS NOT NULL GROUP BY 1")
theirs = dict(rows.fetchall())
ours = collections.Counter()
for path in sys.argv[2:]:
    with open(path, newline="", encoding="utf-8") as report:
        for row in csv.DictReader(report):
            ours[row["name"]] += int(row["calls"])
for name in sorted(set(theirs) | set(ours)):
    if theirs.get(name) != ours.get(name):
        print(f"{name!r}: {theirs.get(name)} ranges, {ours.get(name)} calls")
print(f"{len(theirs)} names, {sum(theirs.values())} ranges;"
      f" {len(ours)} names, {sum(ours.values())} calls")
sys.exit(theirs != dict(ours) or len(ours) < 50)
