# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What gnomon._loader puts into the workers of a data loader: they count what they do
into memory that they share with the process of the loop."""
import abc
import contextlib
import copyreg
import inspect
import os
import time

import gnomon

now = time.perf_counter_ns

# What a worker counts, each a word of the shared memory.
# up_ns is how long it took from the start of the workers to this one's first work, and
# since_ns when what it does now began.
FIELDS = (
    "process up_ns batches items fetch_ns longest_fetch_ns "
    "collate_ns longest_collate_ns since_ns"
).split()
PROCESS, UP, BATCHES, ITEMS, FETCH, LONGEST_FETCH, COLLATE = range(7)
LONGEST_COLLATE, SINCE = 7, 8


def _new(kind, *arguments):
    return kind.__new__(kind, *arguments)


class Worker:
    """Its methods `init` and `collate` go to each worker of a loader, pickled where the
    workers are spawned. `run`: what gnomon records in the worker, or None."""

    def __init__(self, loader, counts, run):
        self.init_fn, self.collate_fn = loader.worker_init_fn, loader.collate_fn
        self.counts, self.run = counts, run
        self.parent, self.begun_ns = os.getpid(), now()
        self.base = None  # where the counts of this worker begin
        self.is_fetching = False
        self.fetching = self.collating = contextlib.nullcontext()

    def init(self, worker):
        if os.getpid() != self.parent:
            self.base = worker * len(FIELDS)
            self.counts[self.base + PROCESS] = os.getpid()
            with contextlib.suppress(Exception):
                self.begin_run(worker)
        if self.init_fn is not None:
            self.init_fn(worker)
        if self.base is not None:
            with contextlib.suppress(Exception):
                self.mark_dataset()
            self.counts[self.base + UP] = max(now() - self.begun_ns, 1)

    def begin_run(self, worker):
        if self.run is None:
            return
        if self.run["spec"]:
            own = f"{self.run['label'].replace(' ', '-')}-worker{worker}-%p"
            gnomon.setup(self.run["spec"].replace("%w", own), **self.run["rank"])
            gnomon.stage_begin(self.run["stage"])
        gnomon.thread_name(f"data loader worker {worker}")
        gnomon.metadata("data_loader_worker", worker)
        self.collating = gnomon.scope(self.run["name"] + ".collate_fn")
        self.fetching = gnomon.scope(self.run["name"] + ".fetch")

    def collate(self, batch):
        if self.base is None:
            return self.collate_fn(batch)
        begin = self.begin()
        try:
            with self.collating:
                result = self.collate_fn(batch)
        finally:
            self.end(COLLATE, LONGEST_COLLATE, begin)
        self.counts[self.base + BATCHES] += 1
        return result

    def fetch(self, function, items, *arguments):
        """Calls a method of the dataset. Only the outermost one counts."""
        if self.is_fetching:
            return function(*arguments)
        self.is_fetching, begin = True, self.begin()
        try:
            with self.fetching:
                result = function(*arguments)
        finally:
            self.is_fetching = False
            self.end(FETCH, LONGEST_FETCH, begin)
        self.counts[self.base + ITEMS] += items
        return result

    def begin(self):
        self.counts[self.base + SINCE] = begin = now()
        return begin

    def end(self, field, longest, begin):
        ns = now() - begin
        self.counts[self.base + SINCE] = 0
        self.counts[self.base + field] += ns
        if ns > self.counts[self.base + longest]:
            self.counts[self.base + longest] = ns

    def mark_dataset(self):
        """Makes the dataset, which is this worker's own copy, an object of a subclass
        that counts. Datasets that are no objects of a plain class in Python, as a list,
        stay as they are, and so do their times unknown."""
        from torch.utils.data import IterableDataset, get_worker_info

        dataset = get_worker_info().dataset
        kind = type(dataset)
        if type(kind) not in (type, abc.ABCMeta):
            return
        if isinstance(dataset, IterableDataset):
            methods = {"__iter__": self.iter_of}
        else:
            methods = {"__getitem__": self.getitem_of, "__getitems__": self.getitems_of}
        body = {
            name: make(getattr(kind, name))
            for name, make in methods.items()
            if inspect.isfunction(getattr(kind, name, None))
        }
        if body:
            body.update(__slots__=(), __module__=kind.__module__)
            body["__qualname__"] = kind.__qualname__

            def reduced(dataset, protocol):
                """Pickled as what it was: other processes have no such class."""
                object.__setattr__(dataset, "__class__", kind)
                try:
                    made = kind.__reduce_ex__(dataset, protocol)
                finally:
                    object.__setattr__(dataset, "__class__", marked)
                if made[0] is copyreg.__newobj__:  # for which pickle compares classes
                    made = (_new, *made[1:])
                return made

            body["__reduce_ex__"] = reduced
            marked = type(kind)(kind.__name__, (kind,), body)
            object.__setattr__(dataset, "__class__", marked)

    def getitem_of(self, function):
        return lambda dataset, index: self.fetch(function, 1, dataset, index)

    def getitems_of(self, function):
        return lambda dataset, indices: self.fetch(
            function, len(indices), dataset, indices
        )

    def iter_of(self, function):
        return lambda dataset: _Items(function(dataset), self)


class _Items:
    """The iterator of an IterableDataset, whose items count."""

    def __init__(self, items, worker):
        self.items, self.worker = items, worker

    def __iter__(self):
        return self

    def __next__(self):
        return self.worker.fetch(next, 1, self.items)
