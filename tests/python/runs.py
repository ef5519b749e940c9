# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs programs that use gnomon, and reads their reports."""
import glob
import os
import re
import shutil
import subprocess
import sys
import textwrap

# What programs are run with. Few need site-packages, except in a virtual environment; to
# look through them takes a quarter of the start, and more where they have files to run.
PLAIN = ["-B"] if sys.prefix != sys.base_prefix else ["-B", "-S"]


def run(code, spec=None, code_expected=0, argv=(), plain=PLAIN, **environment):
    """Runs `code` as a program with $GNOMON. Returns (stdout, stderr)."""
    variables = dict(os.environ, **environment)
    variables.pop("GNOMON", None)
    if spec is not None:
        variables["GNOMON"] = spec
    words = [sys.executable, *plain, "-c", textwrap.dedent(code), *argv]
    child = subprocess.run(
        words, env=variables, capture_output=True, text=True, timeout=100
    )
    assert child.returncode == code_expected, child
    return child.stdout, child.stderr


def walk(modules, python=sys.executable):
    """Checks the names and counts of the functions in C of modules, by walk.py."""
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "walk.py")
    words = [python, *PLAIN, "-W", "ignore", script, modules]
    child = subprocess.run(words, capture_output=True, text=True, timeout=100)
    assert child.returncode == 0 and child.stdout > "", child


def calls(report):
    """The calls of each action in Lightning's tables, added up."""
    sums = {}
    for name, count in re.findall(
        r"^\|  (.*?) *\t\|  \S+ +\t\|  (\d+) +\t\|", report, re.M
    ):
        if name != "Total":
            sums[name] = sums.get(name, 0) + int(count)
    return sums


def own_lines(text):
    """What gnomon said on stderr besides reports and their last lines."""
    lines = re.findall(r"^gnomon: (?!about ).*", text, re.M)
    return [line for line in lines if not re.match("gnomon: (process|no rows)", line)]


def pythons():
    """{version: interpreter} of Pythons from 3.9 on: ours, and the oldest and the newest
    that are found; in a soak all."""
    root = os.environ.get("PYENV_ROOT", os.path.expanduser("~/.pyenv"))
    found = {}
    for minor in range(9, 16):
        its = [shutil.which(f"python3.{minor}") or ""]
        its += sorted(glob.glob(f"{root}/versions/3.{minor}.[0-9]*/bin/python3"))
        for path in its:
            said = path and subprocess.run(
                [path, "-c", "import sys; print('%d.%d' % sys.version_info[:2], sys.abiflags)"],
                capture_output=True,
                text=True,
            ).stdout
            if said == f"3.{minor} \n":  # "t": it has no global lock
                found[said.strip()] = path
                break
    names = list(found)
    if "GNOMON_SOAK" not in os.environ:
        found = {name: found[name] for name in names[:1] + names[-1:]}
    return {**found, "%d.%d" % sys.version_info[:2]: sys.executable}
