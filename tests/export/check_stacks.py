#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""check_stacks.py FOLDER PROGRAM...: lines are split as flamegraph.pl splits them; they
are the paths of the tree with their self time, and add up to what was outermost."""
import re
from collections import Counter

from profiles import arguments, check, number, one_mark, track_name

LINE = re.compile(rb"(.*)\s+?([0-9]+)")  # flamegraph.pl's


def folded(name):
    return re.sub(r"[\x00-\x20;\x7f]", "_", name) or "_"


def wanted(profiles):
    stacks, outermost = Counter(), 0
    runs = sum(len(p.all("runs")) for p in profiles)
    before = 0
    for p in profiles:
        for i, n in enumerate(p.all("nodes"), 1):
            run = p.track_run(n["track"])
            rank = p.at("runs", run).get("rank", -1)
            frames = [track_name(p.at("tracks", n["track"])), *p.path(i)]
            if runs > 1:
                frames.insert(0, f"rank {rank}" if rank >= 0
                              else f"run {before + run}")
            if p.self_ns(n):
                stacks[tuple(map(folded, frames))] += p.self_ns(n)
            if not n.get("parent"):
                times = n.get("host") or n.get("device") or {}
                outermost += number(times.get("total_ns", 0))
        before += len(p.all("runs"))
    return stacks, outermost


def main():
    folder, made = arguments()
    for name, profiles in made.items():
        got = Counter()
        with open(f"{folder}/{name}.txt", "rb") as file:
            text = one_mark(file.read().decode("utf-8")).encode()
        check(not text or text.endswith(b"\n"), f"{name}: its last line")
        for line in text.split(b"\n")[:-1]:
            parts = LINE.fullmatch(line)
            check(parts, f"{name}: {line[:200]}")
            frames = parts.group(1).decode("utf-8", errors="strict").split(";")
            check(all(frames), f"{name}: an empty frame in {line[:200]}")
            got[tuple(frames)] += int(parts.group(2))
        want, outermost = wanted(profiles)
        check(got == want, f"{name}: other stacks")
        check(sum(got.values()) == outermost,
              f"{name}: {sum(got.values())} ns, {outermost} ns outermost")
    print(f"{len(made)} files")


main()
