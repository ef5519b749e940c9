# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""python_torch.py: what gnomon.torch.watch adds to calls of modules, beside torch's own
hooks. Run it with a Python that has torch, and the package in $PYTHONPATH.

The figures are nanoseconds of CPU time that a row adds to the plain one: the least of
many rounds, in which rows take turns."""
import time
import warnings

import torch
from torch import nn

import gnomon
import gnomon.torch

warnings.filterwarnings("ignore", "Full backward hook is firing")


class Empty(nn.Module):
    def forward(self, x):
        return x


watched, other, linear = Empty(), Empty(), nn.Linear(8, 8)
x, y, gradient = torch.zeros(1), torch.zeros(2, 8), torch.ones(2, 8)


def without_gradients(module):
    with torch.no_grad():
        for _ in range(500):
            module(x)


def forward():
    for _ in range(500):
        linear(y)


def both():
    for _ in range(500):
        linear(y).backward(gradient)


def marks():
    for _ in range(500):
        with torch.profiler.record_function("mark"):
            pass


COLUMNS = {
    "empty module": lambda: without_gradients(watched),
    "unwatched": lambda: without_gradients(other),
    "forward": forward,
    "and backward": both,
    "record_function": marks,
}


def cost(run):
    begin = time.process_time_ns()
    run()
    return (time.process_time_ns() - begin) / 500


def hooks():
    nothing = lambda *_: None
    handles = []
    for module in (watched, linear):
        handles.append(module.register_forward_pre_hook(nothing))
        handles.append(module.register_forward_hook(nothing, always_call=True))
    handles.append(linear.register_full_backward_pre_hook(nothing))
    handles.append(linear.register_full_backward_hook(nothing))
    return lambda: [handle.remove() for handle in handles]


def watch(spec):
    def begin():
        gnomon.configure(spec)
        both = [gnomon.torch.watch(watched), gnomon.torch.watch(linear, name="linear")]
        return lambda: ([handle.close() for handle in both], gnomon.configure(None))

    return begin


ROWS = {
    "torch's hooks": hooks,
    "watched, off": watch(None),
    "watched, simple": watch("simple(file=/dev/null)"),
}

plain = {name: cost(run) for name, run in COLUMNS.items()}
with_row = {}
for _ in range(60):
    for name, run in COLUMNS.items():
        plain[name] = min(plain[name], cost(run))
    for row, begin in ROWS.items():
        end = begin()
        for name, run in COLUMNS.items():
            least = with_row.get((row, name), float("inf"))
            with_row[row, name] = min(least, cost(run))
        end()
print("ns".ljust(18), *(name.rjust(16) for name in COLUMNS))
print("plain".ljust(18), *(f"{plain[name]:16.0f}" for name in COLUMNS))
for row in ROWS:
    print(row.ljust(18), *(f"{with_row[row, n] - plain[n]:+16.0f}" for n in COLUMNS))
