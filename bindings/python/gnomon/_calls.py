# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls of Python as scopes: names as cProfile has them, and switching it on."""
import functools
import os
import sys
import threading
import types

from . import _gnomon

_own = os.path.dirname(os.path.abspath(__file__)) + os.sep


def describe(what, *owner):
    """(name, file, line, what has the key of calls.c) of a code object or of a function
    in C, named as cProfile does; None for gnomon's own. `owner`: what the function in C
    is bound to, or nothing."""
    if isinstance(what, types.CodeType):
        if what.co_filename.startswith(_own):
            return None
        return what.co_name, what.co_filename, what.co_firstlineno, what
    if isinstance(what, types.MethodDescriptorType):
        return _attribute(what.__objclass__, what)
    module, name = what.__module__, what.__name__
    if isinstance(module, types.ModuleType):
        module = module.__name__
    if isinstance(module, str):
        if module.startswith("gnomon."):
            return None
        name = f"{module}.{name}"
    if not owner:
        return f"<{name.removeprefix('builtins.')}>", None, 0, what
    for kind in type(owner[0]).__mro__:
        if what.__name__ in vars(kind):
            return _attribute(kind, vars(kind)[what.__name__])
    return f"<built-in method {name}>", None, 0, what


def _attribute(kind, what):
    return None if kind.__module__ == "gnomon" else (repr(what), None, 0, what)


_tool = None  # of sys.monitoring


def _callbacks(events):
    begin, end = _gnomon._on_call_begin, _gnomon._on_call_end
    return {
        events.PY_START: begin,
        events.PY_RESUME: begin,
        events.PY_THROW: begin,
        events.PY_RETURN: end,
        events.PY_YIELD: end,
        events.PY_UNWIND: end,
        events.CALL: _gnomon._on_c_begin,
        events.C_RETURN: _gnomon._on_c_end,
        events.C_RAISE: _gnomon._on_c_end,
    }


def _monitor(monitoring):
    """Takes a tool's number: a free one, for the program may start cProfile, or else the
    profilers' own."""
    global _tool
    for tool in (4, 3, monitoring.PROFILER_ID):
        if monitoring.get_tool(tool) is None:
            monitoring.use_tool_id(tool, "gnomon")
            _tool = tool
            break
    else:
        raise _gnomon.Error("sys.monitoring: other tools have all its numbers")
    callbacks = _callbacks(monitoring.events)
    chosen = 0
    for event, function in callbacks.items():
        monitoring.register_callback(tool, event, function)
        if event not in (monitoring.events.C_RETURN, monitoring.events.C_RAISE):
            chosen |= event  # those two come with CALL
    monitoring.set_events(tool, chosen)


def _ignore(monitoring):
    global _tool
    monitoring.set_events(_tool, 0)
    for event in _callbacks(monitoring.events):
        monitoring.register_callback(_tool, event, None)
    monitoring.free_tool_id(_tool)
    _tool = None


_before = None  # what threading gave new threads


def begin():
    global _before
    monitoring = getattr(sys, "monitoring", None)
    if monitoring:
        _monitor(monitoring)
        return
    _before = threading._profile_hook
    threading.setprofile(_gnomon._hook_thread)
    if not _gnomon._hook_on():
        raise _gnomon.Error("this Python has no PyEval_SetProfile")


def end():
    _gnomon._calls_off()
    monitoring = getattr(sys, "monitoring", None)
    if monitoring:
        _ignore(monitoring)
        return
    threading.setprofile(_before)
    if sys.getprofile() is _gnomon:
        _gnomon._hook_off()
    else:
        sys.stderr.write(
            "gnomon: calls() misses those after another profiler (cProfile, "
            "sys.setprofile) took this thread; from Python 3.12 on both see all\n"
        )


_open = 0
_lock = threading.RLock()  # a profile that goes may end its calls anywhere


class calls:
    """While it is open, each call of Python and of functions in C, on all threads, is
    a scope inside the mark around it."""

    def __enter__(self):
        global _open
        with _lock:
            if not _open:
                begin()
            _open += 1
        bound = types.MethodType(describe, 0)
        _gnomon._calls_on(describe, bound)  # the last: nothing of this is recorded
        return self

    def __exit__(self, *error):
        global _open
        with _lock:
            _open -= 1
            if not _open:
                end()


def _begin_for_ever():
    calls().__enter__()


class _Spawned:
    """Begins calls() where it is unpickled."""

    def __reduce__(self):
        return _begin_for_ever, ()


def follow_spawned():
    """Processes that multiprocessing spawns record their calls too, as forked ones do."""
    from multiprocessing import spawn

    plain = spawn.get_preparation_data

    @functools.wraps(plain)
    def prepare(name):
        return dict(plain(name), gnomon=_Spawned())

    spawn.get_preparation_data = prepare
