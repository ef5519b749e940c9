# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""gnomon in PyTorch programs, with no change of the model's source.

    import gnomon.torch
    gnomon.torch.watch(model, optimizer)

Each call of a module is a scope, and so is its backward; `record_function` marks, which
optimizers and data loaders have in torch itself, are taken in; an optimizer's step ends
a training step. docs/python.md says more. PyTorch 2.2 or later.

Models are not touched. A module's call is replaced where torch itself does it, by an
attribute of the class of all modules, so copies, pickles, scripts and compiled code of
a model are what they were. Hooks of a module would be a part of them all, and hooks of
all modules make torch.compile warn.
"""
import functools
import re
import threading
import weakref

import torch
from torch.compiler import is_compiling as _is_compiling
from torch.nn.modules.module import register_module_module_registration_hook

from . import _gnomon, scope, step
from . import _torch_backward as _backward
from ._torch_backward import runs_as_it_is as _runs_as_it_is

__all__ = ["Watch", "watch"]

for _owner, _name in (
    (torch.nn.Module, "_compiled_call_impl"),
    (torch.autograd, "_engine_run_backward"),
):
    if _name not in vars(_owner):
        raise ImportError(f"gnomon.torch is not made for PyTorch {torch.__version__}")

_layers = {}  # by the id of a module that lives: its _Layer
_watches = []  # those that are not closed
_undo = []  # what takes back what is replaced in torch; empty: nothing is
_here = threading.local()  # .step_is_over


# ---- Calls of modules ---------------------------------------------------------------


class _Layer:
    """A watched module, which it does not keep alive."""

    __slots__ = ("name", "kind", "level", "module", "watches", "is_inner")
    __slots__ += ("forward", "backward")

    def __init__(self, module, name, kind, level):
        self.name, self.kind, self.level = name, kind, level
        self.module = weakref.ref(module, lambda _, key=id(module): _forget(key))
        self.watches = []
        self.is_inner = False  # called by what torch.compile made of it
        self.forward = scope(name, kind)
        self.backward = scope(name + " backward", kind)

    @_runs_as_it_is
    def __call__(self, *args, **keywords):
        module = self.module()
        call = module.__dict__.get("_compiled_call_impl") or module._call_impl
        if self.is_inner and _is_in(self.name):
            return call(*args, **keywords)
        stream = _stream(args)
        mark = self.forward if stream is None else scope(self.name, self.kind, stream)
        with mark, _backward.Call(self) as this:
            result = call(*args, **keywords)
            this.follow(result)
        return result


def _forget(key):
    for watch in _layers.pop(key).watches:
        del watch._layers[key]


@_runs_as_it_is
def _is_in(name):
    around = _backward.running_call()
    return around is not None and around.layer.name == name


@_runs_as_it_is
def _stream(args):
    """The CUDA stream that a call's work is put into, as a handle; or None."""
    if not torch.cuda.is_initialized():
        return None
    first = args[0] if args else None
    device = first.get_device() if isinstance(first, torch.Tensor) else -1
    if device < 0:
        device = torch._C._cuda_getDevice()
    return torch._C._cuda_getCurrentRawStream(device)


class _ModuleCall:
    """Module._compiled_call_impl: what a module's call goes to unless it is None."""

    @_runs_as_it_is
    def __get__(self, module, owner=None):
        if _is_compiling():  # torch.compile knows this call, and looks no further
            return None
        layer = _layers.get(id(module)) if _gnomon._on() else None
        if layer is None and module is not None:
            return module.__dict__.get("_compiled_call_impl")
        return layer

    def __set__(self, module, value):  # by Module.compile
        module.__dict__["_compiled_call_impl"] = value

    def __delete__(self, module):
        del module.__dict__["_compiled_call_impl"]


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
        if _gnomon._on():
            # One name for all steps, as torch.profiler's table has it.
            is_step = self.name.startswith("ProfilerStep#")
            mark = scope("ProfilerStep*" if is_step else self.name)
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
        if self.name.startswith("Optimizer.step#") and _step_is_over():
            step()  # here, so that the step has all of the optimizer's time
        return result

    return __exit__


@_runs_as_it_is
def _step_is_over():
    is_over = getattr(_here, "step_is_over", False)
    _here.step_is_over = False
    return is_over


def _stepped(optimizer, args, keywords):
    """A hook after the step of a watched optimizer."""
    if not _is_compiling():
        _here.step_is_over = True


# ---- What is replaced in torch while something is watched ---------------------------


def _replace(owner, name, value):
    before = owner.__dict__[name]
    setattr(owner, name, value)

    def undo():
        if owner.__dict__[name] is value:
            setattr(owner, name, before)

    _undo.append(undo)


def _begin():
    module, mark = torch.nn.Module, torch.autograd.profiler.record_function
    _replace(module, "_compiled_call_impl", _ModuleCall())
    _replace(mark, "__enter__", _entering(mark.__enter__))
    _replace(mark, "__exit__", _leaving(mark.__exit__))
    run = torch.autograd._engine_run_backward
    _replace(torch.autograd, "_engine_run_backward", _backward.marked(run))
    _undo.append(register_module_module_registration_hook(_added).remove)


def _end():
    while _undo:
        _undo.pop()()


class Watch:
    """What watch() returns. close(), or the end of a with block, takes back all that
    watch() did. It keeps no model and no optimizer alive. It may be dropped: the watch
    goes on."""

    def __init__(self, only, depth):
        self._only, self._depth = only, depth
        self._layers, self._hooks = {}, []

    def _add(self, module, name, kind, level):
        key = id(module)
        if key not in _layers:
            _layers[key] = _Layer(module, name, kind, level)
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

    def close(self):
        for hook in self._hooks:
            hook.remove()
        for key, layer in self._layers.items():
            layer.watches.remove(self)
            if not layer.watches:
                del _layers[key]
        self._layers, self._hooks = {}, []
        if self in _watches:
            _watches.remove(self)
            if not _watches:
                _end()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()


def _chooser(only):
    """What decides by name and module. In a text, * and ? are as in $GNOMON."""
    if only is None or callable(only):
        return only or (lambda name, module: True)
    words = re.escape(only).replace(r"\*", ".*").replace(r"\?", ".")
    match = re.compile(words, re.DOTALL).fullmatch
    return lambda name, module: match(name) is not None


def _free_name(name, model):
    """`name`, or with a number where another model has it."""
    others = [x for x in _layers.values() if x.level == 0 and x.module() is not model]
    taken, number, free = {layer.name for layer in others}, 1, name
    while free in taken:
        number += 1
        free = f"{name}{number}"
    return free


def watch(model=None, optimizer=None, *, name="model", depth=None, only=None):
    """Marks the forward and backward of `model` and of all modules in it, backward as a
    whole, and each record_function: those of the program, and torch's own of optimizers
    and data loaders. The step of `optimizer`, or of the last one of a list, ends a
    training step.

    Modules are named by their path, as "model.layers.0", and have their class as
    category; `name` goes in place of "model". `depth`: how far down modules are marked;
    with 0, `model` alone. `only`: those whose name is like this text with * and ?, or
    for which this function of name and module is true.
    """
    if not isinstance(model, (torch.nn.Module, type(None))):
        raise TypeError(f"watch() takes a torch.nn.Module, not {type(model).__name__}")
    if not isinstance(optimizer, (list, tuple)):
        optimizer = [] if optimizer is None else [optimizer]
    handle = Watch(_chooser(only), float("inf") if depth is None else depth)
    for last in optimizer[-1:]:
        handle._hooks.append(last.register_step_post_hook(_stepped))
    if not _watches:
        _begin()
    _watches.append(handle)
    if model is not None:
        handle._add_all(model, _free_name(name, model), 0)
    return handle
