# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""run.py FOLDER METHOD: a Python program with the modules left and right, each
with a copy of gnomon, and a pool of workers started by METHOD. Run as a child
under GNOMON=simple without and with fork=follow, and judged by its reports."""
import glob
import multiprocessing
import os
import re
import subprocess
import sys
import tempfile

WORKERS, TASKS = 3, 12


def task(n):
    import left
    import right
    left.work(n)
    return right.work(n) + os.getpid() * 0


def program(method):
    import left
    import right
    left.work(5)
    right.work(7)
    context = multiprocessing.get_context(method)
    with context.Pool(WORKERS) as pool:
        done = pool.map(task, [2] * TASKS, chunksize=1)
        pool.close()
        pool.join()  # workers end by themselves, through os._exit
    children = [context.Process(target=task, args=(3,)) for _ in range(2)]
    for child in children:
        child.start()
    for child in children:
        child.join()
    assert done == [2] * TASKS, done
    assert all(child.exitcode == 0 for child in children)
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
    return done.stderr


def main():
    folder, method = sys.argv[1:3]
    if len(sys.argv) > 3:
        program(method)
        return
    # One table of both copies, the parent's; forked children are silent, and
    # spawned ones are programs of their own.
    err = run(folder, method, "simple")
    mine = [t for t in err.split("Profiler Report") if calls(t, "left") == 6]
    assert len(mine) == 1, err
    assert calls(mine[0], "right") == 7 and calls(mine[0], "work") == 3, err
    if method == "fork":
        assert err.count("Profiler Report") == 1, err
    # With fork=follow every process has a report of its own.
    with tempfile.TemporaryDirectory() as reports:
        err = run(folder, method, "simple,fork=follow,file=%s/%%p" % reports)
        assert "Profiler Report" not in err, err
        texts = [open(p).read() for p in glob.glob(reports + "/*")]
        assert all(t.count("Profiler Report") == 1 for t in texts), texts
        of = sorted((calls(t, "left"), calls(t, "right")) for t in texts)
        assert (6, 7) in of, of
        print(method, of)


if __name__ == "__main__":
    main()
