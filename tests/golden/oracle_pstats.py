#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random tables and scripts for `golden`, and what Python makes of them.

    oracle_pstats.py GOLDEN DIR [--count N] [--seed S]

Python's own pstats prints the tables and its marshal writes the .prof files;
its own cProfile, on a clock that the script drives, counts the calls. Nothing
is left out because of rounding: both sides have the same doubles as seconds. The
order of the rows of a script is left out, as it is arbitrary in cProfile. With
$GNOMON_SOAK it goes on 50 times.
"""
import argparse
import cProfile
import io
import json
import marshal
import os
import pstats
import random
import shutil
import sys
import types

from oracle import check

# ---- What pstats prints ------------------------------------------------------


class Loaded:
    """An object that pstats.Stats accepts as a profiler."""

    def __init__(self, stats):
        self.stats = stats

    def create_stats(self):
        pass


def printed(case, stats):
    out = io.StringIO()
    s = pstats.Stats(Loaded(dict(stats)), stream=out)
    s.strip_dirs()
    s.sort_stats(*case["sort"])
    s.print_stats(*case["restrictions"])
    return out.getvalue()


def stats_of(functions):
    return {
        (f["file"], f["line"], f["function"]): (
            f["cc"], f["nc"], f["tt_ns"] / 1e9, f["ct_ns"] / 1e9,
            {(c["file"], c["line"], c["function"]): (
                c["nc"], c["cc"], c["tt_ns"] / 1e9, c["ct_ns"] / 1e9)
             for c in f["callers"]})
        for f in functions}


# ---- Random questions --------------------------------------------------------

WORDS = sorted(pstats.Stats(Loaded({("", 0, ""): (0, 0, 0, 0, {})}))
               .get_sort_arg_defs())


def any_question(rng):
    sort = rng.randrange(-1, 3) if rng.random() < 0.1 else rng.choice(WORDS)
    cuts = rng.choice([
        rng.randrange(-2, 40), rng.randrange(0, 6), 0.0, 0.5, 1.0, 1e-05,
        rng.random(), round(rng.random(), 2), rng.uniform(-1, 12),
        10 ** rng.uniform(-9, 1)])
    return {"sort": [sort], "restrictions": rng.choice([[], [cuts]])}


LETTERS = "abcXYZ_.<>{}()[]:~/\\ 09\u00e9\u00df\u5b66\u0301\U0001f680"


def any_text(rng):
    return "".join(rng.choice(LETTERS) for _ in range(rng.randrange(0, 12)))


def any_key(rng):
    folder = rng.choice(["", "/", "/app/", "/app/src/", "../", "a\\b/", "x//"])
    file = folder + rng.choice(
        ["a.c", "b.c", "ops.c", "long_name_of_a_file.cpp", "~", "<string>", "",
         any_text(rng)])
    line = rng.choice([0, 1, 7, 12, 345, 99999, 2**31 - 1, 2**31, 2**32 - 1])
    if rng.random() < 0.3:
        file, line = "~", rng.choice([0, 0, 0, 1])
    name = rng.choice(
        ["f", "g", "\u00e9", "step", "<lambda>",
         "<built-in method builtins.next>", "<", "<>",
         "[Strategy]S.training_step", any_text(rng)])
    return file, line, name


def any_count(rng):
    return rng.choice([0, 1, 2, rng.randrange(100), rng.randrange(10**6),
                       int(2 ** rng.uniform(0, 58)), 2**31 - 1, 2**31, 2**45])


def any_ns(rng):
    return rng.choice([0, 1, rng.randrange(10**6), 500000, 1500000, 62500000,
                       rng.randrange(10**10), int(2 ** rng.uniform(0, 60))])


def any_numbers(rng):
    nc = any_count(rng)
    cc = nc if rng.random() < 0.6 else any_count(rng)
    return {"nc": nc, "cc": cc, "tt_ns": any_ns(rng), "ct_ns": any_ns(rng)}


def fields_of(key):
    return {"file": key[0], "line": key[1], "function": key[2]}


def any_table(rng):
    keys = {any_key(rng) for _ in range(rng.randrange(1, rng.choice([5, 30])))}
    if rng.random() < 0.5:  # functions that are equal without their folders
        keys |= {("/twin/" + os.path.basename(key[0]), *key[1:]) for key in keys}
    keys = list(keys)
    keys.sort()
    rng.shuffle(keys)
    functions = []
    for key in keys:
        callers, seen = [], set()
        for caller in rng.sample(keys, rng.randrange(min(len(keys), 6))):
            stripped = (os.path.basename(caller[0]), *caller[1:])
            if stripped not in seen:
                callers.append({**fields_of(caller), **any_numbers(rng)})
            seen.add(stripped)
        functions.append({**fields_of(key), **any_numbers(rng),
                          "callers": callers})
    return functions


def pstats_case(rng):
    case = {"profiler": "pstats", **any_question(rng),
            "functions": any_table(rng)}
    stats = stats_of(case["functions"])
    return case, printed(case, stats), marshal.dumps(stats, 2)


def advanced_case(rng):
    case = {"profiler": "advanced", "stage": rng.choice(["fit", "a b", None]),
            "rank": rng.choice([None, 0, 3, 1023]),
            "line_count_restriction": rng.choice([1.0, 0.5, 3, 0, 0.1]),
            "actions": [{"action": any_text(rng), "functions": any_table(rng)}
                        for _ in range(rng.randrange(4))]}
    # Each name is an action once.
    names = {action["action"]: action for action in case["actions"]}
    case["actions"] = list(names.values())
    stage = case["stage"]
    pieces = [f"{stage.upper()} Profiler Report" if stage is not None
              else "Profiler Report"]
    for action in case["actions"]:
        head = "Profile stats for: " + action["action"]
        if case["rank"] is not None:
            head += f" rank: {case['rank']}"
        question = {"sort": ["cumulative"],
                    "restrictions": [case["line_count_restriction"]]}
        pieces += [head, printed(question, stats_of(action["functions"]))]
    return case, "\n".join(pieces), None


# ---- Scripts, counted by cProfile --------------------------------------------

now = 0  # ns


def template(body):
    global now
    for op in body:
        if op.__class__ is int:
            now += op
        else:
            op[0](op[1])


def any_body(rng, functions, left, depth):
    """A script: numbers, which are durations, and (function, its body)."""
    body = []
    for _ in range(rng.randrange(0, 6)):
        if rng.random() < 0.4:
            body.append(rng.choice([0, 1, 1000, rng.randrange(10**9),
                                    int(10 ** rng.uniform(0, 13))]))
        elif left[0] > 0 and depth < 60:
            left[0] -= 1
            body.append((rng.choice(functions),
                         any_body(rng, functions, left, depth + 1)))
    return body


def key_of(function):
    code = function.__code__
    return code.co_filename, code.co_firstlineno, code.co_name


def script_of(body):
    script = []
    for op in body:
        if isinstance(op, int):
            script.append(["advance", op])
        else:
            script += [["call", *key_of(op[0])], *script_of(op[1]),
                       ["return"]]
    return script


def paths_of(body, paths):
    """Nested dicts, by function."""
    for op in body:
        if not isinstance(op, int):
            paths_of(op[1], paths.setdefault(key_of(op[0]), {}))
    return paths


def walked(paths, order):
    """Functions in the order of a walk over the paths."""
    for key, below in paths.items():
        order.setdefault(key, len(order))
        walked(below, order)
    return order


def cprofile_case(rng):
    global now
    functions = [
        types.FunctionType(
            template.__code__.replace(co_filename=file, co_firstlineno=line,
                                      co_name=name), globals())
        for file, line, name in {
            (rng.choice(["/app/a.c", "/lib/a.c", "b.c"]),
             rng.randrange(1, 4), rng.choice("fgh")) for _ in range(6)}]
    functions.sort(key=key_of)
    body, left = [], [rng.choice([3, 20, 120])]
    while not any(isinstance(op, tuple) for op in body):
        body = any_body(rng, functions, left, 0)
    case = {"profiler": "cprofile", **any_question(rng),
            "script": script_of(body)}
    now = 0
    profiler = cProfile.Profile(lambda: now, timeunit=1, builtins=False)
    for op in body:  # one root after another, with nothing around them
        if isinstance(op, int):
            now += op
        else:
            profiler.enable()
            op[0](op[1])
            profiler.disable()
    profiler.create_stats()
    stats = {}
    for key in walked(paths_of(body, {}), {}):
        cc, nc, tt, ct, callers = profiler.stats[key]
        stats[key] = (cc, nc, round(tt) / 1e9, round(ct) / 1e9, {
            caller: (n, c, round(t) / 1e9, round(u) / 1e9)
            for caller, (n, c, t, u) in callers.items()})
    return case, printed(case, stats), None


# ---- All ---------------------------------------------------------------------


def make(directory, count, rng):
    shutil.rmtree(directory, ignore_errors=True)
    os.makedirs(directory)
    for i in range(count):
        kind = rng.choice([pstats_case, pstats_case, advanced_case,
                           cprofile_case, cprofile_case])
        case, text, prof = kind(rng)
        stem = os.path.join(directory, f"{i:04}")
        with open(stem + ".json", "w", encoding="utf-8") as out:
            json.dump(case, out)
        with open(stem + ".txt", "w", encoding="utf-8", newline="") as out:
            out.write(text)
        if prof is not None:
            with open(stem + ".prof", "wb") as out:
                out.write(prof)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("golden")
    parser.add_argument("directory")
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rounds = 350 if "GNOMON_SOAK" in os.environ else 1
    for i in range(rounds):
        rng = random.Random(options.seed * 1000003 + i)
        make(options.directory, options.count, rng)
        if check(options.golden, options.directory, []):
            sys.exit(1)


if __name__ == "__main__":
    main()
