# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""gnomon: mark a program's hooks once; $GNOMON picks what becomes of the marks.

    with gnomon.scope("train_step"):        # ends with the block
        ...
    @gnomon.scope("load")                   # a function, coroutine or generator
    gnomon.start("optimizer_step")          # by name, need not nest
    gnomon.stop("optimizer_step")
    gnomon.step()                           # a training step is over

Marks never fail; without $GNOMON they do nothing. docs/python.md has the rest.
"""
import os as _os
import sys as _sys

from ._gnomon import (
    Error,
    Range,
    Scope,
    configure,
    counter,
    enabled,
    health,
    link_in,
    link_out,
    mark,
    range,
    record_function,
    scope,
    spec,
    stage_begin,
    stage_end,
    start,
    step,
    stop,
    teardown,
    thread_name,
    version,
)
from . import _gnomon

__version__ = version()
__all__ = [
    "Error",
    "Range",
    "Scope",
    "configure",
    "counter",
    "enabled",
    "health",
    "link_in",
    "link_out",
    "mark",
    "metadata",
    "range",
    "record_function",
    "scope",
    "setup",
    "spec",
    "stage",
    "stage_begin",
    "stage_end",
    "start",
    "step",
    "stop",
    "summary",
    "teardown",
    "thread_name",
    "version",
]


def setup(spec=None, *, dir=None, rank=None, local_rank=None, world_size=None):
    """Begins a run. `spec` is what to attach where $GNOMON is not set."""
    _gnomon._setup(spec, dir, rank, local_rank, world_size)


class stage:
    """A stage of the run, as a with block: "fit", "validate", or any name. Reports
    are made for each stage."""

    __slots__ = ("name",)

    def __init__(self, name):
        self.name = name

    def __enter__(self):
        stage_begin(self.name)
        return self

    def __exit__(self, *error):
        stage_end()


def metadata(key, value):
    """Adds an entry to the run's metadata. `value` is what json.dumps takes."""
    import json

    _gnomon._metadata(key, json.dumps(value))


def _attached():
    """The names of the attached profilers."""
    names, depth, word = [], 0, ""
    for letter in spec() + ",":
        if letter == "," and not depth:
            name, bracket, _ = word.partition("(")
            if word and (bracket or "=" not in name):
                names.append(name)
            word = ""
            continue
        depth += (letter == "(") - (letter == ")")
        word += letter
    return names


def summary(profiler=None):
    """The report that an attached profiler has now, as a text; of all of them where
    none is named."""
    if profiler is not None:
        return _gnomon._summary(profiler)
    return "\n".join(filter(None, map(_gnomon._summary, _attached())))


# ---- Worker processes ---------------------------------------------------------------


class _Workers:
    """Workers of multiprocessing end by os._exit, where no report is written. So each
    ends its run when multiprocessing ends it."""

    watches = False

    def watch(self):
        util = _sys.modules.get("multiprocessing.util")
        if util is None or self.watches:
            return
        self.watches = True  # also in children, which have a copy of the registry
        util.register_after_fork(self, _Workers.begin)
        process = _sys.modules["multiprocessing.process"]
        if process.parent_process() is not None:  # imported during its work
            self.end_with(util)

    def begin(self):
        _gnomon._worker()
        self.end_with(_sys.modules["multiprocessing.util"])

    def end_with(self, util):
        util.Finalize(None, _gnomon._end, exitpriority=-1000)

    def forked(self):
        _gnomon._forked()
        self.watch()


_workers = _Workers()
_workers.watch()
_os.register_at_fork(after_in_child=_workers.forked)
