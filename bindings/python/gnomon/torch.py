# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""gnomon in PyTorch programs, with no change of the model's source.

    import gnomon.torch
    gnomon.torch.watch(model, optimizer)

Each call of a module is a scope, and so is its backward; `record_function` marks, which
optimizers and data loaders have in torch itself, are taken in; an optimizer's step ends
a training step. docs/python.md says more. PyTorch 2.4 or later.

Models are not touched. A module's call is replaced where torch itself does it, by an
attribute of the class of all modules, so copies, pickles, scripts and compiled code of
a model are what they were. Hooks of a module would be a part of them all, and hooks of
all modules make torch.compile warn.
"""
import functools
import os
import re
import threading
import time
import weakref

import torch
from torch.compiler import is_compiling as _is_compiling
from torch.nn.modules.module import register_module_module_registration_hook

from . import _gnomon, _kineto, _operators, metadata as _metadata
from . import range as _range, scope, step
from ._operations import Marks, init, wrap

__all__ = ["Marks", "Watch", "ddp_hook", "init", "watch", "wrap"]

for _owner, _name in (
    (torch.nn.Module, "_compiled_call_impl"),
    (torch.autograd, "_engine_run_backward"),
):
    if _name not in vars(_owner):
        raise ImportError(f"gnomon.torch is not made for PyTorch {torch.__version__}")

_layers = {}  # by the id of a module that lives: its layer
_watches = []  # those that are not closed
_undo = []  # what takes back what is replaced in torch; empty: nothing is
_looked = {}  # by thread: the layer that it found, and will look for again
os.register_at_fork(after_in_child=_looked.clear)


class _Here(threading.local):
    step_is_over = False  # an optimizer made its step, and is in its mark


_here = _Here()


# ---- Calls of modules ---------------------------------------------------------------


def _runs_as_it_is(function):
    """Decorates our functions, which torch.compile would compile too where they run
    between two graphs. This is torch._dynamo.skip, which takes a second to import."""
    frames = torch._C._dynamo.eval_frame
    if hasattr(frames, "set_code_exec_strategy"):
        skip = frames._FrameAction.SKIP, frames._FrameAction.DEFAULT
        strategy = frames._FrameExecStrategy(*skip)
        frames.set_code_exec_strategy(function.__code__, strategy)
    elif hasattr(frames, "skip_code"):  # before 2.7
        frames.skip_code(function.__code__)
    return function


@_runs_as_it_is
def _on_stream(mark, values=()):
    """The mark; where CUDA is in use, on the stream that the work on the first of some
    values is put into now."""
    if not torch.cuda.is_initialized():
        return mark
    first = values[0] if values else None
    device = first.get_device() if isinstance(first, torch.Tensor) else -1
    if device < 0:
        device = torch._C._cuda_getDevice()
    stream = torch._C._cuda_getCurrentRawStream(device)
    return scope(mark.name, mark.category, stream)


@_runs_as_it_is
def _at_the_end(opened):
    """Closes these when backward is over, on a thread of autograd's own."""
    torch.autograd.Variable._execution_engine.queue_callback(
        functools.partial(_gnomon._close_all, opened)
    )


class Call(_gnomon._call_type()):
    """One call of a layer, which is a hook of nodes that it made. In Python, for that is
    what torch.compile can read."""

    __slots__ = ()

    @_runs_as_it_is
    def __call__(self, *gradients):
        if not _is_compiling():
            self._hook(*gradients)


# Module._compiled_call_impl: what a module's call goes to unless it is None.
_calls = _gnomon._torch(
    _layers,
    _looked,
    torch.nn.Module._wrapped_call_impl.__code__,
    _is_compiling,
    torch.is_grad_enabled,
    torch.autograd._get_sequence_nr,
    torch.Tensor,
    Call,
    torch.cuda,
    _on_stream,
    _at_the_end,
)


def _layer(module, name, kind, level):
    """A watched module, which it does not keep alive."""
    weak = weakref.ref(module, functools.partial(_forget, id(module)))
    scopes = scope(name, kind), scope(name + " backward", kind)
    return _gnomon._layer(_calls, weak, name, kind, level, *scopes)


def _forget(key, module):
    """The module of this id is gone. A watch ends with its model."""
    if key in _layers and _layers[key].module is module:  # not of an earlier watch
        for watch in _layers.pop(key).watches:
            del watch._layers[key]
            if not watch._layers and watch in _watches:
                _watches.remove(watch)
                watch._end_operators()


def _settle():
    """Waits until no thread is between two looks. False: one stays there, as this one
    does where it is in a signal handler. The watch is over already: a thread that begins
    to look says so first, and then sees that.

    The frames of the threads would say it too, but these run on while one goes over them,
    and Python 3.11 crashed there."""
    for tries in range(600):
        if not _looked:
            return True
        if threading.get_ident() in _looked:
            return False
        time.sleep(0 if tries < 100 else 0.001)
    return False


def _added(module, name, submodule):
    """For each module that becomes a part of another one."""
    layer, inner = _layers.get(id(module)), _layers.get(id(submodule))
    if layer is not None and submodule is not None:
        for watch in layer.watches:
            watch._add_all(submodule, f"{layer.name}.{name}", layer.level + 1)
    elif inner is not None and name == "_orig_mod":
        for watch in inner.watches:
            watch._add(module, inner.name, inner.kind, inner.level)
        inner.is_inner = True


# ---- Marks that torch and the program have ------------------------------------------


def _entering(enter):
    @_runs_as_it_is
    @functools.wraps(enter)
    def __enter__(self):
        result = enter(self)
        if _gnomon._on() and not _kineto.is_open():  # which records it
            # One name for all steps, as torch.profiler's table has it.
            is_step = self.name.startswith("ProfilerStep#")
            mark = _on_stream(scope("ProfilerStep*" if is_step else self.name))
            self.__dict__.setdefault("_gnomon", []).append(mark)
            mark.__enter__()
        return result

    return __enter__


def _leaving(leave):
    @_runs_as_it_is
    @functools.wraps(leave)
    def __exit__(self, *error):
        marks = self.__dict__.get("_gnomon")
        if marks:
            marks.pop().__exit__(*error)
        result = leave(self, *error)
        if _here.step_is_over and self.name.startswith("Optimizer.step#"):
            _here.step_is_over = False
            step()  # here, so that the step has all of the optimizer's time
        return result

    return __exit__


def _stepped(optimizer, args, keywords):
    """A hook after the step of a watched optimizer."""
    if not _is_compiling():
        _here.step_is_over = True


def _marked(run_backward):
    """What all of torch's backward goes through, with a scope around it."""

    @_runs_as_it_is
    @functools.wraps(run_backward)
    def marked_backward(*args, **keywords):
        if not _gnomon._on():
            return run_backward(*args, **keywords)
        here = _gnomon._here(_calls)
        outer, here.open = (here.open, here.runs), []
        here.runs = True
        with _on_stream(scope("backward")):
            try:
                return run_backward(*args, **keywords)
            finally:
                _gnomon._close_all(here.open)
                here.open, here.runs = outer

    return marked_backward


# ---- What is replaced in torch while something is watched ---------------------------


def _replace(owner, name, value):
    before = owner.__dict__[name]
    setattr(owner, name, value)

    def undo():
        if owner.__dict__[name] is value:
            setattr(owner, name, before)

    _undo.append(undo)


def _install():
    module, mark = torch.nn.Module, torch.autograd.profiler.record_function
    _replace(module, "_compiled_call_impl", _calls)
    _replace(mark, "__enter__", _entering(mark.__enter__))
    _replace(mark, "__exit__", _leaving(mark.__exit__))
    run = torch.autograd._engine_run_backward
    _replace(torch.autograd, "_engine_run_backward", _marked(run))
    _undo.append(register_module_module_registration_hook(_added).remove)


def _clean():
    """Takes back what nothing needs any more."""
    if not _settle():
        return  # the next one does it
    for key, layer in list(_layers.items()):
        if not layer.watches:
            _layers.pop(key, None)
    while _undo and not _watches:
        _undo.pop()()


class Watch:
    """What watch() returns. close(), or the end of a with block, takes back all that
    watch() did. It keeps no model and no optimizer alive. Where it is dropped, the watch
    goes on as long as the model lives."""

    def __init__(self, only, depth, operators, memory):
        self._only, self._depth = only, depth
        self._operators = operators and _operators.begin()
        self._memory = memory and _operators.begin_memory()
        self._layers, self._hooks = {}, []

    def _add(self, module, name, kind, level):
        key = id(module)
        if key not in _layers:
            _layers[key] = _layer(module, name, kind, level)
        if key not in self._layers:
            self._layers[key] = _layers[key]
            _layers[key].watches.append(self)
        return _layers[key]

    def _add_all(self, module, name, level):
        """A module of this name and level, and those inside it."""
        for path, inner in module.named_modules():
            parts = path.split(".") if path else []
            own = [part for part in parts if part != "_orig_mod"]  # of torch.compile
            full, depth = ".".join([name, *own]), level + len(own)
            if depth <= self._depth and self._only(full, inner):
                kind = type(getattr(inner, "_orig_mod", inner)).__name__
                layer = self._add(inner, full, kind, depth)
                layer.is_inner = layer.is_inner or parts[-1:] == ["_orig_mod"]

    def _end_operators(self):
        if self._operators:
            self._operators = _operators.end()
        if self._memory:
            self._memory = _operators.end_memory()

    def close(self):
        for hook in self._hooks:
            hook.remove()
        for layer in self._layers.values():
            layer.watches.remove(self)
        self._layers, self._hooks = {}, []
        self._end_operators()
        if self in _watches:
            _watches.remove(self)
        _clean()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()


def _chooser(only):
    """What decides by name and module. In a text, * and ? are as in $GNOMON."""
    if only is None or callable(only):
        return only or (lambda name, module: True)
    if not isinstance(only, str):
        kind = type(only).__name__
        raise TypeError(f"watch(only=...) takes a text or a function, not {kind}")
    words = re.escape(only).replace(r"\*", ".*").replace(r"\?", ".")
    match = re.compile(words, re.DOTALL).fullmatch
    return lambda name, module: match(name) is not None


def _free_name(name, model):
    """`name`, or with a number where another model has it."""
    taken, number, free = set(), 1, name
    for layer in list(_layers.values()):
        if layer.level == 0 and layer.watches and layer.module() is not model:
            taken.add(layer.name)
    while free in taken:
        number += 1
        free = f"{name}{number}"
    return free


def watch(
    model=None,
    optimizer=None,
    *,
    name="model",
    depth=None,
    only=None,
    operators=False,
    memory=False,
):
    """Marks the forward and backward of `model` and of all modules in it, backward as a
    whole, and each record_function: those of the program, and torch's own of optimizers
    and data loaders. The step of `optimizer`, or of the last one of a list, ends a
    training step.

    Modules are named by their path, as "model.layers.0", and have their class as
    category; `name` goes in place of "model". `depth`: how far down modules are marked;
    with 0, `model` alone. `only`: those whose name is like this text with * and ?, or
    for which this function of name and module is true. `operators`: also each operator
    of torch, on all threads, with the shapes and types of its inputs and backward's link
    to forward. `python -m gnomon.torch build` compiles what that takes; without it layers
    alone are recorded, and a line says so. `memory`: also what torch's CPU allocator takes
    and frees, in the pool "malloc", where `memory` is attached. It needs
    libgnomon-malloc.so; without it a line says so.
    """
    if not isinstance(model, (torch.nn.Module, type(None))):
        raise TypeError(f"watch() takes a torch.nn.Module, not {type(model).__name__}")
    if not isinstance(optimizer, (list, tuple)):
        optimizer = [] if optimizer is None else [optimizer]
    depth = float("inf") if depth is None else depth
    handle = Watch(_chooser(only), depth, operators, memory)
    _watches.append(handle)
    if _gnomon._on():
        _metadata("cpus", len(os.sched_getaffinity(0)))
    if not _undo:
        _install()
    try:
        for last in optimizer[-1:]:
            handle._hooks.append(last.register_step_post_hook(_stepped))
        if model is not None:
            handle._add_all(model, _free_name(name, model), 0)
    except BaseException:  # of the caller's function, or of what is no optimizer
        handle.close()
        raise
    return handle


def ddp_hook(hook=None, name="all_reduce"):
    """A communication hook of DistributedDataParallel which marks `hook`, or what it does
    without one, as a range: from its launch until the gradients of a bucket are there.

        ddp.register_comm_hook(None, gnomon.torch.ddp_hook())
        DDPStrategy(ddp_comm_hook=gnomon.torch.ddp_hook())   # of Lightning
    """
    if hook is None:
        from torch.distributed.algorithms.ddp_comm_hooks import default_hooks

        hook = default_hooks.allreduce_hook

    @functools.wraps(hook)
    def marked(state, bucket):
        if not _gnomon._on():
            return hook(state, bucket)
        its = _range(name, "ddp")
        try:
            future = hook(state, bucket)
        except BaseException:
            its.end()
            raise

        def over(future):
            its.end()
            return future.value()

        return future.then(over)

    return marked


if __name__ == "__main__":
    import sys

    _operators.main(sys.argv[1:])
