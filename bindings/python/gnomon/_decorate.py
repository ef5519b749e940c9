# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a scope makes of the function that it decorates."""
import functools
import inspect
import types

from ._gnomon import range as _range
from ._gnomon import scope as _scope


def _is_suspended(function):
    return (
        inspect.iscoroutinefunction(function)
        or inspect.isgeneratorfunction(function)
        or inspect.isasyncgenfunction(function)
    )


def decorate(scope, function):
    """`function` with the scope around it. The scope of a coroutine covers all of its
    life and belongs to its task. That of a generator is a range, for what the caller
    does between two values is not inside it."""
    if isinstance(function, (staticmethod, classmethod)):
        return type(function)(decorate(scope, function.__func__))
    if not callable(function):
        raise TypeError(f"a scope decorates a function, not {function!r}")
    name, category = scope.name, scope.category
    if scope.stream is not None and _is_suspended(function):
        raise TypeError("a scope on a stream decorates a function that runs at once")
    if inspect.iscoroutinefunction(function):

        async def marked(*args, **keywords):
            with _scope(name, category):
                return await function(*args, **keywords)

    elif inspect.isgeneratorfunction(function):

        def marked(*args, **keywords):
            with _range(name, category):
                return (yield from function(*args, **keywords))

        flags = getattr(getattr(function, "__code__", None), "co_flags", 0)
        if flags & inspect.CO_ITERABLE_COROUTINE:
            marked = types.coroutine(marked)  # as it was: what `await` takes

    elif inspect.isasyncgenfunction(function):

        async def marked(*args, **keywords):
            with _range(name, category):
                inner = function(*args, **keywords)
                resume, given = inner.asend, None
                try:
                    while True:
                        try:
                            value = await resume(given)
                        except StopAsyncIteration:
                            return
                        try:
                            resume, given = inner.asend, (yield value)
                        except GeneratorExit:
                            raise
                        except BaseException as error:
                            resume, given = inner.athrow, error
                finally:
                    await inner.aclose()

    else:

        def marked(*args, **keywords):
            with scope:
                return function(*args, **keywords)

    return functools.wraps(function)(marked)
