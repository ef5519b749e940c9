# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The backward of watched modules, for gnomon.torch.

A call of a module makes nodes of autograd's graph. Its backward begins where autograd
comes to the node of an output, and is over after the node that was made first, for
autograd goes back in the order of their numbers. Both nodes get a hook, which reads
nothing and changes nothing: no node is added, as torch's own backward hooks of modules
do, which forbid changes in place of what a module returns.

Scopes of a thread nest as the calls did: what begins closes what it is not inside of.
So backward is followed where the end is not seen too, as with autograd.grad, which
comes to a part of the nodes only.

Lifetime: a node keeps its hooks, these keep the call, and a call keeps no node once it
is over. So all goes with the graph.
"""
import dataclasses
import functools
import threading

import torch
from torch.autograd import Variable, _get_sequence_nr
from torch.compiler import is_compiling

from . import _gnomon, link_in, link_out, scope

_MOST_NODES = 256  # of a call, that are looked at for its first one
_LEAF = 2**64 - 1  # the number of nodes that hold the gradients of parameters
_DEPTH = 4  # of containers in which outputs are looked for


def runs_as_it_is(function):
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


@runs_as_it_is
def on_stream(mark, values=()):
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


class _Here(threading.local):
    def __init__(self):
        self.call = None  # the innermost call that runs on this thread
        self.open = []  # calls whose backward is open on this thread
        self.runs = False  # this thread called backward


_here = _Here()


@runs_as_it_is
def running_call():
    """The innermost call of a watched module on this thread, or None."""
    return _here.call


# ---- Forward ------------------------------------------------------------------------


@runs_as_it_is
def _nodes_of(value, depth, nodes):
    """Adds the nodes that made the tensors in an output."""
    if isinstance(value, torch.Tensor):
        if value.grad_fn is not None:
            nodes.append(value.grad_fn)
            if value._base is not None and value._base.grad_fn is not None:
                # A change in place makes the view's node anew, but not this one.
                nodes.append(value._base.grad_fn)
    elif depth == _DEPTH or len(nodes) >= _MOST_NODES:
        return
    elif isinstance(value, (tuple, list)):
        for item in value:
            _nodes_of(item, depth + 1, nodes)
    elif isinstance(value, dict):
        for item in value.values():
            _nodes_of(item, depth + 1, nodes)
    elif dataclasses.is_dataclass(value):
        for item in vars(value).values():
            _nodes_of(item, depth + 1, nodes)


@runs_as_it_is
def _last_of(nodes, first):
    """The node with the lowest number from `first` on that `nodes` lead to."""
    todo, seen, lowest, last = list(nodes), set(nodes), _LEAF, None
    while todo:
        node = todo.pop()
        number = node._sequence_nr()
        if number < lowest:
            lowest, last = number, node
        for inner, _ in node.next_functions:
            if inner is not None and inner not in seen and len(seen) < _MOST_NODES:
                if first <= inner._sequence_nr() < _LEAF:
                    seen.add(inner)
                    todo.append(inner)
    return last


class Call:
    """One call of a layer: a context manager around its forward."""

    __slots__ = ("layer", "parent", "first", "last", "link", "is_followed", "mark")

    @runs_as_it_is
    def __init__(self, layer):
        self.layer = layer
        self.parent = _here.call
        self.last = None  # the first node of the calls inside
        self.link = None
        self.is_followed = False
        self.mark = None  # its backward, while that is open

    @runs_as_it_is
    def __enter__(self):
        _here.call = self
        self.first = _get_sequence_nr()
        return self

    @runs_as_it_is
    def __exit__(self, *error):
        _here.call = self.parent
        self.last = None

    @runs_as_it_is
    def follow(self, result):
        """Puts hooks on the nodes that this call made, where there are some. With calls
        inside, the first node is looked for from theirs on. One before them that leads
        to none of them is not found, and is taken for one of the caller's."""
        if not torch.is_grad_enabled():
            return
        found, made, first = [], set(), self.first
        _nodes_of(result, 0, found)
        for node in found:
            if first <= node._sequence_nr() < _LEAF:
                made.add(node)
        if not made:
            return
        for node in made:
            node.register_prehook(self._begin)
        last = _last_of([self.last] if self.last else made, first)
        last.register_hook(self._end)
        self.link = link_out()
        self.is_followed = True
        parent = self.parent
        if parent is not None and parent.first <= last._sequence_nr():
            if parent.last is None or parent.last._sequence_nr() > last._sequence_nr():
                parent.last = last

    # ---- Backward, on autograd's threads ----

    @runs_as_it_is
    def _begin(self, gradients):
        if is_compiling() or self.mark is not None or not _gnomon._on():
            return
        opened = _here.open
        while opened and not opened[-1]._contains(self):
            opened.pop()._close()
        if not opened and not _here.runs:  # autograd's own thread, as for a GPU
            Variable._execution_engine.queue_callback(
                functools.partial(close_all, opened)
            )
        around, new = self.parent, [self]
        while around is not None and around.mark is None:
            if around.is_followed:
                new.append(around)
            around = around.parent
        for call in reversed(new):
            call.mark = on_stream(call.layer.backward, gradients)
            opened.append(call)
            call.mark.__enter__()
            link_in(call.link, "backward")

    @runs_as_it_is
    def _end(self, *gradients):
        if is_compiling() or self.mark is None:
            return
        opened = _here.open
        if self in opened:
            while opened[-1] is not self:
                opened.pop()._close()
            opened.pop()._close()

    @runs_as_it_is
    def _contains(self, call):
        while call is not None and call is not self:
            call = call.parent
        return call is self

    @runs_as_it_is
    def _close(self):
        mark, self.mark = self.mark, None
        mark.__exit__()


@runs_as_it_is
def close_all(opened):
    while opened:
        opened.pop()._close()


# ---- The whole ----------------------------------------------------------------------


def marked(run_backward):
    """What all of torch's backward goes through, with a scope around it."""

    @runs_as_it_is
    @functools.wraps(run_backward)
    def marked_backward(*args, **keywords):
        if not _gnomon._on():
            return run_backward(*args, **keywords)
        outer, _here.open = (_here.open, _here.runs), []
        _here.runs = True
        with on_stream(scope("backward")):
            try:
                return run_backward(*args, **keywords)
            finally:
                close_all(_here.open)
                _here.open, _here.runs = outer

    return marked_backward
