# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is kept of a program, whichever way it ends, by each Python that is found: its
text, its profile and its trace. docs/python.md has the table."""
import os
import signal
import subprocess
import sys
import tempfile
import unittest

from runs import PLAIN, pythons

LIFE = """
import os, signal, sys
import gnomon

def work():
    with gnomon.scope("work"):
        pass

def interrupted():
    os.kill(os.getpid(), signal.SIGINT)
    while True:
        signal.pause()

class Slow(gnomon.Profiler):
    def summary(self, profile):
        if os.getpid() == main:
            interrupted()

def threads():
    import threading, time
    def marks():
        while True:
            work()
            time.sleep(0.0001)
    threading.Thread(target=marks, daemon=True).start()
    time.sleep(0.01)

def fork():
    child = os.fork()
    if not child:
        work()
        os._exit(0)
    os.waitpid(child, 0)

def pool(method):
    import multiprocessing
    with multiprocessing.get_context(method).Pool(1) as workers:
        workers.apply(work)

def process(method):
    import multiprocessing
    one = multiprocessing.get_context(method).Process(target=work)
    one.start()
    one.join()

def pool_interrupted():
    import multiprocessing
    with multiprocessing.get_context("fork").Pool(1) as workers:
        workers.apply(work)
        interrupted()

def all_interrupted():
    import multiprocessing, time
    ready = multiprocessing.get_context("fork").Event()
    def wait():
        work()
        ready.set()
        while True:
            time.sleep(0.01) # a pause would miss a signal just before it
    one = multiprocessing.get_context("fork").Process(target=wait)
    one.start()
    ready.wait()
    os.killpg(0, signal.SIGINT)  # as a terminal does
    one.join()

def in_scope():
    with gnomon.scope("outer"):
        interrupted()

def in_calls():
    with gnomon.calls():
        interrupted()

def interpreter():
    try:
        import _interpreters as interpreters
        run = interpreters.exec
    except ImportError:
        import _xxsubinterpreters as interpreters
        run = interpreters.run_string
    run(interpreters.create(), "import gnomon\\nwith gnomon.scope('inside'): pass")

def late():
    import atexit
    atexit.register(interrupted)

def reporting():
    gnomon.attach(Slow())

def stage():
    with gnomon.stage("fit"):
        interrupted()

def in_thread():
    import threading
    thread = threading.Thread(target=threading.Event().wait, args=(0.2,))
    thread.start()
    interrupted()

if __name__ == "__main__":
    main = os.getpid()
    if sys.argv[1] != "first":
        work()
    exec(sys.argv[2])
"""

# The end, what it runs, its status, and how many processes report.
ENDS = [
    ("return", "pass", 0, 1),
    ("sys.exit", "sys.exit(3)", 3, 1),
    ("exception", "raise ValueError", 1, 1),
    ("import that crashes", "import nosuch", 1, 1),
    ("SIGTERM", "os.kill(main, signal.SIGTERM); signal.pause()", -signal.SIGTERM, 1),
    ("daemon threads", "threads()", 0, 1),
    ("os._exit", "os._exit(4)", 4, 1),
    ("os._exit by its name", "os._exit(status=4)", 4, 1),
    ("os.execve by names", "os.execve(path='/bin/true', argv=['true'], env={})", 0, 1),
    ("os.execve of a file", "os.execve(os.open('/bin/true', 0), ['true'], {})", 0, 1),
    ("os.execv", "os.execv('/bin/true', ['true'])", 0, 1),
    ("os.execlp", "os.execlp('true', 'true')", 0, 1),
    ("fork", "fork()", 0, 1),
    ("pool, fork", "pool('fork')", 0, 2),
    ("pool, spawn", "pool('spawn')", 0, 2),
    ("pool, forkserver", "pool('forkserver')", 0, 2),
    ("process, fork", "process('fork')", 0, 2),
    ("interpreter", "interpreter()", 0, 1),
    ("abort", "os.abort()", -signal.SIGABRT, 0),
    ("SIGKILL", "os.kill(main, signal.SIGKILL)", -signal.SIGKILL, 0),
]

# Ctrl-C before, in and after what is marked.
INTERRUPTS = [
    ("before a mark", "first", "import gnomon; interrupted()", 0),
    ("after a mark", "", "interrupted()", 1),
    ("in a scope", "", "in_scope()", 1),
    ("in calls", "", "in_calls()", 1),
    ("in a stage", "", "stage()", 1),
    ("while a thread runs", "", "in_thread()", 1),
    ("beside a pool", "", "pool_interrupted()", 2),
    ("in a worker too", "", "all_interrupted()", 2),
]


class Ends(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        with open(os.path.join(self.folder, "life.py"), "w") as file:
            file.write(LIFE)

    def life(self, python, first, words, status):
        """The suffixes of the files that a life leaves."""
        for file in os.listdir(self.folder):
            if file[0].isdigit():
                os.remove(os.path.join(self.folder, file))
        spec = "simple(file=%p.txt),profile(file=%p.gnomon),trace(file=%p.json)"
        child = subprocess.run(
            [python, *PLAIN, "life.py", first, words],
            env=dict(os.environ, GNOMON=spec),
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=100,
            start_new_session=True,
        )
        self.assertEqual(child.returncode, status, child)
        files = [f for f in os.listdir(self.folder) if f[0].isdigit()]
        return sorted(f.partition(".")[2] for f in files), child.stderr

    def test_what_is_kept(self):
        for version, python in pythons().items():
            for name, words, status, processes in ENDS:
                with self.subTest(end=name, python=version):
                    kept, _ = self.life(python, "", words, status)
                    every = ["gnomon", "pt.trace.json", "txt"]
                    self.assertEqual(kept, sorted(every * processes))

    def test_an_interrupt_is_an_end(self):
        for version, python in pythons().items():
            for name, first, words, processes in INTERRUPTS:
                with self.subTest(at=name, python=version):
                    kept, said = self.life(python, first, words, -signal.SIGINT)
                    every = ["gnomon", "pt.trace.json", "txt"]
                    self.assertEqual(kept, sorted(every * processes), said)

    def test_an_interrupt_at_the_end_loses_nothing(self):
        """In atexit, and while a report of Python is made: Python itself goes on."""
        for words in ("late()", "reporting()"):
            with self.subTest(words):
                kept, said = self.life(sys.executable, "", words, 0)
                self.assertEqual(kept, ["gnomon", "pt.trace.json", "txt"], said)

    def test_percentages_end_with_the_last_mark(self):
        """Not with the interpreter, which goes on for ten times as long."""
        text = """
import atexit, time, gnomon
atexit.register(time.sleep, 0.2)
with gnomon.scope("work"):
    time.sleep(0.02)
"""
        for profiler, place in (("simple", "|  work"), ("tree", "work ")):
            said = subprocess.run(
                [sys.executable, "-c", text],
                env=dict(os.environ, GNOMON=profiler),
                capture_output=True,
                text=True,
                timeout=100,
            ).stderr
            row = said[said.index("\n" + place) + 1 + len(place) :].split("\n")[0]
            numbers = row.replace("|", " ").split()
            percent = float(numbers[-1 if profiler == "simple" else 0])
            self.assertGreater(percent, 99, said)


if __name__ == "__main__":
    unittest.main()
