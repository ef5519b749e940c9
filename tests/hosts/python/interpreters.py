# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""interpreters.py FOLDER: uses the modules left and right, each with a copy of
gnomon, in the first interpreter and in others that threads create and destroy. It
runs itself as a child without $GNOMON and with GNOMON=simple, and checks the
report."""
import os
import re
import subprocess
import sys
import threading

try:
    import _interpreters as interpreters
except ImportError:
    try:
        import _xxsubinterpreters as interpreters
    except ImportError:
        print("skipped: this Python makes no interpreters")
        sys.exit(0)

THREADS, EACH = 3, 5


def make():
    try:
        return interpreters.create("legacy")  # single-phase modules load
    except TypeError:
        return interpreters.create()


def program(folder):
    import left

    left.work(3)
    code = (
        f"import sys; sys.path.insert(0, {folder!r})\n"
        "import left, right; left.work(2); right.work(4)"
    )

    def some():
        for _ in range(EACH):
            one = make()
            failed = interpreters.run_string(one, code)
            assert failed is None, failed
            interpreters.destroy(one)

    threads = [threading.Thread(target=some) for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print("done")


def run(folder, spec):
    environment = dict(os.environ, PYTHONPATH=folder)
    if spec:
        environment["GNOMON"] = spec
    words = [sys.executable, __file__, folder, "program"]
    child = subprocess.run(
        words, env=environment, capture_output=True, text=True, timeout=100
    )
    assert child.returncode == 0, child
    assert child.stdout == "done\n", child
    return child.stderr


def main():
    folder = sys.argv[1]
    if sys.argv[2:] == ["program"]:
        program(folder)
        return
    off = run(folder, None)
    assert off == "", off
    report = run(folder, "simple")
    calls = dict(re.findall(r"^\|  (\w+) *\t\|  \S+ +\t\|  (\d+) ", report, re.M))
    assert report.count("Profiler Report") == 1, report
    assert calls["left"] == str(3 + 2 * THREADS * EACH), report
    assert calls["right"] == str(4 * THREADS * EACH), report
    assert calls["work"] == str(1 + 2 * THREADS * EACH), report


main()
