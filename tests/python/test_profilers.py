# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Classes of Python as profilers."""
import unittest

import gnomon
from runs import calls, own_lines, run

COUNT = '''
import collections, gnomon

class Count(gnomon.Profiler):
    """counts scopes"""

    options = {"most": 3, "loud": False, "unit": "scopes", "scale": 0.5, "more": None}

    def __init__(self, **options):
        self.options = options
        self.counts = collections.Counter()
        self.steps = []

    def start(self, frame):
        self.counts[frame.name] += 1

    def step(self, event):
        self.steps.append(event.step)

    def summary(self, profile):
        assert profile is None
        return f"{dict(self.counts)} {self.steps} {self.options}\\n"

gnomon.register(Count)
'''


class Everything(gnomon.Profiler):
    wants = ("times", "tree")

    def __init__(self):
        self.seen = []

    def setup(self, stage):
        self.seen.append(("setup", stage))

    def start(self, frame):
        self.seen.append(("start", frame.name, frame.category))

    def stop(self, frame):
        self.seen.append(("stop", frame.name, frame.end_ns >= frame.begin_ns > 0))

    def step(self, event):
        self.seen.append(("step", event.step, event.end_ns >= event.begin_ns))

    def counter(self, event):
        self.seen.append(("counter", event.name, event.category, event.value))

    def mark(self, event):
        self.seen.append(("mark", event.name))

    def thread(self, event):
        self.seen.append(("thread", event.name, event.os_id > 0))

    def summary(self, profile):
        self.profile = profile
        rows = [(row.name, row.host.count) for row in profile.rows()]
        return f"{sorted(rows)}\n"

    def teardown(self, stage):
        self.seen.append(("teardown", stage))


class Attached(unittest.TestCase):
    def attach(self, profiler, *options):
        gnomon.attach(profiler, *options)
        self.addCleanup(gnomon.configure, None)

    def test_each_callback_comes_with_its_event(self):
        one = Everything()
        self.attach(one)
        with gnomon.stage("fit"):
            with gnomon.scope("a", "io"):
                gnomon.counter("loss", 0.5, "numbers")
                gnomon.mark("here")
            gnomon.step()
            gnomon.thread_name("named")
        gnomon.detach(one)
        self.assertEqual(
            [e for e in one.seen if e[0] not in ("setup", "teardown")],
            [
                ("start", "a", "io"),
                ("counter", "loss", "numbers", 0.5),
                ("mark", "here"),
                ("stop", "a", True),
                ("step", 0, True),
                ("thread", "named", True),
            ],
        )
        self.assertIn(("setup", "fit"), one.seen)
        self.assertIn(("teardown", "fit"), one.seen)
        with gnomon.scope("after"):
            pass
        self.assertNotIn(("start", "after", None), one.seen)

    def test_the_profile_of_a_summary_is_lent(self):
        one = Everything()
        self.attach(one)
        with gnomon.scope("kept"):
            pass
        self.assertEqual(gnomon.summary("everything"), "[('kept', 1)]\n")
        self.assertEqual(gnomon.summary(), "[('kept', 1)]\n")
        with self.assertRaises(ValueError):
            len(one.profile.nodes)
        self.assertEqual(gnomon.snapshot("everything").rows()[0].name, "kept")
        gnomon.detach(one)

    def test_a_summary_that_raises_raises_in_who_asks(self):
        class Fails(gnomon.Profiler):
            def start(self, frame):
                pass

            def summary(self, profile):
                raise ValueError("no report")

        one = Fails()
        self.attach(one)
        with gnomon.scope("a"):
            pass
        with self.assertRaises(gnomon.Error) as caught:
            gnomon.summary("fails")
        self.assertIn("GNOMON_EPLUGIN", str(caught.exception))
        gnomon.detach(one)

    def test_options_filter(self):
        one = Everything()
        self.attach(one, "filter=opt*")
        for name in ("opt_step", "other"):
            with gnomon.scope(name):
                pass
        names = {event[1] for event in one.seen if event[0] == "start"}
        self.assertEqual(names, {"opt_step"})
        gnomon.detach(one)

    def test_only_subclasses_are_taken(self):
        with self.assertRaises(TypeError):
            gnomon.attach(object())
        with self.assertRaises(TypeError):
            gnomon.register(dict)
        with self.assertRaises(gnomon.Error):
            gnomon.detach(Everything())
        wrong = type("Wrong", (gnomon.Profiler,), {"wants": ("trees",)})
        with self.assertRaises(ValueError):
            gnomon.register(wrong)
        with self.assertRaises(TypeError):
            gnomon.register(type("Wrong", (gnomon.Profiler,), {"options": 3}))
        with self.assertRaises(gnomon.Error):
            gnomon.attach(Everything(), "fliter=a")

    def test_marks_in_callbacks_are_ignored(self):
        class Marks(gnomon.Profiler):
            def start(self, frame):
                with gnomon.scope("inside"):
                    gnomon.start("action")

        before = gnomon.health()["reentered"]
        one = Marks()
        self.attach(one)
        with gnomon.scope("a"):
            pass
        gnomon.detach(one)
        self.assertGreater(gnomon.health()["reentered"], before)


class Registered(unittest.TestCase):
    def test_it_is_selected_by_its_name(self):
        out, err = run(
            COUNT
            + """
for _ in range(2):
    with gnomon.scope("a"):
        pass
    gnomon.step()
""",
            "count(most=5,loud=true,scale=0.25),simple",
        )
        self.assertIn(
            "{'a': 2} [0, 1] {'most': 5, 'loud': True, 'unit': 'scopes', "
            "'scale': 0.25, 'more': None}\n",
            err,
        )
        self.assertEqual(calls(err), {"a": 2})
        self.assertEqual(own_lines(err), [])

    def test_help_lists_it(self):
        out, err = run(COUNT + "gnomon.enabled()\n", "help")
        self.assertRegex(err + out, "count .*counts scopes")
        self.assertRegex(err + out, "most +number +.3.")

    def test_an_exception_is_one_line_and_the_host_goes_on(self):
        code = """
            import gnomon
            class Bad(gnomon.Profiler):
                def {name}(self, *args):
                    raise ValueError("bad\\nnews")
            gnomon.register(Bad)
            with gnomon.stage("fit"):
                for _ in range(5):
                    with gnomon.scope("a"):
                        gnomon.counter("c", 1)
                        gnomon.mark("m")
                    gnomon.step()
            gnomon.thread_name("t")
            print("done")
            """
        names = ("__init__", "setup", "start", "stop", "step", "counter", "mark")
        for name in names + ("thread", "summary", "teardown"):
            with self.subTest(name):
                out, err = run(code.replace("{name}", name), "bad,simple")
                self.assertEqual(out, "done\n")
                told = [line for line in own_lines(err) if "ValueError" in line]
                self.assertLessEqual(1, len(told), err)
                self.assertEqual(set(told), {told[0]})
                self.assertIn(f"bad: {name} raised ValueError('bad\\nnews')", told[0])
                self.assertEqual(own_lines(err), told)
                if name != "summary":
                    self.assertEqual(len(told), 1)
                self.assertEqual(calls(err), {"a": 5})

    def test_an_interrupt_inside_a_callback_is_not_lost(self):
        out, err = run(
            """
            import gnomon, os, signal
            class Interrupts(gnomon.Profiler):
                def start(self, frame):
                    os.kill(os.getpid(), signal.SIGINT)
                    while True:
                        pass
            gnomon.register(Interrupts)
            try:
                with gnomon.scope("a"):
                    while True:
                        pass
            except KeyboardInterrupt:
                print("interrupted")
            """,
            "interrupts",
        )
        self.assertEqual((out, own_lines(err)), ("interrupted\n", []))

    def test_threads_call_it_at_once(self):
        out, err = run(
            """
            import gnomon, threading
            class Count(gnomon.Profiler):
                def __init__(self):
                    self.lock, self.count = threading.Lock(), 0
                def start(self, frame):
                    with self.lock:
                        self.count += 1
                def step(self, event):
                    with self.lock:
                        self.count += 1000
                def summary(self, profile):
                    return f"{self.count}\\n"
            gnomon.register(Count)
            def work():
                for _ in range(200):
                    with gnomon.scope("a"):
                        pass
                    gnomon.step()
            threads = [threading.Thread(target=work) for _ in range(8)]
            for thread in threads: thread.start()
            for thread in threads: thread.join()
            """,
            "count",
        )
        self.assertEqual(err, f"{8 * 200 * 1001}\n")

    def test_control_calls_and_marks_of_threads_do_not_wait_for_each_other(self):
        out, err = run(
            """
            import gnomon, threading
            class Busy(gnomon.Profiler):
                wants = ("tree",)
                def start(self, frame):
                    sum(range(100))
                def setup(self, stage):
                    sum(range(1000))
                def summary(self, profile):
                    return str(len(profile.nodes))
            gnomon.register(Busy)
            over = False
            def work():
                while not over:
                    with gnomon.scope("a"):
                        pass
                    gnomon.step()
            threads = [threading.Thread(target=work) for _ in range(3)]
            for thread in threads: thread.start()
            try:
                for i in range(30):
                    gnomon.configure("busy" if i % 3 else "")
                    if i % 3:
                        gnomon.summary("busy")
            finally:
                over = True
            for thread in threads: thread.join()
            print("done")
            """,
            "busy",
        )
        self.assertEqual(out, "done\n")
        self.assertNotIn("marks made inside gnomon", err)

    def test_the_last_report_comes_while_python_runs(self):
        out, err = run(
            """
            import gnomon, atexit
            class Late(gnomon.Profiler):
                wants = ("tree",)
                def summary(self, profile):
                    import json
                    return json.dumps([row.name for row in profile.rows()]) + "\\n"
            one = Late()
            gnomon.attach(one)
            def late():
                with gnomon.scope("in atexit"):
                    pass
            atexit.register(late)
            gnomon.setup()
            with gnomon.scope("a"):
                pass
            """
        )
        self.assertEqual(own_lines(err), [])
        self.assertIn('["a", "in atexit"]', err.replace('["in atexit", "a"]', err))

    def test_a_worker_has_one_of_its_own(self):
        out, err = run(
            COUNT
            + """
import multiprocessing
def work():
    with gnomon.scope("worker"):
        pass
child = multiprocessing.get_context("fork").Process(target=work)
with gnomon.scope("parent"):
    child.start()
    child.join()
assert child.exitcode == 0
""",
            "count",
        )
        self.assertEqual(own_lines(err), [])
        self.assertIn("{'parent': 1}", err)
        self.assertIn("{'worker': 1}", err)


if __name__ == "__main__":
    unittest.main()
