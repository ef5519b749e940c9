#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""check.py WORK VIEWER PROGRAM...: runs PROGRAM under GNOMON=advanced and has
each .prof file of it loaded by VIEWER.

    pstats     prints it, without the row that stands for the run, exactly as
               the report has the action's table; and sums and edges agree
    gprof2dot  writes a graph in which every row is a node
    flameprof  draws a flame graph and does not warn
    snakeviz   makes its tree and its table of it
    tuna       makes its tree of it

Run by the Python that VIEWER is installed for.
"""
import io
import os
import pstats
import shutil
import subprocess
import sys

ROOTS = {("~", 0, "<gnomon fit>"), ("~", 0, "<gnomon test>")}


def fail(text):
    sys.exit("check: " + text)


def record(program, work, dump):
    shutil.rmtree(work, ignore_errors=True)
    environment = {k: v for k, v in os.environ.items()
                   if not k.startswith("GNOMON")}
    environment["GNOMON"] = f"advanced(dir={work},file=report,{dump})"
    subprocess.run(program, env=environment, check=True)
    files = sorted(os.path.join(work, f) for f in os.listdir(work)
                   if f.endswith(".prof"))
    if not files:
        fail("no .prof files")
    return files


def sections(path):
    """{action: its table}, as in the report."""
    with open(path, encoding="utf-8", newline="") as file:
        text = file.read()
    text = text.split("\ngnomon: ")[0]
    found = {}
    for part in text.split("\nProfile stats for: ")[1:]:
        action, _, table = part.partition("\n")
        found[action] = table.rstrip("\n")
    return found


def agrees(stats, path):
    """Each call has one caller; callees take no longer than their caller."""
    roots = [f for f in stats if not stats[f][4]]
    if len(roots) != 1 or roots[0] not in ROOTS:
        fail(f"{path}: its roots are {roots}")
    total = sum(row[2] for row in stats.values())
    if abs(stats[roots[0]][3] - total) > 1e-6 + 0.001 * total:
        fail(f"{path}: {stats[roots[0]][3]} s in all, {total} s in rows")
    for name, (cc, nc, tt, ct, callers) in stats.items():
        if callers and sum(c[0] for c in callers.values()) != nc:
            fail(f"{path}: the callers of {name} made other than {nc} calls")
        if abs(sum(c[2] for c in callers.values()) - tt) > 1e-6 and callers:
            fail(f"{path}: the callers' times of {name} are not {tt}")
        if not 0 <= cc <= nc or tt < 0 or ct < 0:
            fail(f"{path}: {name}: {cc} {nc} {tt} {ct}")
        for caller in callers:
            if caller not in stats:
                fail(f"{path}: {caller} calls {name} and is no row")


def without_root(stats):
    kept = {}
    for name, (cc, nc, tt, ct, callers) in stats.items():
        if name not in ROOTS:
            callers = {c: v for c, v in callers.items() if c not in ROOTS}
            kept[name] = cc, nc, tt, ct, callers
    return kept


class Loaded:
    def __init__(self, stats):
        self.stats = stats

    def create_stats(self):
        pass


def check_pstats(files, work):
    reports = {stage: sections(os.path.join(work, stage + "-report.txt"))
               for stage in ("fit", "test")}
    known = 0
    for path in files:
        stats = pstats.Stats(path).stats
        agrees(stats, path)
        out = io.StringIO()
        pstats.Stats(Loaded(without_root(stats)), stream=out) \
            .strip_dirs().sort_stats("cumulative").print_stats(1.0)
        stage = os.path.basename(path).split("-")[0]
        known += out.getvalue().rstrip("\n") in reports[stage].values()
    if known != len(files) or known != sum(map(len, reports.values())):
        fail(f"pstats prints {known} of {len(files)} as the reports")
    # As a user does, at its prompt.
    done = subprocess.run([sys.executable, "-m", "pstats", files[0]],
                          input="sort cumulative\nstats 5\ncallers\ncallees\n",
                          capture_output=True, text=True, check=True)
    if "function calls" not in done.stdout or "Traceback" in done.stderr:
        fail(done.stdout + done.stderr)


def run(*words):
    done = subprocess.run([sys.executable, *words], capture_output=True,
                          text=True, timeout=60)
    if done.returncode:
        fail(" ".join(words) + "\n" + done.stderr)
    return done.stdout, done.stderr


def check_gprof2dot(files, work):
    for path in files:
        graph, _ = run("-m", "gprof2dot", "-f", "pstats", "-n0", "-e0", path)
        nodes = [line for line in graph.splitlines()
                 if "[" in line and "label=" in line and "->" not in line]
        rows = len(pstats.Stats(path).stats)
        if len(nodes) != rows:
            fail(f"{path}: {rows} rows, {len(nodes)} nodes\n{graph}")


def check_flameprof(files, work):
    for path in files:
        picture, warnings = run("-m", "flameprof", path)
        if "<svg" not in picture or warnings.strip():
            fail(f"{path}: {picture[:200]} {warnings}")


def check_snakeviz(files, work):
    from snakeviz.stats import json_stats, table_rows
    for path in files:
        stats = pstats.Stats(path)
        tree, rows = json_stats(stats), len(stats.stats)
        if len(table_rows(stats)) != rows or len(tree) != rows:
            fail(f"{path}: {rows} rows, {len(tree)} in the tree")


def check_tuna(files, work):
    from tuna.main import read
    for path in files:
        tree = read(path)
        names = str(tree)
        if not tree["children"] or "gnomon" not in names:
            fail(f"{path}: {names[:500]}")


def main():
    work, viewer, *program = sys.argv[1:]
    check = globals()["check_" + viewer]
    for dump in ("dump_stats=run", "dump_stats"):
        files = record(program, work, dump)
        if viewer == "pstats" and dump != "dump_stats":
            for path in files:
                agrees(pstats.Stats(path).stats, path)
        else:
            check(files, work)
        print(f"{viewer}: {len(files)} files of {dump}")


main()
