# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the checks of the programs that read traces share: a trace of torch.profiler, the
same trace from gnomon, and whether a program computes the same from both."""
import contextlib
import io
import math
import os
import shutil
import subprocess
import sys

import to_profile

HERE = os.path.dirname(os.path.abspath(__file__))


def fail(text):
    sys.exit("check: " + text)


def plain(value):
    """Without numpy's types; times rounded to a ns, where doubles are not exact."""
    value = value.item() if hasattr(value, "item") else value
    if isinstance(value, float):
        return None if math.isnan(value) else round(value, 3)
    return value


def export(gnomon, traces, work, *options):
    """A folder with gnomon's files of the traces."""
    out = os.path.join(work, "gnomon")
    shutil.rmtree(out, ignore_errors=True)
    os.makedirs(out)
    profiles = []
    for trace in sorted(os.listdir(traces)):
        profiles.append(os.path.join(work, trace + ".gnomon.json"))
        to_profile.convert(os.path.join(traces, trace), profiles[-1])
    subprocess.run([gnomon, "export", *profiles, "--to", "chrome", *options,
                    "-o", out], check=True)
    return out


class Failed(str):
    """The exception of an analysis."""


def results(fresh):
    """{name: result} of what fresh() gives: {name: what computes it}."""
    found = {}
    for name in fresh():
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                found[name] = fresh()[name]()
        except Exception as e:  # analyses raise anything on traces without devices
            found[name] = Failed(f"{type(e).__name__}: {e}")
    return found


def failures(found):
    return {name for name, result in found.items() if isinstance(result, Failed)}


def compare(what, before, after):
    wrong = [name for name in before if before[name] != after[name]]
    for name in wrong:
        print(f"{what}: {name}\n  torch:  {before[name]}\n  gnomon: {after[name]}")
    return len(wrong)


def as_they_are(traces, _):
    return traces


def check(numbers, fails, words, *options, torch=as_they_are):
    """numbers(folder) computes {name: result}; fails has, by trace, those that torch's
    own traces make fail; torch(traces, work) makes of them what is read."""
    work, gnomon = words[:2]
    os.makedirs(work, exist_ok=True)
    wrong = 0
    for name, known in sorted(fails.items()):
        traces = os.path.join(HERE, "traces", name)
        before = numbers(torch(traces, work))
        if failures(before) != known:
            fail(f"{name}: {before}")
        wrong += compare(name, before,
                         numbers(export(gnomon, traces, work, *options)))
        print(f"{name}: {len(before) - len(known)} results")
    if wrong:
        fail(f"{wrong} differ")
