# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""run.py FOLDER METHOD: a Python program with the modules left and right, each
with a copy of gnomon, and processes that METHOD starts: a pool whose workers end
by os._exit, two that start a run and finish it, and one that a signal ends. It
runs itself as a child with GNOMON=simple, with and without fork=follow, and
checks the reports."""
import glob
import multiprocessing
import multiprocessing.util
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

WORKERS, TASKS = 3, 12


def task(n):
    import left
    import right
    left.work(n)
    return right.work(n)


def finished(n):
    import left
    multiprocessing.util.Finalize(None, left.finish, exitpriority=0)
    assert left.start() == 0
    task(n)


def ended(n, ready):
    task(n)
    ready.set()
    time.sleep(60)


def program(method):
    import left
    import right
    left.work(5)
    right.work(7)
    context = multiprocessing.get_context(method)
    with context.Pool(WORKERS) as pool:
        done = pool.map(task, [2] * TASKS, chunksize=1)
        pool.close()
        pool.join()  # workers end by themselves
    assert done == [2] * TASKS, done
    children = [context.Process(target=finished, args=(3,)) for _ in range(2)]
    for child in children:
        child.start()
    for child in children:
        child.join()
        assert child.exitcode == 0, child.exitcode
    ready = context.Event()
    child = context.Process(target=ended, args=(4, ready))
    child.start()
    assert ready.wait(60)
    child.terminate()
    child.join()
    assert child.exitcode == -signal.SIGTERM, child.exitcode
    left.work(1)
    print("done")


def calls(report, row):
    found = re.findall(r"^\|  %s\s*\t\|[^|]*\|\s*(\d+)" % re.escape(row),
                       report, re.M)
    return sum(map(int, found))


def run(folder, method, spec):
    environment = dict(os.environ, GNOMON=spec, PYTHONPATH=folder)
    done = subprocess.run([sys.executable, __file__, folder, method, "child"],
                          env=environment, capture_output=True, text=True,
                          timeout=100)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "done\n", done.stdout
    lines = re.findall("^gnomon: (?!about |process )(.*)", done.stderr, re.M)
    if method == "fork" and "follow" not in spec:
        # The last child, and workers of the pool that got a task.
        assert re.match("[234] forked children made marks", lines.pop()), lines
    assert not lines, done.stderr
    return done.stderr


def judge(reports, method, follows):
    """Checks the report of each process: both copies are in one table."""
    rows = ("left", "right", "work")
    of = sorted(tuple(calls(t, row) for row in rows) for t in reports)
    print(method, of)
    forked = sum("forked from" in t for t in reports)
    assert forked == (len(of) - 1 if method == "fork" else 0), reports
    wanted = [(3, 3, 2), (3, 3, 2), (6, 7, 3)]
    # The server's children load gnomon themselves, so none of them was forked.
    if method != "fork" or follows:
        wanted.append((4, 4, 2))
    if method == "spawn":  # the pool's workers end by exit()
        for pair in wanted:
            of.remove(pair)
        assert [sum(n) for n in zip(*of)] == 3 * [2 * TASKS], of
        assert len(of) <= WORKERS, of
    else:
        assert of == sorted(wanted), of


def main():
    folder, method = sys.argv[1:3]
    if len(sys.argv) > 3:
        program(method)
        return
    err = run(folder, method, "simple")
    judge(err.split("Profiler Report")[1:], method, False)
    with tempfile.TemporaryDirectory() as reports:
        err = run(folder, method, "simple,fork=follow,file=%s/%%p" % reports)
        assert "Profiler Report" not in err, err
        texts = [open(p).read() for p in glob.glob(reports + "/*")]
        assert all(t.count("Profiler Report") == 1 for t in texts), texts
        judge(texts, method, True)


if __name__ == "__main__":
    main()
