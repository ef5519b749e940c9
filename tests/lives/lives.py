#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Lives of a host: what it does, two or three things at a time, and whether gnomon
keeps what it always promises.

    lives.py BUILD                     200 of them, and those that ever went wrong
    lives.py BUILD --all               all of them; so does GNOMON_SOAK
    lives.py BUILD --run LIFE...       these; --keep leaves their folders
    lives.py BUILD --list              their names

A life is named by its words, "set=trace,host=no-fds,end=abort"; what it does not name
is as in `USUAL`. host.c has what they do. `matrix` makes all pairs of acts, and
triples by chance. The judge knows no single life: it asks what holds in each.
"""
import argparse
import collections
import concurrent.futures
import glob
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading

SEED, COUNT, SHORT, CHANCES = 34, 2475, 200, 10
HERE = os.path.dirname(os.path.abspath(__file__))

# How gnomon is asked for: its words, and where its counts are to be found.
# By whom: $GNOMON, but for `configure`, `setup` and `attach`, which are calls.
FILE = "file=life.gnomon"
SETS = {
    "unset": ("", ()),
    "file": ("simple," + FILE, ("simple", "file")),
    "simple": ("simple", ("simple",)),
    "tree": ("tree", ("tree",)),
    "steps": ("steps", ()),
    "trace": ("trace,file=life.json", ("trace",)),
    "stream": ("trace(keep=stream),file=life.json", ("trace",)),
    "8steps": ("trace(keep=8steps),file=life.json", ("trace",)),
    "profile": ("profile," + FILE, ("file",)),
    "json": ("profile,file=life.gnomon.json", ("file",)),
    "plugin": ("PLUGIN", ("simple",)),
    "nvtx": ("nvtx", ()),
    "several": ("simple,tree,steps,trace,counters,file=life.gnomon",
                ("simple", "tree", "file")),
    "scheduled": ("simple(schedule=wait:1/active:1/repeat:1)", ()),
    "bad": ("simpel,tree(colums=1),file=/nowhere/at/all/life.txt", ("tree",)),
    "little": ("simple,mem=32KiB", ("simple",)),
    "follow": ("simple,fork=follow", ("simple",)),
    "configure": ("simple," + FILE, ("simple", "file")),
    "setup": ("tree", ("tree",)),
    "attach": ("", ("simple",)),
}
CALLS = ("configure", "setup", "attach")

# What the host did to itself, and what of a report may be missing: nothing; "text",
# where its stderr cannot show it; "told", whatever a line gives a reason for; "all".
HOSTS = {
    "none": "", "chdir": "", "handled": "", "ignored": "", "blocked": "",
    "altstack": "", "locale": "", "bare-env": "", "no-dump": "", "umask": "told",
    "no-fds": "text", "own-fds": "text", "dead-stderr": "text", "full-stderr": "text",
    "chroot": "told", "lost-folder": "told", "no-file": "told", "no-size": "all",
    "other-user": "told", "no-process": "told", "little-room": "told",
    "mlockall": "told", "no-proc": "told", "full-disk": "told", "no-open": "told",
    "no-futex": "told", "no-madvise": "told", "no-membarrier": "told",
    "no-clone": "told", "no-sigaction": "told", "no-mmap": "told", "clearenv": "all",
}
MEANWHILE = ("none threads come-and-go leave go-on dlopen dlmopen fork clone attach "
             "stage snapshot names descriptors signals coroutines").split()
ACTS = ("none mark setup teardown configure stage attach summary snapshot thread name "
        "step fork clone dlopen dlmopen").split()
# How it ends, and whether reports come then.
ENDS = {"return": 1, "exit": 1, "thread": 1, "pthread_exit": 1, "fork": 1, "vfork": 1,
        "teardown": 1, "SIGTERM": 1, "SIGINT": 1, "SIGHUP": 1,
        "quick_exit": 0, "_exit": 0, "abort": 0, "exec": 0, "orphan": 0, "SIGSEGV": 0,
        "SIGKILL": 0}
LINKED = "shared static executable onefile cpp dlopen dlmopen".split()
AXES = {"set": list(SETS), "host": list(HOSTS), "meanwhile": MEANWHILE, "act": ACTS,
        "with": ACTS, "end": list(ENDS), "linked": LINKED}
USUAL = {"set": "file", "host": "none", "meanwhile": "none", "act": "none",
         "with": "none", "end": "return", "linked": "shared"}


# ---- Names, and which lives there are ------------------------------------------


def read(name):
    life = dict(USUAL, **dict(word.split("=", 1) for word in name.split(",") if word))
    for axis, act in life.items():
        if act not in AXES.get(axis, ()):
            sys.exit(f"no {axis}={act}")
    return life


def write(life):
    return ",".join(f"{a}={life[a]}" for a in AXES if life[a] != USUAL[a])


def matrix(seed):
    """All pairs of acts of two axes, each in a life with a third act that makes most
    pairs anew; then triples by chance."""
    chance = random.Random(seed)
    acts = [(a, v) for a in AXES for v in AXES[a] if v != USUAL[a]]
    # What goes on at once: any two acts. Beside other axes one stands for both.
    left = {(x, y) for x in acts for y in acts if x[0] < y[0]
            and "with" not in (x[0], y[0]) or x[0] == "act" and y[0] == "with"
            and x[1] <= y[1]}
    lives = {}

    def gains(life):
        return [p for p in ((x, y) for x in life for y in life) if p in left]

    for pair in sorted(left):
        if pair not in left:
            continue
        others = [v for v in acts if v[0] not in (pair[0][0], pair[1][0])]
        best = max(chance.sample(others, 40), key=lambda v: len(gains((*pair, v))))
        left.difference_update(gains((*pair, best)))
        lives[write(dict(USUAL, **dict((*pair, best))))] = 1
    while len(lives) < COUNT:
        axes = chance.sample(list(AXES), 3)
        some = {a: chance.choice(AXES[a]) for a in axes}
        lives[write(dict(USUAL, **some))] = 1
    names = sorted(lives)
    chance.shuffle(names)
    return names


# ---- A life ----------------------------------------------------------------------

Ended = collections.namedtuple("Ended", "status out err told folder")


def live(build, life, is_off, folder, seconds):
    """Runs it in `folder`. is_off: the same host without gnomon."""
    programs = os.path.join(build, "tests", "lives")
    linked = life["linked"]
    spec = SETS[life["set"]][0].replace(
        "PLUGIN", os.path.join(build, "tests", "plugins", "simple.so"))
    module = os.path.join(programs, "off_module.so" if is_off else "module.so")
    if linked in ("dlopen", "dlmopen"):
        command = [os.path.join(programs, "outer"), linked, module]
    else:
        command = [os.path.join(programs, "off" if is_off else linked)]
    words = [f"{a}={life[a]}" for a in ("host", "meanwhile", "act", "with", "end")
             if life[a] != "none" and (a, life[a]) != ("end", "return")]
    environment = {} if life["host"] == "bare-env" else {
        "PATH": "/usr/bin:/bin", "HOME": "/", "LANG": "C"}
    if is_off:
        pass
    elif life["set"] in CALLS:
        words.append("set=" + life["set"])
    elif spec:
        environment["GNOMON"] = spec
    ours, theirs = os.pipe()
    # For writing alone, as a shell does: what may be read is data of the host's.
    out, err = (open(os.path.join(folder, n), "wb") for n in (".out", ".err"))
    child = subprocess.Popen(
        command + words + [f"spec={spec}", f"module={module}", f"pipe={theirs}"],
        stdin=subprocess.DEVNULL, stdout=out, stderr=err, cwd=folder, env=environment,
        pass_fds=[theirs], start_new_session=True)
    os.close(theirs)
    late = []

    def kill():
        late.append(1)
        os.killpg(child.pid, signal.SIGKILL)

    timer = threading.Timer(seconds, kill)
    timer.start()
    with open(ours, "rb") as pipe:  # its last child closes it
        told = pipe.read().decode()
    status = child.wait()
    timer.cancel()
    texts = []
    for file in (out, err):
        file.close()
        with open(file.name, errors="replace") as text:
            texts.append(text.read())
    return Ended(None if late else status, *texts, told, folder)


# ---- What gnomon counted -----------------------------------------------------------

ROW = {
    "simple": r"^\|  (\w+) *\t\|  \S+ *\t\|  (\d+) ",
    "tree": r"^ *(\w+) .*? +(\d+) +\d+$",
}


def counts_in(text, kind):
    counts = collections.Counter()
    for name, count in re.findall(ROW[kind], text, re.MULTILINE):
        counts[name] += int(count)
    return counts


def files_of(folder, *endings):
    return [f for f in sorted(glob.glob(folder + "/**", recursive=True))
            if f.endswith(endings) and os.path.isfile(f)]


def counts_of(build, ended, kind):
    """None: there is no report or file of this kind."""
    if kind in ROW:
        counts = counts_in(ended.err, kind)
        return counts or None
    counts = collections.Counter()
    if kind == "trace":
        files = files_of(ended.folder, "life.pt.trace.json", ".json")
        for file in files:
            with open(file) as text:
                events = json.load(text)["traceEvents"]
            counts.update(e["name"] for e in events if e["ph"] == "X")
        return counts if files else None
    files = files_of(ended.folder, ".gnomon", ".gnomon.json")
    for file in files:
        shown = subprocess.run([os.path.join(build, "gnomon"), "report", "--as", "simple",
                                file], capture_output=True, text=True, env={})
        if shown.returncode not in (0, 3):
            raise ValueError(f"{os.path.basename(file)}: {shown.stderr.strip()}")
        counts.update(counts_in(shown.stdout, "simple"))
    return counts if files else None


# ---- The judge -----------------------------------------------------------------------

# Of any life: what no program may print.
CRASHED = re.compile(r"Fatal glibc|\*\*\*|AddressSanitizer|free\(\)|corrupt|Assertion")
# Lines that say how much was lost; and those that give no reason for a missing report.
LOST = re.compile(r"^gnomon: (?:mem=\S+ is spent: )?(\d+) ", re.MULTILINE)
USELESS = re.compile(r"^gnomon: (about |\d+ scope\w* (is|are) open|after |trace: \d)")


def losses_in_traces(folder):
    lines = []
    for name in files_of(folder, ".json"):
        with open(name) as file:
            lines += re.findall(r'\{"kind": "\w+", "count": (\d+)', file.read(4096))
    return "".join(f"gnomon: {count} \n" for count in lines)


def told_counts(told):
    return {name: int(n) for name, n in re.findall(r"^did (\w+) (\d+)$", told,
                                                   re.MULTILINE)}


def exact(life, did):
    """The regions whose calls must be in the reports: those that are marked while no
    control call takes the profilers away."""
    acts = {life["act"], life["with"]}
    names = ["work", "named"]
    if life["linked"] != "dlmopen":  # whose libc does not know of the first thread
        names.append("last")
    if not {"teardown", "configure"} & acts:
        names += ["thread", "signalled", "switched", "act"]
        if "dlmopen" not in acts | {life["meanwhile"]}:
            names.append("module")
    return [n for n in names if n in did]


def is_ended_by_libc(life, got):
    """Where futex is refused, glibc ends the process when two of its threads meet at a
    lock of libc's own, as the loader's, and says so. In one of many lives."""
    has_threads = life["with"] != "none" or life["meanwhile"] != "none"
    return (life["host"] == "no-futex" and has_threads
            and got.status == -signal.SIGABRT and "futex facility" in got.err)


def judge(build, life, ref, got):
    """Yields what is wrong."""
    if got.status is None:
        yield "does not end"
        return
    if got.status != ref.status:
        yield f"ends with {got.status}, not {ref.status}"
    if got.out != ref.out:
        yield f"prints {got.out!r}, not {ref.out!r}"
    changes = [re.findall("^changed.*", e.told, re.MULTILINE) for e in (ref, got)]
    if set(changes[1]) - set(changes[0]):
        yield ", ".join(sorted(set(changes[1]) - set(changes[0])))
    if CRASHED.search(got.err):
        yield "says " + CRASHED.search(got.err).group()
    own = os.path.join(got.folder, "own2")
    if os.path.exists(own) and os.path.getsize(own):
        yield "writes into the host's file"
    if life["set"] == "unset" and got.err != ref.err:
        yield f"prints {got.err[:200]!r} though $GNOMON is not set"
    if files_of(got.folder, ".tmp", "~"):
        yield "leaves temporary files"
    did, missing = told_counts(got.told), HOSTS[life["host"]]
    reasons = [l for l in got.err.splitlines()
               if l.startswith("gnomon: ") and not USELESS.match(l)]
    reasons += re.findall("^refused.*", got.told, re.MULTILINE)
    lost = sum(int(n) for n in LOST.findall(got.err + losses_in_traces(got.folder)))
    for kind in SETS[life["set"]][1]:
        try:
            shown = counts_of(build, got, kind)
        except (ValueError, KeyError, UnicodeDecodeError) as error:
            yield f"{kind}: {error}"
            continue
        for name in sorted(set(shown or ()) & set(did)):
            if shown[name] > did[name]:
                yield f"{kind}: {shown[name]} calls of {name}, of {did[name]}"
        is_blind = missing == "text" and kind in ROW
        is_silent = not ENDS[life["end"]] or not told_counts(ref.told)
        is_silent |= ref.status == -signal.SIGABRT  # so does libc at pthread_exit
        if life["set"] in CALLS and "teardown" in (life["act"], life["with"]):
            is_silent = True  # what was asked for once is gone
        if is_silent or missing == "all" or is_blind:
            continue
        if shown is None and not (missing == "told" and reasons):
            yield f"{kind}: no report, and no reason"
        for name in exact(life, did) if shown is not None else ():
            excused = missing == "told" and reasons
            if missing == "text" and name == "signalled":
                excused = True  # its stderr would have told what handlers lost
            if did[name] - shown[name] > lost and not excused:
                yield f"{kind}: {shown[name]} calls of {name}, not {did[name]}"


# ---- The lives of a run ------------------------------------------------------------------


class Runner:
    def __init__(self, options):
        self.build, self.keep = os.path.abspath(options.build), options.keep
        self.seconds, self.references = options.seconds, {}
        where = "/dev/shm" if os.access("/dev/shm", os.W_OK | os.X_OK) else None
        self.folder = tempfile.mkdtemp(prefix="gnomon-lives-", dir=where)
        os.chmod(self.folder, 0o755)

    def close(self):
        if not self.keep:
            shutil.rmtree(self.folder)

    def run(self, life, is_off):
        folder = tempfile.mkdtemp(dir=self.folder)
        os.chmod(folder, 0o777)
        return live(self.build, life, is_off, folder, self.seconds)

    def reference(self, life):
        linked = life["linked"] if life["linked"] in ("dlopen", "dlmopen") else "shared"
        key = write(dict(life, linked=linked, set="file"))
        if key not in self.references:
            self.references[key] = self.run(life, True)
        return self.references[key]

    def wrongs(self, name):
        """None: this machine cannot live so, also without gnomon."""
        life = read(name)
        ref = self.reference(life)
        if ref.status is None or ref.status in (77, 78):
            return None
        for _ in range(CHANCES):
            got = self.run(life, False)
            if not is_ended_by_libc(life, got):
                break
        found = list(judge(self.build, life, ref, got))
        if self.keep:
            print(got.folder, got.status, got.told, got.err, sep="\n")
        else:
            shutil.rmtree(got.folder, ignore_errors=True)
        return found


def wrong_once():
    """Those of wrong.txt, each as often as it says there."""
    with open(os.path.join(HERE, "wrong.txt")) as file:
        lines = [line.split("#")[0].split() for line in file]
    return [line[0] for line in lines if line for _ in range(int(line[1]))]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--run", nargs="+", metavar="LIFE")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--jobs", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=60, help="the longest life")
    options = parser.parse_args()
    names = matrix(options.seed)
    if not options.all and not os.environ.get("GNOMON_SOAK"):
        names = names[:SHORT]
    names = options.run or wrong_once() + names
    if options.list:
        print("\n".join(names))
        return 0
    runner, wrong, skipped = Runner(options), 0, 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for name, found in zip(names, pool.map(runner.wrongs, names)):
            skipped += found is None
            wrong += bool(found)
            for what in found or ():
                print(f"{name}: {what}", flush=True)
    runner.close()
    print(f"{len(names)} lives, {wrong} wrong, {skipped} that this machine has not")
    return 1 if wrong else 0


sys.exit(main())
