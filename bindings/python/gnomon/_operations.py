# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What each call of torch computes, as ranges of NVTX: the part of gnomon.torch that does
what PyProf did. `gnomon nsys prof` finds them around the launches of kernels.

A call opens up to three ranges, which say what PyProf's did: where it stands, its
arguments, and its number, which is autograd's. The last two are JSON and a text like
those of torch's emit_nvtx, inline, so nothing is registered and nothing kept. Nodes of
autograd that a call makes open a range of its number in the backward pass."""
import functools
import json
import math
import os
import sys
import threading
import weakref

import torch
from torch.compiler import is_compiling
from torch.overrides import TorchFunctionMode, resolve_name

from . import _gnomon

_MOST_ARGS = 64  # of one call; lists of tensors may be long
_MOST_FRAMES = 32
# They launch nothing, or what they launch is other operations'.
_UNMARKED = frozenset(
    "__get__ __set__ __len__ __hash__ __repr__ __format__ __deepcopy__ __reduce_ex__ "
    "__getitem__ __setitem__ backward size dim ndimension stride storage_offset numel "
    "nelement element_size data_ptr item tolist numpy get_device is_contiguous is_complex "
    "is_floating_point is_inference is_nonzero is_pinned is_same_size is_shared is_signed "
    "is_tensor is_storage type detach detach_ requires_grad_ register_hook retain_grad "
    "view view_as expand expand_as unsqueeze squeeze transpose t permute result_type "
    "can_cast broadcast_tensors broadcast_shapes".split()
)
_OURS = (os.path.dirname(torch.__file__) + os.sep, __file__)
_marks = []  # the open ones
_layers = weakref.WeakSet()  # modules whose calls have a range


class _Here(threading.local):
    nodes = 0  # of autograd, whose ranges are open on this thread
    is_marking = False  # a call, which the marks of an earlier init() leave alone


_here = _Here()


def _described(name, value, into):
    """Adds what an argument is, in PyProf's words."""
    kind = type(value).__name__
    if len(into) >= _MOST_ARGS:
        return
    if isinstance(value, torch.Tensor):
        dtype = str(value.dtype).replace("torch.", "")
        shape = [int(n) for n in value.shape]
        into.append(dict(name=name, type="tensor", shape=shape, dtype=dtype))
    elif isinstance(value, (list, tuple)):
        if any(isinstance(part, torch.Tensor) for part in value):
            for part in value:
                _described(name, part, into)
        else:
            plain = [v for v in value if isinstance(v, (int, float, str))]
            into.append(dict(name=name, type=kind, value=plain))
    elif isinstance(value, float) and not math.isfinite(value):
        into.append(dict(name=name, type=kind, value=str(value)))
    elif isinstance(value, (int, float, str, type(None))):
        into.append(dict(name=name, type=kind, value=value))


def _place():
    """The calls of the program that led here, the outermost first."""
    frame, found = sys._getframe(1), []
    while frame and len(found) < _MOST_FRAMES:
        file = frame.f_code.co_filename
        if not file.startswith(_OURS):
            found.append(f"{file}:{frame.f_lineno}")
        frame = frame.f_back
    return found[::-1]


def _open(text, *ignored):
    _gnomon._nvtx(text)


def _close(*ignored, **also):
    _gnomon._nvtx(None)


def _open_node(text, *ignored):
    _here.nodes += 1
    _gnomon._nvtx(text)


def _close_node(*ignored):
    if _here.nodes:
        _here.nodes -= 1
        _gnomon._nvtx(None)


def _close_failed():
    """Nodes that raised call no hook after them. Where this thread runs no backward, all
    that are open are those."""
    while _here.nodes and torch._C._current_graph_task_id() < 0:
        _close_node()


def _in_backward(result, first, until):
    """Nodes that were made meanwhile open a range whenever they run."""
    results = result if isinstance(result, (list, tuple)) else [result]
    nodes = [r.grad_fn for r in results if isinstance(r, torch.Tensor)]
    while nodes:
        node = nodes.pop()
        if node is None or not first <= node._sequence_nr() < until:
            continue
        if "gnomon" in node.metadata:
            continue
        node.metadata["gnomon"] = True
        text = f"{node.name()}, seq = {first}"
        node.register_prehook(functools.partial(_open_node, text))
        node.register_hook(_close_node)
        nodes.extend(inner for inner, _ in node.next_functions)


def _called(mod, op, function, args, keywords, has_place):
    """The call, in its ranges."""
    _close_failed()
    described = []
    for value in args:
        _described("", value, described)
    for name, value in keywords.items():
        _described(name, value, described)
    if not described:
        return function(*args, **keywords)
    texts = [json.dumps(dict(mod=mod, op=op, args=described))]
    if has_place:
        texts.insert(0, json.dumps(dict(traceMarker=_place())))
    first = torch.autograd._get_sequence_nr()
    if torch.is_grad_enabled():
        texts.append(f"{op}, seq = {first}")
    for text in texts:
        _gnomon._nvtx(text)
    try:
        result = function(*args, **keywords)
    finally:
        for _ in texts:
            _gnomon._nvtx(None)
    until = torch.autograd._get_sequence_nr()
    if until > first:
        _in_backward(result, first, until)
    return result


class Marks(TorchFunctionMode):
    """What init() returns. close(), or the end of a with block, ends the marks."""

    def __init__(self, trace, is_heard):
        super().__init__()
        self._trace, self._is_heard = trace, is_heard
        self._layers, self._hooks = [], []

    def __torch_function__(self, function, types, args=(), kwargs=None):
        name = getattr(function, "__name__", "")
        is_left = name in _UNMARKED or name.startswith("_") or is_compiling()
        if is_left or _here.is_marking:
            return function(*args, **(kwargs or {}))
        owner, _, op = (resolve_name(function) or "na." + name).rpartition(".")
        owner = owner.replace("torch.Tensor", "Tensor")
        _here.is_marking = True
        try:
            return _called(owner, op, function, args, kwargs or {}, self._trace)
        finally:
            _here.is_marking = False

    def _add_layers(self, model):
        """Named as in the module around that is called too."""
        lists = torch.nn.ModuleList, torch.nn.ModuleDict
        for path, module in model.named_modules():
            parts = path.split(".")
            at = len(parts) - 1
            while at and isinstance(model.get_submodule(".".join(parts[:at])), lists):
                at -= 1
            if path and module not in _layers:
                _layers.add(module)
                self._layers.append(module)
                begin = functools.partial(_open, "layer:" + ".".join(parts[at:]))
                self._hooks.append(module.register_forward_pre_hook(begin))
                end = module.register_forward_hook(_close, always_call=True)
                self._hooks.append(end)

    def __enter__(self):
        if self not in _marks and self._is_heard:
            _marks.append(self)
            super().__enter__()
        return self

    def __exit__(self, *error):
        _close_failed()
        if self in _marks:
            _marks.remove(self)
            super().__exit__(*(error or (None, None, None)))
        for hook in self._hooks:
            hook.remove()
        _layers.difference_update(self._layers)
        self._layers, self._hooks = [], []

    def close(self):
        self.__exit__()


def init(model=None, *, trace=True):
    """Marks each call of torch on this thread for Nsight Systems, as PyProf's init() did:
    module, function, arguments with shapes and types, `trace`: where the program calls
    it, and the number by which backward is linked to it. With a model, also its layers.

        nsys profile --trace=cuda,nvtx -c cudaProfilerApi --capture-range-end stop \\
            -o net python train.py
    """
    _gnomon._nvtx("gnomon.torch.init()")
    heard = _gnomon._nvtx(None)
    marks = Marks(trace, heard)
    if not heard:
        why = "built without NVTX" if heard is None else "no tool listens"
        how = "start the program with nsys profile --trace=cuda,nvtx"
        print(f"gnomon: torch.init(): {why}, so it is off: {how}", file=sys.stderr)
    elif model is not None:
        marks._add_layers(model)
    return marks.__enter__()


def wrap(owner, name):
    """Marks a function of a module or class of the program too, while init() is on."""
    function = getattr(owner, name)
    own = isinstance(vars(owner).get(name), (staticmethod, classmethod))

    @functools.wraps(function)
    def marked(*args, **keywords):
        if not _marks or is_compiling():
            return function(*args, **keywords)
        trace = _marks[-1]._trace
        return _called(owner.__name__, name, function, args, keywords, trace)

    setattr(owner, name, staticmethod(marked) if own else marked)
