# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Marks of Python: what they count, what they raise, and that they cost nothing where
nobody records."""
import inspect
import os
import pickle
import unittest

import gnomon
from runs import calls, own_lines, run


class Off(unittest.TestCase):
    def test_no_mark_says_or_writes_anything(self):
        out, err = run(
            """
            import gnomon
            with gnomon.scope("a"), gnomon.range("r"):
                gnomon.start("x"); gnomon.stop("x"); gnomon.stop("y")
                gnomon.counter("c", 1); gnomon.mark("m"); gnomon.step()
            assert not gnomon.enabled()
            """
        )
        self.assertEqual((out, err), ("", ""))

    def test_a_name_has_one_scope(self):
        self.assertIs(gnomon.scope("one"), gnomon.scope("one"))
        self.assertIsNot(gnomon.scope("one"), gnomon.scope("one", "category"))
        self.assertEqual(gnomon.scope("one", "category").category, "category")
        self.assertIsNone(gnomon.scope(name="one").category)

    def test_wrong_arguments_raise(self):
        for wrong in (
            lambda: gnomon.scope(),
            lambda: gnomon.scope(1),
            lambda: gnomon.scope("a", "b", "c"),
            lambda: gnomon.scope("a", name="a"),
            lambda: gnomon.scope("a", colour="red"),
            lambda: gnomon.scope("a", 1),
            lambda: gnomon.scope("a")(3),
            lambda: type(gnomon.scope("a"))(),
            lambda: gnomon.Range(),
            lambda: gnomon.step("three"),
            lambda: gnomon.thread_name(3),
        ):
            with self.assertRaises(TypeError):
                wrong()

    def test_wrong_arguments_raise_on_or_off(self):
        out, _ = run(
            """
            import gnomon
            wrong = [
                (gnomon.start, 3), (gnomon.stop, None), (gnomon.counter, "c", None),
                (gnomon.counter, "c"), (gnomon.counter, 5, 1), (gnomon.mark, 5),
                (gnomon.counter, "c", 1, 5), (gnomon.mark, "m", 5), (gnomon.step, "a"),
                (gnomon.scope, 5), (gnomon.scope, "s", 5), (gnomon.range, 5),
                (gnomon.thread_name, 5), (gnomon.mark,), (gnomon.mark, "m", None, 1),
            ]
            for spec in "", "simple":
                gnomon.configure(spec)
                for function, *words in wrong:
                    try:
                        function(*words)
                    except TypeError:
                        continue
                    print(spec, function, words)
            gnomon.configure("")
            """
        )
        self.assertEqual(out, "")

    def test_a_scope_that_was_entered_off_ends_no_other(self):
        """Nor does one of a task, of the thread's other tasks."""
        out, _ = run(
            """
            import asyncio, threading, gnomon
            def elsewhere(function, *words):
                thread = threading.Thread(target=function, args=words)
                thread.start(); thread.join()
            gnomon.configure("")
            one = gnomon.scope("x")
            elsewhere(one.__enter__)
            gnomon.configure("simple")
            opens = lambda: print(len(gnomon.snapshot("simple").opens))
            with one:
                elsewhere(one.__exit__, None, None, None)
                opens()
            opens()
            one.__enter__()  # a thread may end another's, as a generator's
            elsewhere(one.__exit__, None, None, None)
            opens()

            async def early(begun, ends):
                with one:
                    begun.set()
                    await ends.wait()
            async def main():
                begun, ends = asyncio.Event(), asyncio.Event()
                gnomon.configure("")
                first = asyncio.create_task(early(begun, ends))
                await begun.wait()
                gnomon.configure("simple")
                with one:
                    ends.set()
                    await first
                    opens()
            asyncio.run(main())
            gnomon.configure("")
            """
        )
        self.assertEqual(out.split(), ["1", "0", "0", "1"])

    def test_names_while_nothing_is_attached_take_no_place(self):
        out, _ = run(
            """
            import gnomon
            gnomon.configure("")
            for i in range(140000):
                with gnomon.scope(f"request {i}"): pass
            gnomon.configure("simple")
            with gnomon.scope("train"): pass
            print("train" in gnomon.summary(), gnomon.health()["other_names"])
            gnomon.configure("")
            """
        )
        self.assertEqual(out, "True 0\n")

    def test_names_of_any_kind_are_taken(self):
        for name in ("", "\0", "\ud800", "é" * 5000, "a\nb"):
            with gnomon.scope(name, name):
                gnomon.start(name)
                gnomon.stop(name)

    def test_decorating_reads_no_environment(self):
        out, err = run(
            """
            import gnomon
            @gnomon.scope("decorated")
            def work(): pass
            class Late(gnomon.Profiler):
                def start(self, frame):
                    print(frame.name)
            gnomon.register(Late)
            work()
            """,
            "late",
        )
        self.assertEqual((out, err), ("decorated\n", ""))

    def test_a_scope_is_found_again_by_pickle(self):
        scope = gnomon.scope("kept", "category")
        self.assertIs(pickle.loads(pickle.dumps(scope)), scope)
        self.assertEqual(repr(scope), "gnomon.scope('kept', 'category')")


class Counts(unittest.TestCase):
    def count(self, code, spec="simple"):
        out, err = run("import gnomon\n" + inspect.cleandoc(code), spec)
        self.assertEqual(own_lines(err), [], err)
        return calls(err)

    def test_scopes_actions_and_ranges(self):
        found = self.count(
            """
            for _ in range(3):
                with gnomon.scope("outer"):
                    with gnomon.scope("inner", category="io"):
                        pass
                    with gnomon.record_function("torch's", args="ignored"):
                        pass
                gnomon.start("action")
                gnomon.stop("action")
            for _ in range(2):
                gnomon.range("ended").end()
                with gnomon.range("left"):
                    pass
            """
        )
        self.assertEqual(
            found,
            {"outer": 3, "inner": 3, "torch's": 3, "action": 3, "ended": 2, "left": 2},
        )

    def test_memory_of_pools(self):
        plugin = os.path.join(os.environ["GNOMON_TESTS"], "..", "libgnomon-memory.so")
        out, _ = run(
            """
            import gnomon
            with gnomon.scope("step"):
                gnomon.allocated("cuda:1", 4096, 100)
                gnomon.allocated(pool="cuda:1", pointer=8192, bytes=20)
                gnomon.freed("cuda:1", 4096)
            node, = [n for n in gnomon.snapshot("memory").nodes if n.memory]
            m, = node.memory
            print(m.allocations, m.frees, m.held_bytes, m.at_peak_bytes, m.unknown)
            for wrong in ("cuda:1", 1), ("cuda:1", "x", 1), (1, 1, 1):
                try:
                    gnomon.allocated(*wrong)
                    print("taken", wrong)
                except TypeError:
                    pass
            """,
            plugin + "(file=/dev/null)",
        )
        self.assertEqual(out, "2 1 20 120 0\n")

    def test_one_scope_may_be_open_many_times(self):
        found = self.count(
            """
            scope = gnomon.scope("same")
            with scope, scope, gnomon.scope("same"):
                with scope:
                    pass
            def deep(n):
                with scope:
                    return n and deep(n - 1)
            deep(100)
            """
        )
        self.assertEqual(found, {"same": 105})

    def test_threads_share_a_scope(self):
        found = self.count(
            """
            import threading
            together = threading.Barrier(8)
            def work():
                for _ in range(100):
                    with gnomon.scope("shared"):
                        with gnomon.scope("inner"):
                            pass
                together.wait()
            threads = [threading.Thread(target=work) for _ in range(8)]
            for thread in threads: thread.start()
            for thread in threads: thread.join()
            assert gnomon.health()["crossed"] == 0
            """
        )
        self.assertEqual(found, {"shared": 800, "inner": 800})

    def test_exceptions_and_interrupts_end_scopes(self):
        found = self.count(
            """
            import signal, os
            for error in (ValueError, KeyboardInterrupt, SystemExit, GeneratorExit):
                try:
                    with gnomon.scope("raises"):
                        with gnomon.scope("inner"):
                            raise error
                except error:
                    pass
            try:
                with gnomon.scope("interrupted"):
                    os.kill(os.getpid(), signal.SIGINT)
                    while True:
                        with gnomon.scope("loop"):
                            pass
            except KeyboardInterrupt:
                pass
            with gnomon.scope("after"):
                pass
            health = gnomon.health()
            assert not health["crossed"] and not health["unmatched"], health
            """
        )
        self.assertEqual(found["raises"], 4)
        self.assertEqual(found["inner"], 4)
        self.assertEqual((found["interrupted"], found["after"]), (1, 1))

    def test_decorated_functions_keep_what_they_are(self):
        found = self.count(
            """
            import asyncio, inspect, types
            @gnomon.scope("function")
            def function(a, b=2):
                "its text"
                return a + b
            assert function(1) == 3 and function.__name__ == "function"
            assert function.__doc__ == "its text"
            assert str(inspect.signature(function)) == "(a, b=2)"
            class Thing:
                @gnomon.scope("method")
                def method(self): return self
                @gnomon.scope("static")
                @staticmethod
                def static(): return 1
                @gnomon.scope("class")
                @classmethod
                def of(cls): return cls
            thing = Thing()
            assert thing.method() is thing and Thing.static() == 1
            assert Thing.of() is Thing
            @gnomon.scope("coroutine")
            async def coroutine(): return 5
            assert inspect.iscoroutinefunction(coroutine)
            assert asyncio.run(coroutine()) == 5
            @gnomon.scope("generator")
            @types.coroutine
            def generator(): return (yield from coroutine())
            async def waits(): return await generator()
            assert asyncio.run(waits()) == 5
            """
        )
        once = dict.fromkeys(("function", "method", "static", "class", "generator"), 1)
        self.assertEqual(found, dict(once, coroutine=2))

    def test_a_scope_covers_the_whole_life_of_a_generator(self):
        found = self.count(
            """
            import asyncio, inspect
            @gnomon.scope("values")
            def values():
                got = yield 1
                assert got == "sent"
                try:
                    yield 2
                except KeyError:
                    yield 3
                return 4
            assert inspect.isgeneratorfunction(values)
            g = values()
            assert next(g) == 1 and g.send("sent") == 2
            assert g.throw(KeyError()) == 3
            try:
                next(g)
            except StopIteration as end:
                assert end.value == 4
            for _ in values():
                break
            @gnomon.scope("stream")
            async def stream():
                got = yield 1
                assert got == "sent"
                try:
                    yield 2
                except KeyError:
                    yield 3
            async def main():
                s = stream()
                assert await s.asend(None) == 1
                assert await s.asend("sent") == 2
                assert await s.athrow(KeyError()) == 3
                assert [v async for v in s] == []
            asyncio.run(main())
            """
        )
        self.assertEqual(found, {"values": 2, "stream": 1})

    def test_generators_that_interleave_cost_no_scope_its_count(self):
        found = self.count(
            """
            def steps(name):
                with gnomon.scope(name):
                    yield
                    yield
            first, second = steps("first"), steps("second")
            next(first); next(second)
            first.close()
            with gnomon.scope("between"):
                pass
            second.close()
            health = gnomon.health()
            assert not health["crossed"] and not health["unmatched"], health
            """
        )
        self.assertEqual(found, {"first": 1, "second": 1, "between": 1})

    def test_marks_while_garbage_is_collected(self):
        found = self.count(
            """
            import gc
            class Cycle:
                def __init__(self): self.me = self
                def __del__(self):
                    with gnomon.scope("collected"):
                        pass
            gc.set_threshold(5)
            for _ in range(500):
                with gnomon.scope("makes"):
                    Cycle()
            gc.collect()
            """
        )
        self.assertEqual(found, {"makes": 500, "collected": 500})

    def test_what_cannot_be_marked_is_counted_and_raises_nothing(self):
        out, err = run(
            """
            import gnomon
            gnomon.stop("never started")
            gnomon.start("twice"); gnomon.start("twice"); gnomon.stop("twice")
            health = gnomon.health()
            assert health["never_started"] == 1 and health["twice"] == 1, health
            """,
            "simple",
        )
        self.assertEqual(calls(err), {"twice": 1})

    def test_a_range_ends_on_another_thread(self):
        found = self.count(
            """
            import threading
            ranges = [gnomon.range("moved") for _ in range(5)]
            thread = threading.Thread(target=lambda: [r.end() for r in ranges])
            thread.start(); thread.join()
            for r in ranges:
                r.end()
            assert gnomon.health()["unmatched"] == 0
            """
        )
        self.assertEqual(found, {"moved": 5})

    def test_links_lead_to_the_submitting_scope(self):
        out, err = run(
            """
            import gnomon, threading
            def work(link):
                with gnomon.scope("worker"):
                    gnomon.link_in(link)
            with gnomon.scope("submits"):
                thread = threading.Thread(target=work, args=(gnomon.link_out(),))
                thread.start()
                thread.join()
            """,
            "tree",
        )
        self.assertRegex(err, "(?s)submits.*worker")
        with self.assertRaises(ValueError):
            gnomon.link_in(b"no link")


class Control(unittest.TestCase):
    def tearDown(self):
        gnomon.configure(None)

    def test_configure_attaches_and_summary_reports(self):
        gnomon.configure("simple")
        self.assertTrue(gnomon.enabled())
        self.assertTrue(gnomon.spec().startswith("simple("), gnomon.spec())
        with gnomon.scope("configured"):
            pass
        self.assertEqual(calls(gnomon.summary("simple"))["configured"], 1)
        self.assertEqual(calls(gnomon.summary())["configured"], 1)

    def test_errors_have_code_and_text(self):
        with self.assertRaises(gnomon.Error) as caught:
            gnomon.configure("simple,fliter=a")
        self.assertEqual(caught.exception.code, -1)
        self.assertIn("GNOMON_EINVAL", str(caught.exception))
        self.assertIn("did you mean 'filter'", str(caught.exception))
        self.assertEqual(gnomon.Error("the package's own").code, 0)
        with self.assertRaises(gnomon.Error):
            gnomon.summary("nobody")
        with self.assertRaises(gnomon.Error):
            gnomon.stage_end()
        with self.assertRaises(gnomon.Error):
            gnomon.setup(rank=3, world_size=2)
        gnomon.teardown()

    def test_stages_and_metadata(self):
        out, err = run(
            """
            import gnomon
            gnomon.setup("simple", rank=0, world_size=2)
            gnomon.metadata("lr", {"value": 0.5})
            with gnomon.stage("fit"):
                with gnomon.scope("step"):
                    pass
                gnomon.step()
                gnomon.step(7)
            with gnomon.stage("test"):
                with gnomon.scope("step"):
                    pass
            gnomon.teardown()
            """
        )
        self.assertIn("FIT Profiler Report", err)
        self.assertIn("TEST Profiler Report", err)
        self.assertEqual(calls(err), {"step": 2})

    def test_health_has_all_counts(self):
        health = gnomon.health()
        self.assertIn("never_started", health)
        self.assertGreater(len(health), 20)

    def test_changing_names_take_no_memory_of_python(self):
        out, err = run(
            """
            import gnomon, tracemalloc
            def names(n):
                for i in range(n):
                    with gnomon.scope(f"name {i}"):
                        pass
            gnomon.configure("simple")
            names(20000)
            tracemalloc.start()
            names(50000)
            print(tracemalloc.get_traced_memory()[0])
            gnomon.configure(None)
            """
        )
        self.assertLess(int(out), 2 << 20)


if __name__ == "__main__":
    unittest.main()
