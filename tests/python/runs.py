# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs programs that use gnomon, and reads their reports."""
import os
import re
import subprocess
import sys
import textwrap


def run(code, spec=None, code_expected=0, argv=(), **environment):
    """Runs `code` as a program with $GNOMON. Returns (stdout, stderr)."""
    variables = dict(os.environ, **environment)
    variables.pop("GNOMON", None)
    if spec is not None:
        variables["GNOMON"] = spec
    words = [sys.executable, "-B", "-c", textwrap.dedent(code), *argv]
    child = subprocess.run(
        words, env=variables, capture_output=True, text=True, timeout=100
    )
    assert child.returncode == code_expected, child
    return child.stdout, child.stderr


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
