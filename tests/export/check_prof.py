#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""check_prof.py FOLDER PROGRAM...: pstats reads each .prof; its rows add up to the
profile's trees; what is called has callers that made its calls; and the file of two
profiles is what pstats adds up of two files."""
import os
import pstats

from profiles import arguments, check, one_mark

ROOT = ("~", 0, "<gnomon>")


def on_a_stack(p, node):
    """Ranges, marks and work on devices are on no thread's stack."""
    while node:
        n = p.at("nodes", node)
        if p.at("regions", n["region"]).get("kind", "scope") in ("kernel", "mark"):
            return False
        node = n.get("parent", 0)
    return True


def rows(profiles):
    """{(file, line, name): [calls, self ns]}"""
    found = {ROOT: [0, 0]}
    for p in profiles:
        found[ROOT][0] += 1
        for i, n in enumerate(p.all("nodes"), 1):
            host = n.get("host", {})
            if not on_a_stack(p, i):
                continue
            r = p.at("regions", n["region"])
            file = r.get("file", "") or "~"
            key = (file, r.get("line", 0) if file != "~" else 0, r.get("name", ""))
            row = found.setdefault(key, [0, 0])
            row[0] += host.get("count", 0)
            row[1] += host.get("self_ns", 0)
    return found


def one_key(key):
    return one_mark(key[0]), key[1], one_mark(key[2])


def near(seconds, ns):
    return abs(seconds - ns / 1e9) <= 1e-9 + 1e-12 * ns


def main():
    folder, made = arguments()
    for name, profiles in made.items():
        path = f"{folder}/{name}.prof"
        if not profiles:
            check(not os.path.exists(path), f"{name}: it has a .prof")
            continue
        stats = {one_key(k): (*row[:4], {one_key(c): v for c, v in row[4].items()})
                 for k, row in pstats.Stats(path).stats.items()}
        want = rows(profiles)
        check(set(stats) == set(want), f"{name}: {set(stats) ^ set(want)}")
        for key, (cc, nc, tt, ct, callers) in stats.items():
            check(nc == want[key][0], f"{name}: {key}: {nc} calls")
            check(near(tt, want[key][1]), f"{name}: {key}: {tt} s")
            check(0 <= cc <= nc and ct >= tt - 1e-9, f"{name}: {key}: {cc} {ct}")
            check(all(c in stats for c in callers), f"{name}: {key}: {callers}")
            if key != ROOT:
                check(sum(c[0] for c in callers.values()) == nc,
                      f"{name}: {key}: who made its calls?")
        total = sum(v[1] for v in want.values())
        check(near(stats[ROOT][3], total), f"{name}: {stats[ROOT][3]} s in all")
    both = pstats.Stats(f"{folder}/world.prof")
    both.add(f"{folder}/hostile0.prof")
    two = pstats.Stats(f"{folder}/two.prof").stats
    check(set(both.stats) == set(two), "two profiles have other rows than two files")
    for key, row in both.stats.items():
        check(row[:2] == two[key][:2] and abs(row[3] - two[key][3]) < 1e-9,
              f"{key}: {row[:4]} and {two[key][:4]}")
    print(f"pstats reads {len(made) - 1} files")


main()
