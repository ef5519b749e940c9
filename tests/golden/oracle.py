#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random cases for `golden`, and what Lightning would print for them.

    oracle.py make DIR [--count N] [--seed S]   writes NNN.json and NNN.txt
    oracle.py check GOLDEN DIR [GOLDEN-OPTION...]  plays them, compares bytes

The table is computed as Lightning does: seconds as floats, every sample kept,
summed with fsum. It shares nothing with the C sources. A case whose text would
change if whole nanoseconds were summed instead rests on rounding noise (a
decimal tie, or an order of equal sums) and is not used.
"""
import argparse
import json
import math
import os
import random
import subprocess
import sys
import tempfile

HEADS = ["Mean duration (s)", "Num calls", "Total time (s)", "Percentage %"]


def tab(column):
    return column // 8 * 8 + 8


def table(case, rows, wall):
    """`rows`: (name, calls, total in s), in the order of first stops."""
    extended = case["extended"]
    title = "Profiler Report\n"
    if case["stage"] is not None:
        title = case["stage"].upper() + " " + title
    if not rows:
        return title + "\n"
    rows = [
        (name, total / calls, calls, total, 100.0 * total / wall)
        for name, calls, total in rows
    ]
    rows.sort(key=lambda row: row[4] if extended else row[1], reverse=True)
    width = max(len(row[0]) for row in rows)

    def line(name, mean, calls, total, percent):
        cells = [mean, calls, total, percent] if extended else [mean, total]
        text = "|  " + name.ljust(width)
        return text + "".join("\t|  " + c.ljust(15) for c in cells) + "\t|"

    # The rule: as long as the line of heads on a screen, plus one.
    end = tab(3 + max(width, len("Action")))
    end = tab(end + 3 + len(HEADS[0]))
    for _ in HEADS[1:] if extended else HEADS[2:3]:
        end = tab(end + 3 + 15)
    rule = "-" * (end + 2)

    lines = [rule, line("Action", *HEADS), rule]
    if extended:
        calls = str(sum(row[2] for row in rows))
        lines += [line("Total", "-", calls, f"{wall:.5}", "100 %"), rule]
    for name, mean, calls, total, percent in rows:
        cells = f"{mean:.5}", str(calls), f"{total:.5}", f"{percent:.5}"
        lines.append(line(name, *cells))
    lines.append(rule)
    return title + "".join("\n" + each for each in lines) + "\n"


def play(script, now, opened, samples, ends):
    for op in script:
        if op[0] == "advance":
            now += op[1]
        elif op[0] == "start":
            assert op[1] not in opened
            opened[op[1]] = now
        elif op[0] == "stop":
            samples.setdefault(op[1], []).append(now - opened.pop(op[1]))
            ends.append(now)
        else:
            for _ in range(op[1]):
                now = play(op[2], now, opened, samples, ends)
    return now


def expected(case):
    """The text, or None where it rests on rounding."""
    samples, opened, ends = {}, {}, []
    play(case["script"], 0, opened, samples, ends)
    wall = case["wall_ns"] / 1e9
    if case["stage"] is None and not opened and ends[-1]:
        wall = ends[-1] / 1e9  # a stage that nobody opened ends with its last mark
    floats = [
        (name, len(ns), math.fsum(each / 1e9 for each in ns))
        for name, ns in samples.items()
    ]
    whole = [(name, len(ns), sum(ns) / 1e9) for name, ns in samples.items()]
    text = table(case, floats, wall)
    return text if text == table(case, whole, wall) else None


# ---- Random scripts ----------------------------------------------------------

LETTERS = (
    "abcdefghijklmnopqrstuvwxyz_.[]{}(),='\"%|\\/ \t"
    "\u00e9\u00df\u0416\u5b66\u7fd2\u0301\u200d\u202e\ufeff\uffff"
    "\U0001f680\U0001f1e9\U0010ffff"
)
CONTROL = "".join(chr(c) for c in list(range(1, 32)) + [0x7F, 0x85])


def any_name(rng):
    kind = rng.random()
    if kind < 0.4:
        hook = rng.choice(["on_train_start", "setup", "optimizer_step"])
        who = rng.choice(["LightningModule", "Callback", "Strategy"])
        return f"[{who}]{rng.choice('ABCXYZ')}{rng.randrange(50)}.{hook}"
    if kind < 0.42:
        return ""
    letters = LETTERS + CONTROL if kind < 0.6 else LETTERS
    length = rng.choice([1, 2, 5, 6, 7, 8, 20, 61, rng.randrange(1, 121), 120])
    return "".join(rng.choice(letters) for _ in range(length))


def any_time(rng, most):
    kind = rng.random()
    if kind < 0.1:
        return 0
    if kind < 0.4:  # round ones, so that sums are equal
        return min(most, rng.choice([1, 2, 5]) * 10 ** rng.randrange(0, 10))
    return min(most, int(10 ** rng.uniform(0, math.log10(most + 1))))


def any_block(rng, names, left, budget):
    """Starts and stops that end with everything closed; `left` is the time
    that may pass, in a list; they need not nest."""
    script, opened = [], []
    for _ in range(rng.randrange(1, budget)):
        shut = [name for name in names if name not in opened]
        kind = rng.random()
        if kind < 0.35 and shut and len(opened) < 12:
            opened.append(rng.choice(shut))
            script.append(["start", opened[-1]])
        elif kind < 0.65 and opened:
            which = -1 if rng.random() < 0.7 else rng.randrange(len(opened))
            script.append(["stop", opened.pop(which)])
        else:
            ns = any_time(rng, left[0])
            left[0] -= ns
            script.append(["advance", ns])
    for name in reversed(opened):
        script.append(["stop", name])
    return script


def any_case(rng):
    names = list({any_name(rng) for _ in range(rng.randrange(1, 30))})
    names.sort()
    stage = rng.choice(["fit", "validate", "test", "predict", "my stage", None])
    left = [rng.choice([10**3, 10**9, 10**12, 2**53, 2**62])]
    script = []
    if stage is None:  # the report's time runs from the first mark
        script += [["start", names[0]], ["stop", names[0]]]
    if rng.random() < 0.95:
        script += any_block(rng, names, left, 120)
    for _ in range(rng.randrange(3)):
        times, share = rng.randrange(1, 200), [left[0] // 400]
        left[0] //= 2
        script.append(["repeat", times, any_block(rng, names, share, 12)])
    if rng.random() < 0.2:
        script.append(["start", "open " + any_name(rng)])
        if script[-1][1] in names:
            script.pop()
    now = play(script, 0, {}, {}, [])
    return {
        "about": "made by tests/golden/oracle.py",
        "profiler": "simple",
        "extended": rng.random() < 0.6,
        "stage": stage,
        "wall_ns": now + 1 + any_time(rng, 10**9),
        "script": script,
    }


def make(directory, count, seed):
    rng, made, dropped = random.Random(seed), 0, 0
    os.makedirs(directory, exist_ok=True)
    while made < count:
        case = any_case(rng)
        text = expected(case)
        if text is None:
            dropped += 1
            continue
        made += 1
        stem = os.path.join(directory, f"{made:03}")
        with open(stem + ".json", "w", encoding="utf-8") as out:
            json.dump(case, out, ensure_ascii=rng.random() < 0.5)
        with open(stem + ".txt", "w", encoding="utf-8", newline="") as out:
            out.write(text)
    if dropped > count // 4:
        sys.exit(f"oracle: {dropped} of {count + dropped} cases were dropped")
    print(f"oracle: {count} cases, {dropped} dropped")


def content(path):
    """None: there is no such file."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return None


def check(golden, directory, options):
    """The number of cases that differ."""
    cases = sorted(f for f in os.listdir(directory) if f.endswith(".json"))
    if not cases:
        sys.exit("oracle: no cases in " + directory)
    bad = 0
    with tempfile.TemporaryDirectory() as out:
        paths = [os.path.join(directory, case) for case in cases]
        subprocess.run([golden, *options, "-o", out, *paths], check=True)
        for case in cases:
            names = [case[:-5] + kind for kind in (".txt", ".prof")]
            want = [content(os.path.join(directory, name)) for name in names]
            got = [content(os.path.join(out, name)) for name in names]
            if any(w is not None and w != g for w, g in zip(want, got)):
                bad += 1
                if bad <= 3:
                    print(f"oracle: {case} differs\nwant {want}\ngot  {got}")
    print(f"oracle: {len(cases) - bad} of {len(cases)} cases are equal")
    return bad


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("make")
    one.add_argument("directory")
    one.add_argument("--count", type=int, default=200)
    one.add_argument("--seed", type=int, default=1)
    two = commands.add_parser("check")
    two.add_argument("golden")
    two.add_argument("directory")
    known, rest = parser.parse_known_args()
    if known.command == "make":
        if rest:
            parser.error("unknown: " + " ".join(rest))
        make(known.directory, known.count, known.seed)
    else:
        sys.exit(check(known.golden, known.directory, rest) != 0)


if __name__ == "__main__":
    main()
