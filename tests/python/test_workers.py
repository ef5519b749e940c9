# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Worker processes, which end by os._exit: each that marks something reports as
itself, however it was started."""
import glob
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from runs import PLAIN, calls, own_lines, run

PROGRAM = '''
import multiprocessing, os, sys
import gnomon

def work(n):
    with gnomon.scope("work"):
        for _ in range(n):
            with gnomon.scope("item"):
                pass
    return n

def silent(n):
    return n

if __name__ == "__main__":
    context = multiprocessing.get_context(sys.argv[1])
    with gnomon.scope("parent"):
        for target in (work, work, silent):
            child = context.Process(target=target, args=(3,))
            child.start()
            child.join()
            assert child.exitcode == 0, child.exitcode
        pool = context.Pool(2)
        assert pool.map(work, [1] * 6, chunksize=1) == [1] * 6
        pool.close()
        pool.join()
    print("done")
'''


class Workers(unittest.TestCase):
    def start(self, method, spec, program=PROGRAM):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        path = os.path.join(folder.name, "program.py")
        with open(path, "w") as file:
            file.write(program)
        child = subprocess.run(
            [sys.executable, *PLAIN, path, method],
            env=dict(os.environ, GNOMON=spec.replace("DIR", folder.name)),
            capture_output=True,
            text=True,
            timeout=100,
        )
        self.assertEqual(child.returncode, 0, child)
        self.assertEqual(child.stdout, "done\n", child)
        self.assertEqual(own_lines(child.stderr), [])
        self.folder = folder.name
        return child.stderr

    def check(self, reports):
        found = [calls(report) for report in reports]
        self.assertEqual(found.count({"parent": 1}), 1, found)
        self.assertEqual(found.count({"work": 1, "item": 3}), 2, found)
        pool = [f for f in found if "work" in f and f["work"] == f["item"]]
        self.assertEqual(sum(f.get("work", 0) for f in pool), 6, found)
        self.assertEqual(len(found), 3 + len(pool), found)
        self.assertLessEqual(len(pool), 2)

    def test_workers_report_to_stderr(self):
        for method in ("fork", "spawn", "forkserver"):
            with self.subTest(method):
                err = self.start(method, "simple")
                self.check(err.split("Profiler Report")[1:])

    def test_each_worker_has_a_file_of_its_own(self):
        for method in ("fork", "spawn", "forkserver"):
            for more in ("", ",fork=follow"):
                with self.subTest(method, more=more):
                    err = self.start(method, "simple,file=DIR/%p.txt" + more)
                    self.assertNotIn("Profiler Report", err)
                    files = glob.glob(self.folder + "/*.txt")
                    self.check([pathlib.Path(path).read_text() for path in files])

    def test_a_forked_child_that_is_no_worker_stays_silent(self):
        out, err = run(
            """
            import gnomon, os
            with gnomon.scope("before"):
                child = os.fork()
                if not child:
                    with gnomon.scope("in the child"):
                        pass
                    os._exit(0)
                os.waitpid(child, 0)
            """,
            "simple",
        )
        self.assertEqual(calls(err), {"before": 1})

    def test_a_child_leaves_what_its_parent_opened_alone(self):
        out, err = run(
            """
            import gnomon, os, sys
            opened = gnomon.range("opened")
            with gnomon.scope("outer"):
                child = os.fork()
                if not child:
                    gnomon.setup()
                    with gnomon.scope("in the child"):
                        pass
            opened.end()
            if not child:
                gnomon.teardown()
                assert gnomon.health()["unmatched"] == 0
                os._exit(0)
            assert os.waitpid(child, 0)[1] == 0
            """,
            "simple",
        )
        self.assertEqual(calls(err), {"outer": 1, "opened": 1, "in the child": 1})

    def test_executors_report(self):
        program = PROGRAM.replace(
            "        pool = context.Pool(2)",
            "        import concurrent.futures\n"
            "        with concurrent.futures.ProcessPoolExecutor(2, context) as pool:\n"
            "            assert list(pool.map(work, [1] * 6)) == [1] * 6\n"
            "        print('done'); sys.exit()\n"
            "        pool = context.Pool(2)",
        )
        for method in ("fork", "spawn"):
            with self.subTest(method):
                err = self.start(method, "simple", program)
                self.check(err.split("Profiler Report")[1:])

    def test_a_worker_that_raises_reports(self):
        out, err = run(
            """
            import gnomon, multiprocessing
            def fails():
                with gnomon.scope("fails"):
                    raise ValueError("no")
            child = multiprocessing.get_context("fork").Process(target=fails)
            child.start(); child.join()
            assert child.exitcode == 1
            """,
            "simple",
        )
        self.assertEqual(calls(err), {"fails": 1})


if __name__ == "__main__":
    unittest.main()
