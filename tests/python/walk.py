# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""walk.py MODULE,...: calls each function in C of modules and of the types in them, under
cProfile and under gnomon.calls(), and says how many. Names and counts must be the same.

The calls have a wrong keyword, so they run nothing of the function. Submodules that are
in C too are walked with their module."""
import cProfile
import collections
import functools
import importlib
import sys
import types
import warnings

import gnomon

KINDS = types.BuiltinFunctionType, types.MethodDescriptorType


def places(names):
    """Modules, and the types and submodules in them."""
    todo, seen = [], set()
    for name in names:
        try:
            todo.append(importlib.import_module(name))
        except ImportError:
            pass  # of another version of Python or torch
    while todo:
        at = todo.pop()
        if id(at) in seen:
            continue
        seen.add(id(at))
        yield at
        for value in list(vars(at).values()):
            is_inside = isinstance(value, types.ModuleType) and (
                value.__name__.startswith(getattr(at, "__name__", "") + ".")
                and not hasattr(value, "__file__")
            )
            if isinstance(value, type) or is_inside:
                todo.append(value)


def functions(names):
    found = {}
    for at in places(names):
        for name in dir(at):
            try:
                one = getattr(at, name)
            except Exception:
                continue
            if isinstance(one, KINDS) and one is not sys.breakpointhook:
                found[id(one)] = one
    return list(found.values())


def arguments(one):
    """None: no object of its type can be made."""
    if not isinstance(one, types.MethodDescriptorType):
        return ()
    try:
        return (one.__objclass__.__new__(one.__objclass__),)
    except Exception:
        return None


def call_all(calls):
    for one, first in calls:
        try:
            one(*first, **{"no such argument": 0})
        except Exception:
            pass


def counts(work):
    """{name: calls} of functions in C, by cProfile and by gnomon."""
    profile = cProfile.Profile()
    profile.enable()
    work()
    profile.disable()
    theirs, ours = collections.Counter(), collections.Counter()
    for entry in profile.getstats():
        if isinstance(entry.code, str):
            theirs[entry.code] += entry.callcount
    del theirs["<method 'disable' of '_lsprof.Profiler' objects>"]
    gnomon.configure("regions(file=/dev/null)")
    with gnomon.calls():
        work()
    for row in gnomon.snapshot("regions").rows():
        if row.name[0] == "<":
            ours[row.name] += row.host.count
    gnomon.configure("")
    return theirs, ours


def check(modules):
    warnings.simplefilter("ignore")  # printed by some calls, but not each time
    calls = [(one, arguments(one)) for one in functions(modules.split(","))]
    calls = [(one, first) for one, first in calls if first is not None]
    call_all(calls)
    theirs, ours = counts(functools.partial(call_all, calls))
    assert ours == theirs, (ours - theirs, theirs - ours)
    print(sum(theirs.values()), "functions")


if __name__ == "__main__":
    check(sys.argv[1])
