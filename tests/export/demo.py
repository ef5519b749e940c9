# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the demo for ten steps with events, exports them, and reads what gnomon's own
report says of them."""
import collections
import csv
import io
import json
import os
import shutil
import subprocess
import sys

STEPS = 10


def fail(text):
    sys.exit("check: " + text)


class Demo:
    """A run of the demo in a folder; program and demo are lists of words."""

    def __init__(self, folder, program, demo):
        self.folder, self.program = folder, program
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        environment = {k: v for k, v in os.environ.items()
                       if not k.startswith("GNOMON")}
        environment["GNOMON"] = f"trace,simple,file={self.path('run.gnomon')}," \
                                f"dir={folder}"
        environment["OMP_WAIT_POLICY"] = "passive"
        subprocess.run(
            [*demo, "--epochs", "1", "--steps", str(STEPS), "--sample", "0",
             "--out", folder], env=environment, check=True,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def path(self, name):
        return os.path.join(self.folder, name)

    def gnomon(self, *words):
        return subprocess.run([*self.program, *words], check=True,
                              stdout=subprocess.PIPE, text=True).stdout

    def export(self, name, *options):
        """run.gnomon as a file of this name."""
        self.gnomon("export", self.path("run.gnomon"), *options, "-o",
                    self.path(name))
        return self.path(name)

    def table(self, kind):
        return list(csv.DictReader(io.StringIO(self.gnomon(
            "report", "--as", kind, "--format", "csv", self.path("run.gnomon")))))

    def scopes(self):
        """{name: (count, ns)} by the report, of all stages."""
        sums = collections.Counter(), collections.Counter()
        for row in self.table("simple"):
            sums[0][row["name"]] += int(row["calls"])
            sums[1][row["name"]] += int(row["total_ns"])
        return {name: (sums[0][name], sums[1][name]) for name in sums[0]}

    def steps(self):
        """{number: ns}"""
        return {int(row["step"]): int(row["time_ns"]) for row in self.table("steps")}

    def events(self):
        """[(name, begin, duration)], of executions, and [(begin, end)] of steps."""
        with open(self.export("run.gnomon.json", "--to", "json"),
                  encoding="utf-8") as file:
            form = json.load(file)
        names = [form["regions"][node["region"] - 1]["name"]
                 for node in form["nodes"]]
        events = [(names[e["node"] - 1], int(e["begin_ns"]),
                   int(e.get("duration_ns", 0)))
                  for e in form["events"] if e.get("kind", "execution") == "execution"]
        return events, [(int(s["begin_ns"]), int(s["end_ns"])) for s in form["steps"]]

    def operations(self):
        """The names of scopes that compute one."""
        with open(self.path("run.gnomon.json"), encoding="utf-8") as file:
            form = json.load(file)
        return {form["regions"][node["region"] - 1]["name"]
                for node in form["nodes"] if "op" in node}

    def events_by_name(self):
        """{name: (count, ns)} by the events."""
        counts, sums = collections.Counter(), collections.Counter()
        for name, _, ns in self.events()[0]:
            counts[name] += 1
            sums[name] += ns
        return {name: (counts[name], sums[name]) for name in counts}
