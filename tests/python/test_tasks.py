# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tasks of asyncio, which take turns on one thread: a scope belongs to its task."""
import csv
import importlib.util
import io
import re
import tempfile
import unittest

from runs import calls, own_lines, run


def paths(report):
    """The paths of a report of `tree`, as tuples of names, with their calls."""
    found, stack = {}, []
    for line in report.splitlines():
        row = re.match(r"( *)(\S+(?: \(overlapping\))?) +[\d.]+  .*?(\d+) +\d+$", line)
        if row:
            depth = len(row[1]) // 2
            stack[depth:] = [row[2]]
            key = tuple(stack)
            found[key] = found.get(key, 0) + int(row[3])
    return found


# Two that interleave, begun in one order and ended in the other; `mark` is what they do.
TRIO = """
import gnomon, trio
async def one(name, mine, other):
    with mark(name):
        other.set()
        await mine.wait()
async def main():
    first, second = trio.Event(), trio.Event()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(one, "a", first, second)
        await second.wait()
        nursery.start_soon(one, "b", second, first)
def turns():
    trio.run(main)
"""
GREENLETS = """
import gnomon, greenlet
def a():
    with mark("a"):
        second.switch()
    second.switch()
def b():
    with mark("b"):
        first.switch()
    main.switch()
main = greenlet.getcurrent()
first, second = greenlet.greenlet(a), greenlet.greenlet(b)
def turns():
    first.switch()
"""


class Tasks(unittest.TestCase):
    def check_turns(self, module, code):
        """Each has its count, and nothing is unmatched; a range has no path, a scope that
        of what is open on the thread."""
        if importlib.util.find_spec(module) is None:
            self.skipTest(f"no {module}")
        ending = """
turns()
with mark("after"):
    pass
health = gnomon.health()
assert not health["crossed"] and not health["unmatched"], health
rows = {r.name: r.host.count for r in gnomon.snapshot("simple").rows()}
assert rows == {"a": 1, "b": 1, "after": 1}, rows
print(sorted("/".join(n.path) for n in gnomon.snapshot("tree").nodes))
gnomon.configure("")
"""
        for mark, paths_wanted in (
            ("scope", ["a", "a/b", "after"]),
            ("range", ["a", "after", "b"]),
        ):
            program = code + f"mark = gnomon.{mark}" + ending
            out, _ = run(program, "simple,tree", plain=["-B"])
            self.assertEqual(out, f"{paths_wanted}\n")

    def test_tasks_of_trio(self):
        self.check_turns("trio", TRIO)

    def test_greenlets(self):
        self.check_turns("greenlet", GREENLETS)

    def test_tasks_that_interleave_lose_nothing_and_do_not_nest(self):
        code = """
            import asyncio, gnomon
            async def work(name, mine, other):
                with gnomon.scope(name):
                    for _ in range(5):
                        await mine.acquire()
                        with gnomon.scope(name + "-step"):
                            other.release()
                            await asyncio.sleep(0)
            async def main():
                a, b = asyncio.Semaphore(1), asyncio.Semaphore(0)
                await asyncio.gather(work("a", a, b), work("b", b, a))
            with gnomon.scope("run"):
                asyncio.run(main())
            with gnomon.scope("after"):
                pass
            health = gnomon.health()
            assert not health["crossed"] and not health["unmatched"], health
            """
        out, err = run(code, "tree,simple")
        self.assertEqual(own_lines(err), [])
        self.assertEqual(
            calls(err),
            {"run": 1, "a": 1, "b": 1, "a-step": 5, "b-step": 5, "after": 1},
        )
        for path in paths(err):
            letters = {name[0] for name in path} & {"a", "b"}
            if "after" not in path:
                self.assertLess(len(letters), 2, path)
        self.assertIn(("run", "a"), paths(err))
        self.assertIn(("after",), paths(err))

    def test_what_overlaps_is_no_path(self):
        out, err = run(
            """
            import asyncio, gnomon
            async def request(n):
                with gnomon.scope("request"):
                    await asyncio.sleep(0)
            async def main():
                await asyncio.gather(*map(request, range(5)))
            asyncio.run(main())
            """,
            "tree",
        )
        self.assertEqual(paths(err), {("request",): 1, ("request (overlapping)",): 4})

    def test_what_overlaps_has_no_time_of_its_own(self):
        """Its scopes inside are no part of it, so what is left is not known."""
        out, err = run(
            """
            import asyncio, gnomon
            async def request(n):
                with gnomon.scope("request"):
                    await asyncio.sleep(0)
                    with gnomon.scope("db"):
                        await asyncio.sleep(0)
            async def main():
                await asyncio.gather(*map(request, range(100)))
            asyncio.run(main())
            with gnomon.scope("after"):
                pass
            """,
            "tree(format=csv),regions(format=csv)",
        )
        tables = re.split("(?m)^stage,name,", err)[1:]
        for table, names in zip(tables, ({"request", "after"}, {"after"})):
            rows = csv.DictReader(io.StringIO("stage,name," + table))
            own = {row["name"] for row in rows if row["self_ns"]}
            self.assertEqual(own & {"request", "request (overlapping)", "after"}, names)

    SERVER = """
import asyncio, gnomon
async def request(n):
    with gnomon.scope("request"):
        await asyncio.sleep(0)
        for _ in range(n % 3):
            await asyncio.sleep(0)
        with gnomon.scope("db"):
            await asyncio.sleep(0)
            with gnomon.scope("parse"):
                pass
            with gnomon.scope("parse"):
                await asyncio.sleep(0)
async def main():
    await asyncio.gather(*map(request, range(100)))
asyncio.run(main())
"""

    @staticmethod
    def plain(report):
        """The paths without the word for ranges, with their calls."""
        found = {}
        for path, count in paths(report).items():
            path = "/".join(name.split(" ")[0] for name in path)
            found[path] = found.get(path, 0) + count
        return found

    def test_scopes_of_a_task_that_overlaps_have_its_path(self):
        out, err = run(self.SERVER, "tree")
        self.assertEqual(
            self.plain(err), {"request": 100, "request/db": 100, "request/db/parse": 200}
        )
        self.assertIn("request (overlapping)", err)
        self.assertIn("  db (overlapping)", err)

    def test_a_trace_has_their_paths(self):
        code = (
            self.SERVER
            + """
profile = gnomon.snapshot("trace")
by_path = {}
for e in profile.events:
    by_path.setdefault("/".join(e.node.path), []).append(
        (e.begin_ns, e.begin_ns + e.duration_ns))
assert {p: len(t) for p, t in by_path.items()} == {
    "request": 100, "request/db": 100, "request/db/parse": 200}, by_path.keys()
for path, times in by_path.items():
    above = by_path.get(path.rpartition("/")[0])
    for begin, end in times:
        assert not above or any(b <= begin and end <= e for b, e in above), path
"""
        )
        with tempfile.TemporaryDirectory() as folder:
            run(code, f"trace(file={folder}/t.json)")

    def test_a_task_begins_in_the_range_where_it_was_created(self):
        """While that is open; the creator's later scopes are not around it."""
        out, err = run(
            """
            import asyncio, gnomon
            async def child(name, go):
                await go.wait()
                with gnomon.scope(name):
                    await asyncio.sleep(0)
            class Now:
                async def wait(self):
                    await asyncio.sleep(0)
            async def parent(go):
                with gnomon.scope("parent"):
                    await asyncio.sleep(0)
                    task = asyncio.create_task(child("inside", Now()))
                    with gnomon.scope("later"):
                        await task
                    return asyncio.create_task(child("outlives", go))
            async def other(go):
                with gnomon.scope("other"):
                    await go.wait()
            async def main():
                go = asyncio.Event()
                first = asyncio.create_task(other(go))
                await asyncio.sleep(0)
                task = await parent(go)
                go.set()
                await asyncio.gather(first, task)
            asyncio.run(main())
            """,
            "tree",
        )
        self.assertEqual(
            self.plain(err),
            {
                "other": 1,
                "parent": 1,
                "parent/inside": 1,
                "parent/later": 1,
                "outlives": 1,
            },
        )

    def test_paths_of_cancelled_tasks_generators_and_other_orders(self):
        out, err = run(
            """
            import asyncio, gnomon
            async def values():
                with gnomon.scope("values"):
                    for i in range(3):
                        yield i
            async def work(n):
                with gnomon.scope("work"):
                    await asyncio.sleep(0)
                    with gnomon.scope("waits"):
                        if n % 2:
                            await asyncio.sleep(60)
                    async for _ in values():
                        with gnomon.scope("value"):
                            await asyncio.sleep(0)
                    a, b = gnomon.scope("a"), gnomon.scope("b")
                    a.__enter__(), b.__enter__()
                    await asyncio.sleep(0)
                    a.__exit__(None, None, None)
                    b.__exit__(None, None, None)
                    with gnomon.scope("last"):
                        await asyncio.sleep(0)
            async def main():
                with gnomon.scope("main"):
                    tasks = [asyncio.ensure_future(work(n)) for n in range(10)]
                    await asyncio.sleep(0.001)
                    for task in tasks[1::2]:
                        task.cancel()
                    await asyncio.gather(*tasks, return_exceptions=True)
            asyncio.run(main())
            health = gnomon.health()
            assert not health["crossed"] and not health["unmatched"], health
            """,
            "tree",
        )
        self.assertEqual(
            self.plain(err),
            {
                "main": 1,
                "work": 10,
                "work/waits": 10,
                "work/values": 5,
                "work/values/value": 15,
                "work/a": 5,
                "work/a/b": 5,
                "work/last": 5,
            },
        )

    def test_a_chain_of_tasks_keeps_no_memory(self):
        """Each task begins in the scope of the one before, which ends then."""
        run(
            """
            import asyncio, gc, gnomon
            async def link(left):
                with gnomon.scope("link"):
                    begun.set()
                    if not left:
                        lists = [x for x in gc.get_objects() if type(x) is list
                                 and len(x) == 3 and type(x[0]) is int and type(x[2]) is int]
                        done.set()
                        assert 0 < len(lists) < 9, lists
                        return
                    begun.clear()
                    newest[0] = asyncio.create_task(link(left - 1))
                    await begun.wait()
            async def main():
                global begun, done
                begun, done = asyncio.Event(), asyncio.Event()
                with gnomon.scope("main"):
                    newest[0] = asyncio.create_task(link(200))
                    await done.wait()
                    await newest[0]
            newest = [None]
            asyncio.run(main())
            """,
            "simple",
        )

    def test_one_task_alone_has_its_call_tree(self):
        out, err = run(
            """
            import asyncio, gnomon
            @gnomon.scope("fit")
            async def fit():
                for _ in range(3):
                    with gnomon.scope("step"):
                        await asyncio.sleep(0)
                        with gnomon.scope("load"):
                            await asyncio.sleep(0)
            asyncio.run(fit())
            asyncio.run(fit())
            """,
            "tree",
        )
        self.assertEqual(
            paths(err), {("fit",): 2, ("fit", "step"): 6, ("fit", "step", "load"): 6}
        )

    def test_many_tasks_with_one_name(self):
        out, err = run(
            """
            import asyncio, gnomon
            async def one(i):
                with gnomon.scope("task"):
                    await asyncio.sleep(0)
                    with gnomon.scope("inner"):
                        await asyncio.sleep(0)
            async def main():
                await asyncio.gather(*[one(i) for i in range(2000)])
            asyncio.run(main())
            """,
            "simple",
        )
        self.assertEqual(own_lines(err), [])
        self.assertEqual(calls(err), {"task": 2000, "inner": 2000})

    def test_cancelled_and_abandoned_tasks_end_their_scopes(self):
        out, err = run(
            """
            import asyncio, gnomon
            async def waits():
                with gnomon.scope("cancelled"):
                    await asyncio.sleep(60)
            async def main():
                tasks = [asyncio.ensure_future(waits()) for _ in range(3)]
                await asyncio.sleep(0)
                tasks[1].cancel()
                tasks[0].cancel()
                await asyncio.gather(*tasks[:2], return_exceptions=True)
            asyncio.run(main())
            async def never():
                with gnomon.scope("closed"):
                    await Waits()
            class Waits:
                def __await__(self):
                    yield
            coroutine = never()
            coroutine.send(None)
            coroutine.close()
            with gnomon.scope("after"):
                pass
            """,
            "simple",
        )
        self.assertEqual(own_lines(err), [])
        self.assertEqual(calls(err), {"cancelled": 3, "closed": 1, "after": 1})

    def test_loops_on_several_threads(self):
        out, err = run(
            """
            import asyncio, gnomon, threading
            async def one():
                with gnomon.scope("task"):
                    await asyncio.sleep(0)
            async def main():
                await asyncio.gather(*[one() for _ in range(20)])
            threads = [
                threading.Thread(target=lambda: asyncio.run(main())) for _ in range(4)
            ]
            for thread in threads: thread.start()
            for thread in threads: thread.join()
            """,
            "simple",
        )
        self.assertEqual(own_lines(err), [])
        self.assertEqual(calls(err), {"task": 80})


if __name__ == "__main__":
    unittest.main()
