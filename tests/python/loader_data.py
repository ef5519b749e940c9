# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Data sets for the tests of data loaders: of a module that spawned workers import."""
import os
import pickle
import random
import signal

import numpy
import torch
from torch.utils.data import Dataset, IterableDataset, get_worker_info

import gnomon

LENGTH = 24


class Numbers(Dataset):
    offset = 0

    def __len__(self):
        return LENGTH

    def __getitem__(self, i):
        with gnomon.scope("decode"):
            return torch.full((4,), float(i + self.offset))


class Again(Numbers):
    """An item that needs another one, as where a file is broken."""

    def __getitem__(self, i):
        return self[i + 1] if i % 2 == 0 else super().__getitem__(i)


class Many(Numbers):
    def __getitems__(self, indices):
        return [Numbers.__getitem__(self, i) for i in indices]


class Sent(Numbers):
    """Its items refer to it, and are pickled."""

    def __getitem__(self, i):
        return Numbers.__getitem__(pickle.loads(pickle.dumps(self)), i)


class Stream(IterableDataset):
    def __iter__(self):
        info = get_worker_info()
        for i in range(info.id, LENGTH, info.num_workers):
            yield torch.full((4,), float(i))


class Itself(IterableDataset):
    """Its own iterator."""

    def __iter__(self):
        self.items = Stream.__iter__(self)
        return self

    def __next__(self):
        return next(self.items)


class Slotted(Numbers):
    __slots__ = ("more",)


class Random(Numbers):
    def __getitem__(self, i):
        drawn = [random.random(), float(numpy.random.rand()), float(torch.rand(()))]
        return torch.tensor([i, *drawn])


class Raises(Numbers):
    def __getitem__(self, i):
        if i == 5:
            raise ValueError("planted")
        return super().__getitem__(i)


class Killed(Numbers):
    def __getitem__(self, i):
        if i == 5:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().__getitem__(i)


def set_offset(worker):
    """A worker_init_fn, which finds the data set as it was made."""
    dataset = get_worker_info().dataset
    assert type(dataset) is Numbers and "offset" not in vars(dataset)
    dataset.offset = 100
