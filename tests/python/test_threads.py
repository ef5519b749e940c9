# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Many threads in the same objects at once. A Python without a global lock runs them in
parallel; with one they take turns."""
import re
import sys
import sysconfig
import textwrap
import unittest

from runs import calls, run

PRELUDE = """
import asyncio, sys, threading
import gnomon
sys.setswitchinterval(1e-5)
THREADS, ROUNDS = 8, 400

def all_at_once(*works):
    start = threading.Barrier(THREADS)
    failed = []
    def body(number):
        start.wait()
        try:
            works[number % len(works)](number)
        except BaseException as error:
            failed.append(error)
    threads = [threading.Thread(target=body, args=(n,)) for n in range(THREADS)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    assert not failed, failed
"""


class Threads(unittest.TestCase):
    def run_threads(self, code, spec="simple"):
        return run(PRELUDE + textwrap.dedent(code), spec)

    def test_the_lock_stays_off(self):
        if not sysconfig.get_config_var("Py_GIL_DISABLED"):
            self.skipTest("this Python has a global lock")
        import gnomon  # noqa: F401

        self.assertFalse(sys._is_gil_enabled())

    def test_scopes_of_one_name(self):
        out, err = self.run_threads(
            """
            same = gnomon.scope("same")
            @gnomon.scope("function")
            def function(): pass
            def work(number):
                for i in range(ROUNDS):
                    with same, gnomon.scope("named"), gnomon.scope("of", "a category"):
                        function()
                    with gnomon.record_function(f"own {number}"):
                        gnomon.start("action"); gnomon.stop("action")
            all_at_once(work)
            assert not any(gnomon.health()[k] for k in ("unmatched", "never_started"))
            """
        )
        every = 8 * 400
        want = {n: every for n in ("same", "named", "of", "function", "action")}
        want.update({f"own {n}": 400 for n in range(8)})
        self.assertEqual(calls(err), want)

    def test_first_uses_of_many_names(self):
        out, err = self.run_threads(
            """
            def work(number):
                for i in range(ROUNDS):
                    with gnomon.scope(f"scope {i % 40}"):
                        gnomon.mark(f"mark {i}"); gnomon.counter(f"counter {i}", i)
                    with gnomon.range(f"range {i % 40}"):
                        pass
            all_at_once(work)
            """
        )
        found = calls(err)
        self.assertEqual(len(found), 80)
        self.assertEqual(set(found.values()), {8 * 10})

    def test_names_are_forgotten_meanwhile(self):
        out, err = self.run_threads(
            """
            def work(number):
                for i in range(4000):
                    gnomon.mark(f"{number} {i}")
                    gnomon.start("kept"); gnomon.stop("kept")
            all_at_once(work)
            """
        )
        self.assertEqual(calls(err), {"kept": 8 * 4000})

    def test_ranges_end_once_on_other_threads(self):
        out, err = self.run_threads(
            """
            opened = [gnomon.range("r") for _ in range(ROUNDS)]
            def work(number):
                for range_ in opened:
                    range_.end()
            all_at_once(work)
            assert gnomon.health()["unmatched"] == 0
            """
        )
        self.assertEqual(calls(err), {"r": 400})

    def test_tasks_on_many_threads(self):
        out, err = self.run_threads(
            """
            same = gnomon.scope("same")
            async def task():
                with same:
                    await asyncio.sleep(0)
            async def tasks():
                await asyncio.gather(*(task() for _ in range(10)))
            def work(number):
                for _ in range(10):
                    asyncio.run(tasks())
            all_at_once(work)
            """
        )
        self.assertEqual(calls(err), {"same": 8 * 100})

    def test_profilers_come_and_go(self):
        out, err = self.run_threads(
            """
            class Count(gnomon.Profiler):
                wants = ("tree",)
                def __init__(self):
                    self.starts, self.lock = 0, threading.Lock()
                def start(self, frame):
                    with self.lock:
                        self.starts += 1
                def summary(self, profile):
                    kept.append(profile)
                    return str(self.starts)
            kept = []
            steady = Count()
            gnomon.attach(steady, "file=/dev/null")
            def comes(number):
                for _ in range(20):
                    own = Count()
                    gnomon.attach(own, "file=/dev/null", name=f"own{number}")
                    gnomon.detach(own)
                    try:
                        gnomon.detach(own)
                    except gnomon.Error:
                        continue
                    assert False, "detached twice"
            def marks(number):
                for _ in range(ROUNDS):
                    with gnomon.scope("same"):
                        pass
            def reads(number):
                for _ in range(20):
                    gnomon.summary("count")
                    for profile in kept[-3:]:
                        try:
                            len(profile.nodes), [n.path for n in profile.nodes]
                        except ValueError as error:
                            assert "over" in str(error), error
            all_at_once(comes, marks, reads, marks)
            assert steady.starts == 4 * ROUNDS, steady.starts
            """,
            None,
        )
        self.assertEqual(err, "")

    def test_a_recording_is_taken_while_it_ends(self):
        out, err = self.run_threads(
            """
            from gnomon import _gnomon
            current = [_gnomon._record(0, False)]
            def replace(number):
                for i in range(50):
                    last, current[0] = current[0], _gnomon._record(0, False)
                    last.end()
            def take(number):
                for i in range(50):
                    with gnomon.scope("s"): pass
                    try:
                        current[0].take()
                    except gnomon.Error:
                        pass  # it was over
            all_at_once(replace, take, take, take)
            current[0].end()
            """,
            None,
        )
        self.assertNotIn("Error", err)

    def test_a_step_consists_of_what_its_thread_did(self):
        out, err = self.run_threads(
            """
            import time
            over = threading.Event()
            def prefetch():
                while not over.is_set():
                    with gnomon.scope("prefetch"):
                        time.sleep(0.001)
            other = threading.Thread(target=prefetch)
            other.start()
            time.sleep(0.05)  # before all steps
            gnomon.stage_begin("fit")
            for _ in range(3):
                with gnomon.scope("train_step"):
                    with gnomon.scope("load"):
                        time.sleep(0.002)
                    with gnomon.scope("model"):
                        time.sleep(0.002)
                gnomon.step()
            over.set()
            other.join()
            time.sleep(0.05)
            """,
            "steps",
        )
        parts = re.findall(r"^of a step: (.*)", err, re.M)[0]
        self.assertEqual(set(re.findall("[a-z_]+", parts)), {"load", "model"})

    def test_names_are_pythons(self):
        out, err = run(
            """
            import threading, gnomon
            from concurrent.futures import ThreadPoolExecutor
            gnomon.setup("tree(file=/dev/null)")
            def work(n=0):
                with gnomon.scope("work"):
                    both.wait()
            both = threading.Barrier(2)
            with ThreadPoolExecutor(2) as pool:
                list(pool.map(work, range(2)))
            def renamed():
                gnomon.thread_name("renamed")
                work()
            others = [threading.Thread(target=work, name="loader \u00e9"),
                      threading.Thread(target=renamed)]
            for other in others: other.start()
            for other in others: other.join()
            with gnomon.scope("main"):
                pass
            print(sorted(ascii(t.name) for t in gnomon.snapshot("tree").tracks))
            """
        )
        names = eval(out)
        self.assertEqual(len(names), 5)
        for name in ("ThreadPoolExecutor-0_0", "ThreadPoolExecutor-0_1", "renamed"):
            self.assertIn(repr(name), names)
        self.assertIn(r"'loader \xe9'", names)
        self.assertNotIn("'MainThread'", names)

    def test_names_have_an_end(self):
        out, err = run(
            """
            import threading, gnomon
            gnomon.setup("tree(file=/dev/null)")
            def work():
                with gnomon.scope("work"):
                    pass
            for _ in range(300):
                thread = threading.Thread(target=work)
                thread.start()
                thread.join()
            names = [t.name for t in gnomon.snapshot("tree").tracks]
            print(len(names), sum("#" in name for name in names))
            """
        )
        self.assertLess(int(out.split()[0]), 260)

    def test_each_call_on_many_threads(self):
        out, err = self.run_threads(
            """
            made = []
            for i in range(700):
                exec(f"def probe(): return len(str({i}))")
                made.append(probe)
            def work(number):
                for function in made:
                    function()
            with gnomon.calls():
                all_at_once(work)
            rows = gnomon.snapshot("regions").rows()
            print(sum(r.host.count for r in rows if r.name == "probe"))
            """,
            "regions,file=/dev/null",
        )
        self.assertEqual(out, f"{8 * 700}\n")


if __name__ == "__main__":
    unittest.main()
