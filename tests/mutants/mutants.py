#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""mutants.py [--seed N] [--count N] [--skip N] [--jobs N] [FILE...]     `make mutants`

Would the tests see a small mistake? Makes COUNT (60) random mutations, one at a time,
in the half of gnomon that works on data (ROOMS), and runs the tests of the mutated
file's room (suites.txt). A FILE is as `print/rows`, `merge` or `print/dev*`: only these.
The seed is printed first and last; with it, and an unchanged tree, a run is repeated;
with --skip a run that was broken off goes on: the first N of COUNT are not tried.

Nothing here touches the source: the tree is copied to build/mutants/tree, which has a
release build of its own, and each file is mutated there. Of each mutant one is said:

  killed    a test failed, crashed or did not end
  equal     the compiler makes the same code of it, or equal.txt says why it is; it is
            not counted, and another one is tried for it
  changes   it lives, but prints or writes something else in some command of corpus.py:
            the tests lack one
  lives     it lives, and no command shows a difference: either it is equal, and goes
            into equal.txt with the reason, or it needs a test

Exit status: 0; 1 where of those that change an output (killed or not) fewer than 90 %
were killed; 2 where there was nothing to measure: the tree has to build and its tests
to pass. Lines of equal.txt that are out of date are named."""
import argparse
import fnmatch
import glob
import json
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True
import corpus
import mutate

ROOMS = ("profile", "print", "export", "page", "merge", "diff", "report", "command")
ENOUGH = 0.9
COUNTED = ("killed", "changes", "lives", "skipped")
HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(os.path.dirname(HERE))
WORK = os.path.join(SOURCE, "build", "mutants")
TREE = os.path.join(WORK, "tree")
BUILD = os.path.join(TREE, "build")
PROGRAM = os.path.join(BUILD, "gnomon")
# A program that only relinks because a shared library changed is not linked again.
OPTIONS = ["-DGNOMON_BENCH=OFF", "-DGNOMON_EXAMPLES=OFF", "-DGNOMON_PYTHON=OFF",
           "-DCMAKE_LINK_DEPENDS_NO_SHARED=ON"]
CPU_SECONDS = 60 # for one process: what takes longer runs in circles
GIB = 1 << 30


def stop(text):
    print(f"mutants: {text}")
    sys.exit(2)


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


# ---- The copy ------------------------------------------------------------------------


def copy_tree():
    """Only what changed is written, so that ninja builds only that again. What is left
    of a mutant is replaced too."""
    wanted = set()
    for folder, folders, files in os.walk(SOURCE):
        inside = os.path.relpath(folder, SOURCE)
        folders[:] = [f for f in folders if not f.startswith(".") and
                      f != "__pycache__" and not (inside == "." and f == "build")]
        for name in files:
            at = os.path.normpath(os.path.join(inside, name))
            new, old = os.path.join(folder, name), os.path.join(TREE, at)
            wanted.add(at)
            os.makedirs(os.path.dirname(old), exist_ok=True)
            if os.path.islink(new) or not os.path.isfile(new):
                continue
            with open(new, "rb") as file:
                content = file.read()
            if os.path.exists(old):
                with open(old, "rb") as file:
                    if file.read() == content:
                        continue
            shutil.copy(new, old)
    for folder, folders, files in os.walk(TREE):
        inside = os.path.relpath(folder, TREE)
        folders[:] = [f for f in folders if not (inside == "." and f == "build")]
        for name in files:
            if os.path.normpath(os.path.join(inside, name)) not in wanted:
                os.remove(os.path.join(folder, name))


def run(words, **more):
    return subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, errors="replace", check=False, **more)


def ninja(jobs, targets):
    return run(["ninja", "-C", BUILD, "-j", str(jobs), *targets])


def configure():
    copy_tree()
    nvtx = os.path.join(SOURCE, "build", "nvtx")
    if os.path.isdir(nvtx): # it was downloaded, for the profiler nvtx
        os.makedirs(BUILD, exist_ok=True)
        shutil.copytree(nvtx, os.path.join(BUILD, "nvtx"), dirs_exist_ok=True)
    if not os.path.exists(os.path.join(BUILD, "build.ninja")):
        done = run(["cmake", "--preset", "release", *OPTIONS], cwd=TREE)
        if done.returncode:
            stop(f"cmake failed:\n{done.stdout[-3000:]}")


def build(jobs):
    configure()
    done = ninja(jobs, ["all"])
    if done.returncode:
        stop(f"the tree does not build:\n{done.stdout[-3000:]}")


def objects_of_sources():
    """What the build makes of each source, in all its forms."""
    objects = {}
    for entry in json.loads(read(os.path.join(BUILD, "compile_commands.json"))):
        out = entry.get("output") or re.search(r" -o (\S+)", entry["command"]).group(1)
        if os.path.exists(os.path.join(BUILD, out)):
            objects.setdefault(os.path.relpath(entry["file"], TREE), []).append(out)
    return objects


# ---- Tests ---------------------------------------------------------------------------


class Tests:
    """The tests of ctest, by suite."""

    def __init__(self, jobs):
        self.jobs, self.suites, self.seconds, self.broken = jobs, {}, {}, set()
        outputs = {line.split(":")[0] for line in
                   ninja(1, ["-t", "targets", "all"]).stdout.splitlines()}
        shown = run(["ctest", "--show-only=json-v1"], cwd=BUILD)
        for test in json.loads(shown.stdout)["tests"]:
            targets = set()
            for word in test.get("command", []):
                path = os.path.relpath(word.split("=")[-1] or ".", BUILD)
                if path in outputs:
                    targets.add(path)
            suite = self.suites.setdefault(test["name"].split(".")[0], {})
            suite[test["name"]] = targets
        self.rooms = {}
        for line in read(os.path.join(HERE, "suites.txt")).splitlines():
            words = re.sub("#.*", "", line).replace(":", " ").split()
            if words:
                self.rooms.setdefault(words[0], []).extend(words[1:])
        gone = sorted(set(sum(self.rooms.values(), [])) - set(self.suites)) + sorted(
            n for n in self.rooms if "/" in n and
            not os.path.exists(os.path.join(SOURCE, "src", n + ".c")))
        if gone:
            print("suites.txt names what is no suite or file:", *gone, flush=True)

    def of(self, name):
        """The lists of suites of src/`name`.c, in the order in which they are run."""
        first = [s for s in self.rooms.get(name, []) if s in self.suites]
        room = self.rooms.get(name.split("/")[0], [])
        return [s for s in (first, [s for s in room if s in self.suites and
                                    s not in first]) if s]

    def targets(self, suites):
        return set().union(*(t for s in suites for t in self.suites[s].values()))

    def run(self, suites, names=None, limit=3600, keep_going=False):
        """The names of tests that fail; what does not end has none, but a word."""
        wanted = "|".join(re.escape(n) for n in names) if names else \
            "(" + "|".join(map(re.escape, suites)) + ")[.].*"
        words = ["ctest", "-j", str(self.jobs), "-R", f"^({wanted})$"]
        if self.broken:
            left_out = "|".join(re.escape(n) for n in sorted(self.broken))
            words += ["-E", f"^({left_out})$"]
        if not keep_going:
            words.append("--stop-on-failure")
        out = run_limited(words, limit)
        if out is None:
            return ["no end"]
        for name, seconds in re.findall(r"^ *\d+/\d+ Test +#\d+: (\S+) .* ([\d.]+) sec",
                                        out, re.M):
            self.seconds.setdefault(name, float(seconds))
        failed = out.partition("The following tests FAILED:")[2]
        return re.findall(r"^\s+\d+ - (\S+) \((?!Not Run|Skipped|Disabled)", failed, re.M)

    def limit(self, suites):
        """Generous: the machine may be busy."""
        return 60 + 5 * sum(self.seconds.get(n, 1) for s in suites
                            for n in self.suites[s])

    def killed_by(self, suites):
        """A test that fails, also once more by itself; or None."""
        for failed in self.run(suites, limit=self.limit(suites)):
            if failed == "no end" or self.run([], [failed], limit=self.limit(suites)):
                return failed
        return None


def set_limits():
    for what, most in ((resource.RLIMIT_CPU, CPU_SECONDS),
                       (resource.RLIMIT_FSIZE, 8 * GIB), (resource.RLIMIT_CORE, 0)):
        resource.setrlimit(what, (most, most))


def run_limited(words, limit):
    """Its output; None if it does not end. With all its children, which are ended."""
    environment = {k: v for k, v in os.environ.items() if k != "GNOMON"}
    with subprocess.Popen(words, cwd=BUILD, stdout=subprocess.PIPE, env=environment,
                          stderr=subprocess.STDOUT, text=True, errors="replace",
                          start_new_session=True, preexec_fn=set_limits) as child:
        try:
            return child.communicate(timeout=limit)[0]
        except subprocess.TimeoutExpired:
            return None
        finally:
            try:
                os.killpg(child.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass


# ---- Mutants -------------------------------------------------------------------------


def read_equal():
    """(file, function, before, after) of each block of equal.txt: its first three
    lines."""
    known = set()
    for block in re.split(r"\n\s*\n", read(os.path.join(HERE, "equal.txt"))):
        text = [line for line in block.splitlines() if not line.startswith("#")]
        if text:
            where, before, after = text[:3]
            known.add((*where.split(), before[2:].strip(), after[2:].strip()))
    return known


def identity(name, m):
    return name, m.function, m.before, m.after


def check_equal(known):
    """Says which are out of date: their line is gone, or no mutation of it is so."""
    for file in sorted({k[0] for k in known}):
        path = os.path.join(SOURCE, "src", file + ".c")
        now = {identity(file, m) for m in mutate.mutations(read(path))} \
            if os.path.exists(path) else set()
        for k in sorted(known - now):
            if k[0] == file:
                print(f"equal.txt is out of date: {file}, {k[1]}: {k[2]}")


def read_sources(patterns):
    """The text of the chosen files, as copied: the source may change meanwhile."""
    texts = {}
    for room in ROOMS:
        for path in sorted(glob.glob(os.path.join(TREE, "src", room, "*.c"))):
            name = os.path.relpath(path, os.path.join(TREE, "src"))[:-2]
            if not patterns or any(fnmatch.fnmatch(name, p) or
                                   fnmatch.fnmatch(room, p) for p in patterns):
                texts[name] = read(path)
    return texts


def candidates(seed, texts):
    """All mutations, in the order in which they are tried; of one line only the
    first."""
    found = [(name, m) for name, text in texts.items() for m in mutate.mutations(text)]
    random.Random(seed).shuffle(found)
    seen = set()
    return [(n, m) for n, m in found
            if (n, m.line) not in seen and not seen.add((n, m.line))]


class Runner:
    def __init__(self, jobs, texts):
        self.jobs, self.texts, self.mutated = jobs, texts, None
        self.tests = Tests(jobs)
        made = objects_of_sources()
        self.objects = {name: made.get(f"src/{name}.c", []) for name in texts}
        self.code = {o: read_bytes(o) for some in self.objects.values() for o in some}
        self.check_tests(sorted({s for name in texts for suites in self.tests.of(name)
                                 for s in suites}))
        self.outputs = corpus.Outputs(PROGRAM, os.path.join(TREE, "tests"), WORK, jobs)

    def check_tests(self, suites):
        """They have to pass without a mutation."""
        failed = self.tests.run(suites, keep_going=True)
        failed = [f for f in failed if self.tests.run([], [f])]
        if failed:
            print("left out, as they fail without a mutation:", *failed, flush=True)
            self.tests.broken = set(failed)

    def restore(self):
        if self.mutated:
            write(os.path.join(TREE, "src", self.mutated + ".c"),
                  self.texts[self.mutated])
        self.mutated = None

    def judge(self, name, m, skipped):
        """(verdict, by what); without tests if it is to be skipped."""
        objects, text = self.objects[name], self.texts[name]
        if not objects:
            return "not built", "is in no target"
        self.restore()
        self.mutated = name
        write(os.path.join(TREE, "src", name + ".c"), text[:m.begin] + m.new + text[m.end:])
        if ninja(self.jobs, objects).returncode:
            return "no C", "it does not compile"
        if all(read_bytes(o) == self.code[o] for o in objects):
            return "equal", "the same code"
        if skipped:
            return "skipped", "--skip"
        for suites in self.tests.of(name):
            # Only these: most die in the first round, and to link them all takes long.
            if ninja(self.jobs, ["gnomon", *self.tests.targets(suites)]).returncode:
                return "killed", "a test program does not link or list its tests"
            killer = self.tests.killed_by(suites)
            if killer:
                return "killed", killer
        changed = self.outputs.changed(PROGRAM)
        if changed:
            return "changes", f"as gnomon {' '.join(changed[0])}"
        return "lives", "no difference in any command"


def read_bytes(path):
    with open(os.path.join(BUILD, path), "rb") as file:
        return file.read()


def main():
    parser = argparse.ArgumentParser(usage=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--skip", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("files", nargs="*")
    asked = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(2)) # and end the tests that run
    seed = asked.seed if asked.seed is not None else \
        int.from_bytes(os.urandom(4), "little")
    print(f"seed {seed}", flush=True)
    known = read_equal()
    check_equal(known)
    build(asked.jobs)
    texts = read_sources(asked.files)
    runner = Runner(asked.jobs, texts)
    counts = dict.fromkeys((*COUNTED, "equal"), 0)
    for name, m in candidates(seed, texts):
        if sum(map(counts.get, COUNTED)) >= asked.count:
            break
        begin = time.monotonic()
        verdict, by = ("equal", "equal.txt") if identity(name, m) in known \
            else runner.judge(name, m, counts["skipped"] < asked.skip)
        counts[verdict] = counts.get(verdict, 0) + 1
        print(f"{verdict:8} {name}.c:{m.line}  {m.kind}  ({by}, "
              f"{time.monotonic() - begin:.0f} s)", flush=True)
        if verdict in ("changes", "lives"):
            print(f"{name} {m.function}\n- {m.before}\n+ {m.after}", flush=True)
    runner.restore()
    seen = counts["killed"] + counts["changes"]
    if not seen:
        stop("nothing was tried")
    share = counts["killed"] / seen
    print(f"{seen + counts['lives']} tried: {counts['killed']} killed, "
          f"{counts['changes']} live and change an output, {counts['lives']} live and "
          f"change none that is compared; {counts['equal']} more are equal\n"
          f"{100 * share:.0f} % of those that change an output die; at least "
          f"{100 * ENOUGH:.0f} % have to\nseed {seed}")
    return 0 if share >= ENOUGH else 1


if __name__ == "__main__":
    sys.exit(main())
