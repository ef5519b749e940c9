# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""python -m gnomon [-o FILE] [--profiler WORDS] [--no-calls] SCRIPT [ARGUMENT...]

Runs a script, or a module with -m, and records each of its calls, as $GNOMON says or
else WORDS: `advanced` where nothing is said. FILE is where the report goes, or the
profile (.gnomon), or cProfile's statistics (.prof). With --no-calls marks alone are
recorded.
"""
import argparse
import atexit
import os
import sys
import tempfile

import gnomon
from gnomon import _calls


def arguments(words):
    parser = argparse.ArgumentParser(
        prog="python -m gnomon",
        description="Runs a script and records its marks and calls.",
    )
    parser.add_argument(
        "-o", metavar="FILE", help="the report, or a profile: .gnomon, .prof"
    )
    parser.add_argument(
        "--profiler",
        metavar="WORDS",
        help="what records, in words of $GNOMON, which wins if it is set; else advanced",
    )
    parser.add_argument(
        "--no-calls", action="store_true", help="marks alone, not each call"
    )
    parser.add_argument("-m", action="store_true", help="the script is a module")
    parser.add_argument("script")
    parser.add_argument("rest", nargs=argparse.REMAINDER, metavar="ARGUMENT")
    return parser.parse_args(words)


def spec_of(given):
    """What is attached: the words, the memory, and the file."""
    words = os.environ.get("GNOMON") or given.profiler
    stem, suffix = os.path.splitext(given.o or "")
    items = [words] if words else []
    if suffix == ".prof":  # and no report, as of cProfile, where none is named
        report = gnomon._quoted(stem + ".txt")
        items.append(f"advanced(dump_stats=run,at=end,file={report})")
    elif given.o:
        items.append(f"file={gnomon._quoted(given.o)}")
    if not words and suffix != ".prof":
        items.insert(0, "advanced")
    said = any(i.startswith("mem=") for i in gnomon._items(words or ""))
    if not given.no_calls and not said:
        items.append("mem=512MiB")  # the imports of torch alone are 300000 paths
    return ",".join(items)


# The library appends a note on each file that it writes to this one; `gnomon run` has it
# too. A note is a letter, f for a file, its path, and a zero.
NOTES = "GNOMON_RUN_NOTES"


def begin_notes():
    """The file of the notes, which is read when the first mark reads $GNOMON, and
    whether it is ours."""
    path = os.environ.get(NOTES)
    if path and os.path.isfile(path):
        return path, False
    handle, path = tempfile.mkstemp(prefix="gnomon-notes-")
    os.close(handle)
    os.environ[NOTES] = path
    return path, True


def written_by(work, notes):
    """The files that the library writes meanwhile."""
    before = os.path.getsize(notes)
    work()
    with open(notes, "rb") as file:
        file.seek(before)
        found = [n[1:] for n in file.read().split(b"\0") if n.startswith(b"f")]
    return [os.fsdecode(path) for path in dict.fromkeys(found)]


def join_stages(path, notes, process):
    """One file of the statistics of all stages, as cProfile writes: gnomon writes one
    for each name of stages, `fit-out.prof`. Names with % or a rank stay as they are."""
    import pstats

    if os.getpid() != process:
        return
    try:
        if "%" in path or "dump_stats=run" not in gnomon.spec():
            return  # or the script replaced what was attached
        base = os.path.basename(path)
        written = written_by(lambda: gnomon.configure(""), notes[0])
        names = [(os.path.basename(file), file) for file in written]
        found = [f for n, f in names if n == base or n.endswith("-" + base)]
        if found and found != [os.path.abspath(path)]:
            pstats.Stats(*found).dump_stats(path)
            for part in set(found) - {os.path.abspath(path)}:
                os.remove(part)
    finally:
        if notes[1]:
            os.remove(notes[0])


def load(given):
    """The code of the script, and the variables that it runs in."""
    import types

    main = types.ModuleType("__main__")
    if given.m:
        import runpy

        sys.path.insert(0, os.getcwd())
        try:
            name, found, code = runpy._get_module_details(given.script)
        except ImportError as error:
            sys.exit(f"gnomon: {error}")
        main.__spec__, main.__file__ = found, found.origin
        main.__package__ = found.parent
    else:
        path = given.script
        sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
        with open(path, "rb") as file:
            code = compile(file.read(), path, "exec")
        main.__file__ = os.path.abspath(path)
        main.__spec__ = None
    sys.argv[:] = [main.__file__ if given.m else path, *given.rest]
    return main, code


def main():
    given = arguments(sys.argv[1:])
    main_path = sys.path.pop(0) if sys.path else None
    try:
        module, code = load(given)
    except OSError as error:
        sys.path.insert(0, main_path)
        sys.exit(f"gnomon: {given.script}: {error.strerror}")
    os.environ["GNOMON"] = spec_of(given)  # its workers and children read it, too
    sys.modules["__main__"] = module
    notes = None, False
    if given.o and given.o.endswith(".prof"):
        # Registered before the script runs: so it comes after what that registers.
        notes = begin_notes()
        atexit.register(join_stages, given.o, notes, os.getpid())
    name = os.path.basename(given.script)
    gnomon._watch_ends()
    gnomon.start(name)
    if notes[1]:
        del os.environ[NOTES]  # its children's files are not ours
    try:
        if given.no_calls:
            exec(code, module.__dict__)
        else:
            _calls.follow_spawned()
            with gnomon.calls():
                exec(code, module.__dict__)
    finally:
        gnomon.stop(name)


if __name__ == "__main__":
    main()
