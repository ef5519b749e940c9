#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""planted.py [--jobs N] [WORD...]

Plants each mistake of planted.txt, one at a time, in the copy that mutants.py makes, and
runs programs of marks until one of them finds it. Says which, and after how many seconds
of one processor. Only the blocks in which each WORD is. Exit status: 0; 1 where one was
not found within a minute; 2 where its line is gone or the tree does not build."""
import argparse
import os
import re
import resource
import sys

sys.dont_write_bytecode = True
import mutants

ENOUGH = 60 # seconds
SUITE = "model"
TARGET = "test_mark_testing"


def read_planted():
    for block in re.split(r"\n\s*\n", mutants.read(os.path.join(mutants.HERE,
                                                                "planted.txt"))):
        text = [line for line in block.splitlines() if not line.startswith("#")]
        if text:
            yield text[0], text[1][2:], text[2][2:], " ".join(text[3:])


def build(jobs):
    done = mutants.ninja(jobs, [TARGET])
    if done.returncode:
        mutants.stop(f"it does not build:\n{done.stdout[-3000:]}")


def seconds_of_children():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def search():
    """The first failed check and the seconds until then. Each part of the programs gets
    its share of the time."""
    program, before = os.path.join(mutants.BUILD, "tests", TARGET), seconds_of_children()
    names = [line.split()[0] for line in mutants.run([program, "--list"]).stdout
             .splitlines() if line.startswith(SUITE + ".soak")]
    for name in names:
        most = ENOUGH // len(names)
        out = mutants.run(
            [program, name], env={**os.environ, "GNOMON_SOAK": "1", "GNOMON": "",
                                  "MODEL_NO_SHORTER": "1"},
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (most, most)))
        failed = re.search(r"^\S+: failed: .*$", out.stdout, re.M)
        if failed or out.returncode not in (0, -9, -24): # the limit ends it so
            return (failed.group() if failed else f"exit {out.returncode}",
                    seconds_of_children() - before)
    return None, seconds_of_children() - before


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("words", nargs="*")
    options = parser.parse_args()
    missed = 0
    mutants.configure()
    build(options.jobs)
    for name, before, after, why in read_planted():
        if not all(word in why for word in options.words):
            continue
        path = os.path.join(mutants.TREE, "src", name + ".c")
        text = mutants.read(path)
        if text.count(before) != 1:
            mutants.stop(f"planted.txt is out of date: {name}: {before}")
        mutants.write(path, text.replace(before, after))
        build(options.jobs)
        failed, seconds = search()
        mutants.write(path, text)
        missed += not failed
        print(f"{seconds:6.1f} s  {why}\n          {failed or 'not found'}", flush=True)
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
