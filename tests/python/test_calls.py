# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls of Python as scopes, and python -m gnomon: the counts are cProfile's."""
import glob
import os
import pstats
import re
import subprocess
import sys
import tempfile
import unittest

from runs import PLAIN, calls, own_lines, pythons, run, walk

SCRIPT = '''
import functools
import sys

def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)

def even(n):
    return n == 0 or odd(n - 1)

def odd(n):
    return n != 0 and even(n - 1)

def values(n):
    for i in range(n):
        try:
            yield i
        except KeyError:
            yield -1

class Thing:
    def __init__(self):
        self.items = []
    def add(self, item):
        self.items.append(item)
        return self
    @property
    def size(self):
        return len(self.items)
    @staticmethod
    def fails(depth):
        if depth:
            Thing.fails(depth - 1)
        raise ValueError(depth)

@functools.lru_cache(None)
def cached(n):
    return sorted([n, -n])

fib(10)
even(20)
sum(values(7))
g = values(3)
next(g)
g.throw(KeyError())
g.close()
thing = Thing()
for i in range(5):
    thing.add(str(i).upper()).size
    cached(i % 2)
try:
    Thing.fails(4)
except ValueError:
    pass
for wrong in ("x", None):
    try:
        float.fromhex(wrong)
    except (TypeError, ValueError):
        pass
max([3, 1, 2], key=lambda n: -n)
{"a": 1}.get("a")
[].sort(key=fib)
'''

BOUND = """
import gnomon, types
def leaf(): pass
def f():
    bound = types.MethodType(len, [1, 2])
    for _ in range(5):
        bound()
        leaf()
def outer():
    f()
    leaf()
gnomon.setup("tree")
with gnomon.calls():
    with gnomon.scope("S"):
        outer()
for node in gnomon.snapshot("tree").nodes:
    print("/".join(node.path), node.host.count)
gnomon.configure("")
"""


class Calls(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.script = os.path.join(self.folder, "script.py")
        with open(self.script, "w") as file:
            file.write(SCRIPT)

    def python(self, *words, status=0, **variables):
        child = subprocess.run(
            [sys.executable, *PLAIN, *words],
            env=dict(os.environ, **variables),
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=100,
        )
        self.assertEqual(child.returncode, status, child)
        return child.stdout, child.stderr

    def stats(self, module):
        """{function: (calls, primitive calls, {caller: calls})} of what the script
        calls."""
        path = os.path.join(self.folder, module + ".prof")
        self.python("-m", module, "-o", path, self.script)
        stats = pstats.Stats(path).stats
        own = [key for key in stats if os.path.basename(key[0]) == "script.py"]
        found = {}
        for key, (primitive, count, _, _, callers) in stats.items():
            edges = {
                self.name(caller): edge[0]
                for caller, edge in callers.items()
                if caller in own
            }
            if key in own or edges:
                found[self.name(key)] = (count, primitive, edges)
        return found

    def name(self, key):
        return os.path.basename(key[0]), key[1], key[2]

    def test_counts_are_those_of_cprofile(self):
        theirs, ours = self.stats("cProfile"), self.stats("gnomon")
        for key in sorted(set(theirs) | set(ours), key=str):
            self.assertIn(key, ours)
            self.assertIn(key, theirs)
            if key[2] in ("<module>", "fib", "even", "odd", "values", "fails"):
                self.assertEqual(ours[key][:2], theirs[key][:2], key)
            self.assertEqual(ours[key][2], theirs[key][2], key)

    def test_threads_are_recorded(self):
        out, err = run(
            """
            import gnomon, threading
            def leaf():
                pass
            def work():
                for _ in range(50):
                    leaf()
            with gnomon.calls():
                gnomon.start("train")
                leaf()
                gnomon.stop("train")
                threads = [threading.Thread(target=work) for _ in range(4)]
                for thread in threads: thread.start()
                for thread in threads: thread.join()
            leaf()
            assert gnomon.health()["crossed"] == 0, gnomon.health()
            """,
            "regions,advanced",
        )
        self.assertEqual(own_lines(err), [])
        self.assertRegex(err, r"leaf +201 ")
        train = err.split("Profile stats for: train")[1].split("Profile stats")[0]
        self.assertRegex(train, r"\n +1 .*\(leaf\)\n")

    def test_scopes_in_generators_and_coroutines_stay_whole(self):
        out, err = run(
            """
            import asyncio, gnomon
            def values():
                with gnomon.scope("in a generator"):
                    yield 1
                    yield 2
            async def task(i):
                with gnomon.scope("in a task"):
                    await asyncio.sleep(0)
                    await asyncio.sleep(0)
            async def main():
                await asyncio.gather(*[task(i) for i in range(5)])
            with gnomon.calls():
                for _ in range(3):
                    list(values())
                asyncio.run(main())
            health = gnomon.health()
            assert not health["crossed"] and not health["unmatched"], health
            """,
            "simple",
        )
        self.assertEqual(own_lines(err), [])
        self.assertEqual(calls(err), {"in a generator": 3, "in a task": 5})

    def test_it_may_be_switched_on_anywhere(self):
        out, err = run(
            """
            import gnomon
            def inner(on):
                if on: on.__enter__()
                return leaf()
            def leaf():
                return 1
            def outer(on):
                inner(on)
                leaf()
            for _ in range(3):
                on = gnomon.calls()
                outer(on)
                leaf()
                with gnomon.calls():
                    leaf()
                on.__exit__()
                leaf()
            health = gnomon.health()
            assert not health["crossed"] and not health["unmatched"], health
            """,
            "regions",
        )
        self.assertEqual(own_lines(err), [])
        self.assertRegex(err, r"leaf +12 ")

    def test_a_forked_child_has_calls_of_its_own(self):
        out, err = run(
            """
            import gnomon, os, multiprocessing
            def leaf():
                return 1
            def work():
                for _ in range(5):
                    leaf()
            def start():
                child = multiprocessing.get_context("fork").Process(target=work)
                child.start()
                child.join()
                assert child.exitcode == 0
            with gnomon.calls():
                start()
                leaf()
            """,
            "regions",
        )
        self.assertEqual(own_lines(err), [])
        self.assertEqual(sorted(re.findall(r"^leaf +(\d+) ", err, re.M)), ["1", "5"])

    def test_profilers_in_python_see_calls_and_not_their_own(self):
        out, err = run(
            """
            import gnomon
            class Names(gnomon.Profiler):
                def __init__(self):
                    self.names = []
                def start(self, frame):
                    self.note(frame.name)
                def note(self, name):
                    self.names.append(name)
            one = Names()
            gnomon.attach(one)
            def leaf():
                return len("a")
            with gnomon.calls():
                leaf()
            print(one.names)
            """
        )
        self.assertEqual(out, "['leaf', '<built-in method builtins.len>']\n")

    def test_functions_that_share_their_code_have_their_own_names(self):
        """As all functions of pybind11 do."""
        _, err = run(
            """
            import _thread, gnomon
            with gnomon.calls():
                for _ in range(3): _thread.allocate_lock()
                for _ in range(2): _thread.allocate()
            """,
            "regions",
        )
        found = re.findall(r"^<built-in method _thread.(\w+)> +(\d+) ", err, re.M)
        self.assertEqual(sorted(found), [("allocate", "2"), ("allocate_lock", "3")])

    def test_names_and_counts_of_builtins_are_those_of_cprofile(self):
        modules = "builtins,math,os,time,_thread,_io,itertools"
        for python in pythons().values():
            walk(modules, python)

    def test_a_bound_method_in_c_is_one_call(self):
        inner = ["<built-in method builtins.len> 5", "leaf 5"]
        said = ["S 1", "S/outer 1", "S/outer/f 1", "S/outer/leaf 1"]
        said = sorted(said + ["S/outer/f/" + name for name in inner])
        for version, python in pythons().items():
            child = subprocess.run(
                [python, *PLAIN, "-c", BOUND], capture_output=True, text=True, timeout=100
            )
            paths = sorted(child.stdout.splitlines())
            if version in ("3.9", "3.10"):  # they announce no such call
                paths = sorted([*paths, "S/outer/f/" + inner[0]])
            self.assertEqual(paths, said, (version, child))

    def test_a_failure_to_describe_is_not_for_ever(self):
        out, _ = run(
            """
            import gnomon, types
            class Fails:
                what = RecursionError
                def __getattr__(self, name):
                    gnomon._calls.types = types
                    raise self.what
            def leaf(): pass
            gnomon.setup("regions")
            with gnomon.calls():
                for what in RecursionError, KeyboardInterrupt:
                    Fails.what = what
                    gnomon._calls.types = Fails()
                    try:
                        leaf()
                        for _ in range(100): pass
                    except KeyboardInterrupt:
                        print("interrupted")
                for _ in range(5): leaf()
            row = [r for r in gnomon.snapshot("regions").rows() if r.name == "leaf"]
            print(row[0].host.count)
            gnomon.configure("")
            """
        )
        self.assertEqual(out, "interrupted\n5\n")

    def test_other_profilers_of_the_program(self):
        """cProfile in a script that -m gnomon runs, and a function for new threads."""
        with open(self.script, "w") as file:
            file.write(
                "import cProfile, sys, threading\n"
                "def mine(*unused): pass\n"
                "threading.setprofile(mine)\n"
                "import gnomon\n"
                "with gnomon.calls(): pass\n"
                "assert threading._profile_hook is mine\n"
                "def f(): pass\n"
                "one = cProfile.Profile()\n"
                "one.enable(); f(); one.disable()\n"
                "assert [e for e in one.getstats() if 'f' in str(e.code)]\n"
                "for _ in range(3): f()\n"
            )
        for version, python in pythons().items():
            child = subprocess.run(
                [python, *PLAIN, "-m", "gnomon", "--profiler", "regions", "script.py"],
                cwd=self.folder,
                capture_output=True,
                text=True,
                timeout=100,
            )
            self.assertEqual(child.returncode, 0, child)
            sees_both = tuple(map(int, version.split("."))) >= (3, 12)
            found = re.findall(r"^f +(\d+) ", child.stderr, re.M)
            self.assertEqual(found, ["4"] if sees_both else [], child.stderr)
            self.assertEqual("another profiler" in child.stderr, not sees_both)

    def test_the_script_is_as_without_it(self):
        with open(self.script, "w") as file:
            file.write(
                "import sys, __main__\n"
                "assert __name__ == '__main__' and __main__.__file__ == __file__\n"
                "assert __file__ == sys.path[0] + '/script.py', __file__\n"
                "print(sys.argv[1:], sys.path[0])\n"
                "class Kept: pass\n"
                "import pickle; pickle.dumps(Kept())\n"
                "sys.exit(3)\n"
            )
        for more in ((), ("--no-calls",)):
            out, err = self.python(
                "-m", "gnomon", *more, "script.py", "-o", "x", status=3
            )
            self.assertEqual(out, f"['-o', 'x'] {self.folder}\n")
            self.assertIn("Profile stats for: script.py", err)
        with open(self.script, "w") as file:
            file.write("def f():\n    raise ValueError('no')\nf()\n")
        out, err = self.python("-m", "gnomon", "script.py", status=1)
        self.assertIn("ValueError: no", err)
        self.assertIn("script.py:1(f)", err)
        out, err = self.python("-m", "gnomon", "nowhere.py", status=1)
        self.assertEqual(err, "gnomon: nowhere.py: No such file or directory\n")
        out, err = self.python("-m", "gnomon", "-m", "nosuch", status=1)
        self.assertEqual(err, "gnomon: No module named nosuch\n")

    def test_workers_of_a_script_report_too(self):
        with open(self.script, "w") as file:
            file.write(
                "import multiprocessing, sys\n"
                "import gnomon\n"
                "def leaf(n): return n\n"
                "def work(n):\n"
                "    with gnomon.scope('work'):\n"
                "        return leaf(n)\n"
                "if __name__ == '__main__':\n"
                "    context = multiprocessing.get_context(sys.argv[1])\n"
                "    child = context.Process(target=work, args=(1,))\n"
                "    child.start(); child.join()\n"
                "    sys.exit(child.exitcode)\n"
            )
        for method in ("fork", "spawn", "forkserver"):
            words = ("--profiler", "regions", "-o", method + "-%p.txt", "script.py")
            self.python("-m", "gnomon", *words, method)
            reports = glob.glob(os.path.join(self.folder, method + "-*.txt"))
            found = []
            for path in reports:
                with open(path) as file:
                    rows = re.findall(r"^(script.py|leaf) +(\d+) ", file.read(), re.M)
                found.append(dict(rows))
            self.assertEqual(
                sorted(found, key=str), [{"leaf": "1"}, {"script.py": "1"}], method
            )

    def test_statistics_are_of_all_stages(self):
        with open(self.script, "w") as file:
            file.write(
                "import gnomon\n"
                "def leaf(): pass\n"
                "leaf()\n"
                "for name in ('fit', 'a/b', 'fit', ' x__y ', 'z?' * 50):\n"
                "    with gnomon.stage(name):\n"
                "        leaf()\n"
                "leaf()\n"
            )
        for name in ("stale-all.prof", "out.prof"):
            with open(os.path.join(self.folder, name), "w") as file:
                file.write("old")
        _, err = self.python("-m", "gnomon", "-o", "out.prof", "script.py")
        self.assertNotIn("function calls", err)  # as with cProfile
        stats = pstats.Stats(os.path.join(self.folder, "out.prof")).stats
        found = {key[2]: value[1] for key, value in stats.items()}
        self.assertEqual(found["leaf"], 7)
        self.assertEqual(found["<module>"], 1)
        self.assertEqual(found["script.py"], 1)
        self.assertEqual(
            sorted(f for f in os.listdir(self.folder) if f.endswith(".prof")),
            ["out.prof", "stale-all.prof"],
        )

    def test_the_notes_of_gnomon_run_stay(self):
        """They are read here, and by the program after that."""
        notes = os.path.join(self.folder, "notes")
        open(notes, "w").close()
        self.python("-m", "gnomon", "-o", "out.prof", "script.py", GNOMON_RUN_NOTES=notes)
        with open(notes, "rb") as file:
            written = file.read().split(b"\0")
        self.assertIn(b"f" + os.fsencode(os.path.join(self.folder, "out.prof")), written)

    def test_calls_have_more_memory_than_marks(self):
        with open(self.script, "w") as file:
            file.write("import gnomon\nprint(gnomon.spec())\n")
        for words, memory in (
            ([], "512MiB"),
            (["--no-calls"], "64MiB"),
            (["--profiler", "simple,mem=2MiB"], "2MiB"),
        ):
            out, err = self.python("-m", "gnomon", *words, "script.py")
            self.assertTrue(out.endswith(f",mem={memory}\n"), out)

    def test_words_and_files(self):
        self.python("-m", "gnomon", "-o", "run.gnomon", "script.py")
        self.assertTrue(os.path.exists(os.path.join(self.folder, "run.gnomon")))
        for name in ('a,b "(c.txt', "d(e,f.prof"):  # letters that specs have, too
            self.python("-m", "gnomon", "-o", name, "script.py")
            self.assertIn(name, os.listdir(self.folder))
        words = ("--profiler", "simple,tree", "-m", "script")
        out, err = self.python("-m", "gnomon", *words)
        self.assertEqual(calls(err), {"script": 1})
        self.assertIn("Call Tree", err)
        out, err = self.python("-m", "gnomon", *words, GNOMON="regions")
        self.assertNotIn("Call Tree", err)
        self.assertTrue(re.search(r"fib +\d", err), err)


if __name__ == "__main__":
    unittest.main()
