# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""check_read.py WORK GNOMON: what gnomon reads of cProfile's own files is what pstats
reads of them, in each version of marshal."""
import cProfile
import json
import marshal
import os
import pstats
import re
import subprocess
import sys

WORK, GNOMON = sys.argv[1:]


def leaf(n):
    return sum(i for i in range(n))


def walk(depth):
    leaf(200)
    return walk(depth - 1) if depth else 0


def other(depth):
    return other_too(depth - 1) if depth else leaf(300)


def other_too(depth):
    return other(depth) if depth else 0


def run():
    for i in range(20):
        walk(3)
        other(4)
        leaf(1000 * i)
        json.dumps(list(range(100)))
        re.sub("a", "b", "banana" * i)


def gnomon_rows(path):
    words = [GNOMON, "report", "--as", "regions", "--columns", "name,calls,total,self",
             "--format", "json", path]
    done = subprocess.run(words, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, check=True)
    assert "is split among its callers" in done.stderr, done.stderr
    return {row["name"]: row for row in json.loads(done.stdout)[0]["rows"]}


def by_name(path):
    sums = {}
    for (_, _, name), (_, calls, own, total, _) in pstats.Stats(path).stats.items():
        old = sums.get(name, (0, 0, 0))
        sums[name] = old[0] + calls, old[1] + own, old[2] + total
    return sums


def check(path):
    rows, wanted = gnomon_rows(path), by_name(path)
    assert set(rows) == set(wanted), set(rows) ^ set(wanted)
    for name, (calls, own, total) in wanted.items():
        row = rows[name]
        assert row["calls"] == calls, (name, row, calls)
        assert abs(row["total_ns"] - total * 1e9) < 1000, (name, row, total)
        assert abs(row["self_ns"] - own * 1e9) < 1000, (name, row, own)


def main():
    os.makedirs(WORK, exist_ok=True)
    path = os.path.join(WORK, "run.prof")
    cProfile.runctx("run()", globals(), {}, path)
    check(path)
    with open(path, "rb") as file:
        stats = marshal.load(file)
    for version in range(5):
        with open(path, "wb") as file:
            marshal.dump(stats, file, version)
        check(path)
    for words in (["report", "--as", "html", "-o", path + ".html", path],
                  ["export", "-o", path + ".txt", "--to", "stacks", path],
                  ["diff", path, path], ["report", "--as", "tree", path]):
        subprocess.run([GNOMON, *words], check=True, stdout=subprocess.PIPE)
    print("read as pstats does")


main()
