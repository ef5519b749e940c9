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
def run_call(layer, function, args, keywords):
    """Calls the function of a layer, and follows what it makes."""
    here = _here
    here.call = this = Call(layer, here.call)
    device = this.begin_after(args[0]) if args else None
    try:
        result = function(*args, **keywords)
        if torch.is_grad_enabled():
            this.follow(result, device)
        return result
    finally:
        here.call = this.parent
        this.last = this.before = None


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
def _is_on(device, result):
    return isinstance(result, torch.Tensor) and result.get_device() == device


@runs_as_it_is
def _last_of(made, first):
    """The node with the lowest number from `first` on that nodes lead to, and its number.
    `made`: {node: its number}. No node has a lower number than `first`, so where that is
    found the search is over."""
    todo, seen, lowest, last = list(made), set(made), _LEAF, None
    for node, number in made.items():
        if number < lowest:
            lowest, last = number, node
    while todo and lowest > first:
        for inner, _ in todo.pop().next_functions:
            if inner is not None and inner not in seen and len(seen) < _MOST_NODES:
                number = inner._sequence_nr()
                if first <= number < _LEAF:
                    seen.add(inner)
                    todo.append(inner)
                    if number < lowest:
                        lowest, last = number, inner
    return last, lowest


class Call:
    """One call of a layer. The layer sets _here.call to it, and afterwards to its
    parent."""

    __slots__ = (
        *("layer", "parent", "first", "last", "last_number"),
        *("before", "before_number", "link", "is_followed", "mark"),
    )

    @runs_as_it_is
    def __init__(self, layer, parent):
        self.layer = layer
        self.parent = parent
        self.last = None  # the first node of the calls inside, and its number
        self.before = None  # the node of the newest output inside, and its number
        self.link = None
        self.is_followed = False
        self.mark = None  # its backward, while that is open
        self.first = _get_sequence_nr()

    @runs_as_it_is
    def begin_after(self, value):
        """The device of the first argument, where no node is between the one that made
        it, in another call of the same caller, and this call. Autograd goes from this
        call's first node to that one, on that device, so its hook ends this call too."""
        parent = self.parent
        if parent is None or parent.before is None:
            return None
        if parent.before_number != self.first - 1 or not isinstance(value, torch.Tensor):
            return None
        return value.get_device() if value.grad_fn is parent.before else None

    @runs_as_it_is
    def follow(self, result, device):
        """Puts hooks on the nodes that this call made, where there are some. With calls
        inside, the first node is looked for from theirs on. One before them that leads
        to none of them is not found, and is taken for one of the caller's."""
        found, made, first, parent = [], {}, self.first, self.parent
        _nodes_of(result, 0, found)
        for node in found:
            number = node._sequence_nr()
            if first <= number < _LEAF:
                made[node] = number
        if not made:
            return
        for node in made:
            node.register_prehook(self._begin)
        self.link = link_out()
        self.is_followed = True
        if parent is not None:
            parent.before = max(made, key=made.get)
            parent.before_number = made[parent.before]
        if device is not None and _is_on(device, result):
            return  # the call before is the caller's first one, or after that
        if self.last is not None:
            made = {self.last: self.last_number}
        last, number = _last_of(made, first)
        last.register_hook(self._end)
        if parent is not None and parent.first <= number:
            if parent.last is None or parent.last_number > number:
                parent.last, parent.last_number = last, number

    # ---- Backward, on autograd's threads ----

    @runs_as_it_is
    def _begin(self, gradients):
        if self.mark is not None or is_compiling() or not _gnomon._on():
            return
        opened, parent = _here.open, self.parent
        while opened and opened[-1] is not parent and not opened[-1]._contains(parent):
            opened.pop()._close()
        if not opened and not _here.runs:  # autograd's own thread, as for a GPU
            Variable._execution_engine.queue_callback(
                functools.partial(close_all, opened)
            )
        if parent is not None and parent.mark is None:
            parent._begin_around(gradients)
        self._open(gradients)

    @runs_as_it_is
    def _begin_around(self, gradients):
        """Opens this call and those around it, from the outermost one that is not."""
        if self.parent is not None and self.parent.mark is None:
            self.parent._begin_around(gradients)
        if self.is_followed:
            self._open(gradients)

    @runs_as_it_is
    def _open(self, gradients):
        self.mark = mark = on_stream(self.layer.backward, gradients)
        _here.open.append(self)
        mark.__enter__()
        link_in(self.link, "backward")

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
