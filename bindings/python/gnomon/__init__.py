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
import atexit as _atexit
import os as _os
import sys as _sys

from ._gnomon import (
    Error,
    Range,
    Scope,
    allocated,
    configure,
    counter,
    enabled,
    freed,
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
# But `range`, which would hide Python's.
__all__ = [
    "Error",
    "Profile",
    "Profiler",
    "ProfilerAction",
    "ProfilerActivity",
    "Range",
    "Scope",
    "allocated",
    "attach",
    "calls",
    "configure",
    "counter",
    "detach",
    "enabled",
    "freed",
    "health",
    "link_in",
    "link_out",
    "load",
    "mark",
    "metadata",
    "profile",
    "read",
    "record_function",
    "register",
    "schedule",
    "scope",
    "setup",
    "snapshot",
    "spec",
    "stage",
    "stage_begin",
    "stage_end",
    "start",
    "step",
    "stop",
    "summary",
    "teardown",
    "tensorboard_trace_handler",
    "thread_name",
    "version",
]

_LATER = {  # loaded when they are asked for
    "Profile": "_profiles",
    "ProfilerAction": "_schedule",
    "ProfilerActivity": "_arguments",
    "profile": "_recording",
    "schedule": "_schedule",
    "tensorboard_trace_handler": "_arguments",
}


def __getattr__(name):
    """Also gnomon.torch and gnomon.lightning are imported where they are first used."""
    from importlib import import_module

    if name in ("torch", "lightning"):
        return import_module("." + name, __name__)
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module("." + _LATER[name], __name__), name)
    globals()[name] = value
    return value


def __dir__():
    return sorted({*globals(), *__all__})


def setup(spec=None, *, dir=None, rank=None, local_rank=None, world_size=None):
    """Begins a run. `spec` is what to attach where $GNOMON is not set."""
    _watch_ends()
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


def _items(words):
    """The items of a spec: what is between commas that are in no brackets and quotes."""
    items, item, depth, quoted, escaped = [], "", 0, False, False
    for letter in words + ",":
        if letter == "," and not depth and not quoted:
            items.append(item.strip())
            item = ""
            continue
        if quoted:
            quoted = escaped or letter != '"'
            escaped = letter == "\\" and not escaped
        else:
            quoted = letter == '"'
            depth += (letter == "(") - (letter == ")")
        item += letter
    return [item for item in [*items, item.strip(" ,")] if item]


def _quoted(path):
    """A path as a value of a spec, whatever letters it has."""
    text = _os.fspath(path).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{text}"'


def _attached():
    """The names of the attached profilers."""
    split = [item.partition("(") for item in _items(spec())]
    return [name for name, bracket, _ in split if bracket or "=" not in name]


def summary(profiler=None):
    """The report that an attached profiler has now, as a text; of all of them where
    none is named."""
    if profiler is not None:
        return _gnomon._summary(profiler)
    texts = [_gnomon._summary(name) for name in _attached()]
    for name in list(_objects):
        try:
            texts.append(_gnomon._summary(name))
        except Error as error:
            if error.code not in (_gnomon.ENOENT, _gnomon.ESTATE):  # a forked child
                raise
    return "\n".join(filter(None, texts))


def calls():
    """A context manager: while it is open, each call of Python and of functions in C,
    on all threads, is a scope inside the mark around it."""
    from . import _calls

    return _calls.calls()


# ---- Profiles -----------------------------------------------------------------------


def load(path):
    """The profile in a .gnomon file: a gnomon.Profile."""
    from . import _profiles

    return _profiles.load(path)


def read(data):
    """The profile in the bytes of a .gnomon file."""
    from . import _profiles

    return _profiles.read(data)


def snapshot(profiler, all_stages=False):
    """The profile of what an attached profiler has recorded up to now, in the open
    stage or in all of them."""
    from . import _profiles

    return _profiles.snapshot(profiler, all_stages)


# ---- Profilers ----------------------------------------------------------------------


class Profiler:
    """A profiler. Override what you need: only that is called, and costs. All but setup,
    summary, events and teardown are called by the threads that mark, at once. Marks
    inside callbacks are ignored. An exception in one is told in one line, once."""

    wants = ("times",)
    """More that it needs: "tree" for a profile in summary, "times", "device", "run" for
    one report at the end, "steps", "events"."""

    options = {}
    """Its options in $GNOMON with their presets. They are arguments of __init__."""

    def setup(self, stage):
        """It was attached, or a stage begins."""

    def start(self, frame):
        """A scope, action or range begins: frame.name, .category, .token, .thread."""

    def stop(self, frame):
        """It is over: also frame.begin_ns and .end_ns."""

    def step(self, event):
        """A step is over: event.step, .begin_ns, .end_ns, .thread."""

    def counter(self, event):
        """A counter was sampled: event.name, .value, .ns, .step, .thread."""

    def mark(self, event):
        """A moment was marked: event.name, .ns, .step, .thread."""

    def thread(self, event):
        """A thread got a name: event.name, .thread, .os_id."""

    def summary(self, profile):
        """The report, as a text, or None. `profile` is None unless "tree" is wanted, and
        of use during the call only."""

    def events(self, profile):
        """With "events": a window of the schedule is over, or the run."""

    def __init_subclass__(cls, **arguments):
        super().__init_subclass__(**arguments)
        if "ready" in cls.__dict__:
            import warnings

            warnings.warn("Profiler.ready is called events", DeprecationWarning, 2)
            cls.events = cls.ready

    def teardown(self, stage):
        """After the report of a stage, and at the end."""


def register(profiler, name=None):
    """Makes a subclass of Profiler known to $GNOMON by its name, or that of the class.
    Call it before the first mark."""
    line = (profiler.__doc__ or "").strip().partition("\n")[0] or None
    _gnomon._register(profiler, Profiler, name or profiler.__name__.lower(), line)
    return profiler


_objects = {}  # what attach attached, by name: no spec has it


def attach(profiler, options="", name=None):
    """Attaches an object of a subclass of Profiler. `options` are words of $GNOMON, as
    "filter=opt*"."""
    name = name or type(profiler).__name__.lower()
    _gnomon._attach(profiler, Profiler, name, options)
    _objects[name] = profiler


def detach(profiler):
    """Detaches it, without a report. Afterwards no callback comes."""
    _gnomon._detach(profiler)
    for name in [n for n, its in _objects.items() if its is profiler]:
        del _objects[name]


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


def _watch_ends():
    """os._exit and os.exec* end the run while the process is still there."""
    for name in ("_exit", "execv", "execve"):  # which all others call
        plain = getattr(_os, name)
        if not hasattr(plain, "__wrapped__"):
            setattr(_os, name, _end_before(plain))


def _end_before(plain):
    def ending(*words, **keywords):
        path = words[0] if words else keywords.get("path")
        try:  # os.execvp tries each folder of $PATH
            leaves = isinstance(path, (int, type(None))) or _os.access(path, _os.X_OK)
        except (TypeError, ValueError):
            leaves = False  # wrong arguments, which it refuses itself
        if leaves:
            _gnomon._end()
        return plain(*words, **keywords)

    ending.__name__, ending.__doc__ = plain.__name__, plain.__doc__
    ending.__wrapped__ = plain
    return ending


def _finish():
    ended_by = getattr(_sys, "last_value", None)  # nobody caught it
    _gnomon._finish(isinstance(ended_by, KeyboardInterrupt))


_atexit.register(_finish)
if _os.environ.get("GNOMON"):
    _watch_ends()
_workers = _Workers()
_workers.watch()
_os.register_at_fork(after_in_child=_workers.forked)
