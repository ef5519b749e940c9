# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the tests of gnomon.torch share: models, what is marked, and that nothing stays
open or is lost after each test."""
import collections
import unittest

import torch
from torch import nn

import gnomon
import gnomon.torch


def counts():
    """How often each path was executed up to now."""
    found = collections.Counter()
    for node in gnomon.snapshot("tree").nodes:
        if node.host is not None and node.host.count:
            found["/".join(node.path)] += node.host.count
    return found


def marks(function):
    """{path: count} of what was marked while the function ran."""
    before = counts()
    function()
    return dict(counts() - before)


def names(function):
    """The same by name, wherever it was."""
    found = collections.Counter()
    for path, count in marks(function).items():
        found[path.rpartition("/")[2]] += count
    return dict(found)


class Probe(torch.autograd.Function):
    """Does nothing but to mark where its backward runs."""

    @staticmethod
    def forward(ctx, x, name):
        ctx.name = name
        return x.clone()

    @staticmethod
    def backward(ctx, gradient):
        with gnomon.scope(ctx.name):
            return gradient.clone(), None


class Attention(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.q, self.k, self.v, self.out = (nn.Linear(width, width) for _ in range(4))

    def forward(self, x):
        scores = self.q(x) @ self.k(x).transpose(-1, -2)
        mixed = Probe.apply(torch.softmax(scores, -1), "softmax") @ self.v(x)
        return self.out(mixed)


class Gated(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.gate, self.up = nn.Linear(width, width), nn.Linear(width, width)
        self.down = nn.Linear(width, width)

    def forward(self, x):
        gate = Probe.apply(torch.relu_(self.gate(x)), "activation")
        return self.down(Probe.apply(gate * self.up(x), "product"))


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.attention, self.gated = Attention(width), Gated(width)

    def forward(self, x):
        x = x + self.attention(self.norm(x))
        return Probe.apply(x, "residual") + self.gated(x)


class Model(nn.Module):
    def __init__(self, width=4):
        super().__init__()
        self.layers = nn.ModuleList(Block(width) for _ in range(2))
        self.head = nn.Sequential(nn.Linear(width, width), nn.ReLU(inplace=True))

    def forward(self, x):
        x = Probe.apply(x, "embedding")
        for layer in self.layers:
            x = layer(x)
        return self.head(x)


def batch():
    return torch.randn(2, 3, 4)


class Case(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(1)
        gnomon.configure("tree(file=/dev/null)")
        self.addCleanup(gnomon.configure, None)
        self.addCleanup(self.check_health)

    def check_health(self):
        while gnomon.torch._watches:
            gnomon.torch._watches[-1].close()
        self.assertEqual(gnomon.torch._layers, {})
        health = gnomon.health()
        for trouble in ("crossed", "unmatched", "left_open", "foreign", "lost_links"):
            self.assertEqual(health[trouble], 0, trouble)

    def watch(self, *args, **keywords):
        handle = gnomon.torch.watch(*args, **keywords)
        self.addCleanup(handle.close)
        return handle
