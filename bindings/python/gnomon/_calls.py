# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls of Python as scopes: names as cProfile has them, and switching it on."""
import os
import sys
import threading
import types

from . import _gnomon

_own = os.path.dirname(os.path.abspath(__file__)) + os.sep


def describe(what):
    """(name, file, line) of a code object or of a function in C; None for gnomon's."""
    if isinstance(what, types.CodeType):
        if what.co_filename.startswith(_own):
            return None
        return what.co_name, what.co_filename, what.co_firstlineno
    owner = getattr(what, "__self__", None)
    kind = getattr(what, "__objclass__", type(owner))
    if kind.__module__ == "gnomon":
        return None
    name = getattr(what, "__name__", "?")
    if owner is None:
        if isinstance(what, types.MethodDescriptorType):
            return repr(what), None, 0
        module = getattr(what, "__module__", None)
        if module in (None, "builtins"):
            return f"<{name}>", None, 0
        return f"<{module}.{name}>", None, 0
    if isinstance(owner, types.ModuleType):
        module = owner.__name__
        if module.startswith("gnomon."):
            return None
        return f"<built-in method {module}.{name}>", None, 0
    for kind in type(owner).__mro__:
        if name in vars(kind):
            return repr(vars(kind)[name]), None, 0
    module = getattr(what, "__module__", None)
    name = f"{module}.{name}" if isinstance(module, str) else name
    return f"<built-in method {name}>", None, 0


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
    """Takes a tool's number: the profilers' own, or else a free one."""
    global _tool
    for tool in (monitoring.PROFILER_ID, 4, 3):
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


def begin():
    monitoring = getattr(sys, "monitoring", None)
    if monitoring:
        _monitor(monitoring)
        return
    threading.setprofile(_gnomon._hook_thread)
    if not _gnomon._hook_on():
        raise _gnomon.Error("this Python has no PyEval_SetProfile")


def end():
    _gnomon._calls_off()
    monitoring = getattr(sys, "monitoring", None)
    if monitoring:
        _ignore(monitoring)
    else:
        threading.setprofile(None)
        _gnomon._hook_off()


_open = 0
_lock = threading.Lock()


class calls:
    """While it is open, each call of Python and of functions in C, on all threads, is
    a scope inside the mark around it."""

    def __enter__(self):
        global _open
        with _lock:
            if not _open:
                begin()
            _open += 1
        _gnomon._calls_on(describe)  # the last, so that nothing of this is recorded
        return self

    def __exit__(self, *error):
        global _open
        with _lock:
            _open -= 1
            if not _open:
                end()
