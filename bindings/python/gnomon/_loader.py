# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Data loaders of torch that have workers, for gnomon.lightning: how long the workers
take to start, how long the loop waits for a batch, how many batches are ready, and what
each worker does.

Workers are other processes. They count into memory that they share with the process of
the loop, which so has the counts at any time, also those of a worker that was killed.
While a stage is open, DataLoader.__iter__ is replaced: it gives the iterator it makes a
worker_init_fn and a collate_fn of ours, which call the loader's own, and the loader
stays as it was. Nothing here draws a random number.
"""
import contextlib
import ctypes
import multiprocessing
import os
import threading
import weakref

import gnomon
from ._worker import BATCHES, COLLATE, FETCH, FIELDS, LONGEST_COLLATE, LONGEST_FETCH
from ._worker import PROCESS, SINCE, UP, Worker, now


class _Iteration:
    """One life of a loader's workers, in one stage."""

    # What is counted for the loop, since the last sample.
    SUMS = "starts starting_ns batches first_ns waited_ns longest_ns in_waits_ns".split()
    SUMS += ["ready", "unready"]

    def __init__(self, stage, loader, counts):
        self.stage, self.label, self.counts = stage, stage.label(loader), counts
        self.name = _name_of(loader)
        self.before = list(counts)  # what was sampled, or is of an earlier stage
        self.is_first = True
        self.taken = self.made()
        self.iterator = lambda: None
        self.clear()

    def clear(self):
        for key in self.SUMS:
            setattr(self, key, 0)

    def made(self):
        return sum(self.counts[BATCHES :: len(FIELDS)])

    def worked_ns(self, at):
        """How long the workers worked up to now, with what they do now."""
        fetched, collated, since = (
            self.counts[field :: len(FIELDS)] for field in (FETCH, COLLATE, SINCE)
        )
        return sum(fetched) + sum(collated) + sum(at - ns for ns in since if ns)

    def start(self, what, loader):
        begin = now()
        with _action(f"{self.name}.{what}"):
            iterator = _original(loader)
        self.starts += 1
        self.starting_ns += now() - begin
        self.is_first = True
        return iterator

    def next(self, fetch, iterator):
        """The loop asks for a batch."""
        ready = max(self.made() - self.taken, 0)
        gnomon.counter(self.name + ".ready", ready)
        begin = now()
        worked = self.worked_ns(begin)
        with _action(self.name + (".first_batch" if self.is_first else ".next_batch")):
            batch = fetch(iterator)
        end = now()
        self.taken += 1
        self.batches += 1
        self.in_waits_ns += max(self.worked_ns(end) - worked, 0)
        if self.is_first:
            self.is_first = False
            self.first_ns += end - begin
        else:
            self.waited_ns += end - begin
            self.longest_ns = max(self.longest_ns, end - begin)
            self.ready += ready
            self.unready += ready == 0
        return batch

    def stop(self, delete, iterator):
        with _action(self.name + ".stop_workers"):
            delete(iterator)

    def sample(self):
        """Samples counters with what is new since the last time, also of a worker that
        is not done: the report `loaders` adds them up."""
        kept, new = (PROCESS, LONGEST_FETCH, LONGEST_COLLATE), list(self.counts)
        rows = []
        for base in range(0, len(new), len(FIELDS)):
            old = self.before[base:]
            row = new[base : base + len(FIELDS)]
            row = [n if i in kept else n - o for i, (n, o) in enumerate(zip(row, old))]
            rows.append(dict(zip(FIELDS[:SINCE], row), started=row[UP] > 0))
        self.before = new
        own = {key: getattr(self, key) for key in self.SUMS}
        own["workers"] = len(rows)
        own["worked_ns"] = sum(row["fetch_ns"] + row["collate_ns"] for row in rows)
        own["up_ns"] = max(row["up_ns"] for row in rows)
        self.clear()
        _sample(self.label, own, "loaders")
        for number, row in enumerate(rows):
            _sample(f"{self.label} {number}", row, "workers")


def _sample(label, values, category):
    for field, value in values.items():
        gnomon.counter(f"[DataLoader]{label}.{field}", value, category)


@contextlib.contextmanager
def _action(name):
    gnomon.start(name)
    try:
        yield
    finally:
        gnomon.stop(name)


def _name_of(loader):
    from torch.utils.data import Subset

    dataset = loader.dataset
    while isinstance(dataset, Subset):
        dataset = dataset.dataset
    return f"[DataLoader]{type(dataset).__name__}"


def _iteration_of(iterator):
    """What counts for it, where the stage is open in this process."""
    iteration = iterator.__dict__.get("_gnomon")
    is_ours = iteration and iteration.stage.is_open and os.getpid() == _process
    return iteration if is_ours else None


_watched_kinds = {}


def _watched(kind):
    """A subclass of an iterator's class that tells of each batch."""
    if kind not in _watched_kinds:

        class Watched(kind):
            __slots__ = ()

            def __next__(self):
                iteration = _iteration_of(self)
                if iteration is None:
                    return kind.__next__(self)
                return iteration.next(kind.__next__, self)

            def __del__(self):
                delete = getattr(kind, "__del__", None)
                iteration = _iteration_of(self)
                if delete and iteration:
                    iteration.stop(delete, self)
                elif delete:
                    delete(self)

        Watched.__name__, Watched.__qualname__ = kind.__name__, kind.__qualname__
        _watched_kinds[kind] = Watched
    return _watched_kinds[kind]


class Stage:
    """The loaders of one stage. `use()` says what the loop now loads for, as "train";
    `run` is what gnomon records in workers."""

    def __init__(self, use, run=None):
        self.use, self.run, self.is_open = use, run, True
        self.lock = threading.RLock()
        self.numbers = weakref.WeakKeyDictionary()  # loader -> (its label, number)
        self.recorded = set()  # labels of loaders whose workers have files
        self.iterations = []

    def iterate(self, loader):
        """DataLoader.__iter__ of a loader with workers."""
        held = getattr(loader, "_iterator", None)
        with self.lock:
            if held is not None:  # of persistent workers, which go on
                return self.resume(loader, held)
            try:
                counts = _shared(loader)
                iteration = _Iteration(self, loader, counts)
                run = self.run_of(iteration)
                own, worker = vars(loader), Worker(loader, counts, run)
                before = {key: own[key] for key in ("worker_init_fn", "collate_fn")}
            except Exception:  # whatever this loader is, it works without us
                return _original(loader)
            own.update(worker_init_fn=worker.init, collate_fn=worker.collate)
            try:
                iterator = iteration.start("start_workers", loader)
            finally:
                own.update(before)
            return self.watch(iterator, iteration)

    def resume(self, loader, held):
        earlier = held.__dict__.get("_gnomon")
        if earlier is None:
            return _original(loader)
        iteration, all_taken = earlier, earlier.made() == earlier.taken
        if earlier.stage is not self:
            iteration = _Iteration(self, loader, earlier.counts)
        iterator = iteration.start("resume_workers", loader)
        if not all_taken:  # the workers finished what the loop did not take
            iteration.taken = iteration.made()
        return self.watch(iterator, iteration)

    def watch(self, iterator, iteration):
        if "_gnomon" not in iterator.__dict__:
            with contextlib.suppress(TypeError):
                iterator.__class__ = _watched(type(iterator))
        iterator.__dict__["_gnomon"] = iteration
        iteration.iterator = weakref.ref(iterator)
        for other in [i for i in self.iterations if i.iterator() is None]:
            other.sample()
            self.iterations.remove(other)
        if iteration not in self.iterations:
            self.iterations.append(iteration)
        return iterator

    def run_of(self, iteration):
        """What gnomon records in its workers, which write files: those that start first."""
        if self.run is None or iteration.label in self.recorded:
            return None
        self.recorded.add(iteration.label)
        return dict(self.run, name=iteration.name, label=iteration.label)

    def label(self, loader):
        """What the report calls it: loaders that live at once have names of their own."""
        label = f"{self.use()} {_name_of(loader).partition(']')[2]}"
        if loader not in self.numbers:
            taken = {n for name, n in self.numbers.values() if name == label}
            number = next(n for n in range(1, len(taken) + 2) if n not in taken)
            self.numbers[loader] = label, number
        number = self.numbers[loader][1]
        return label if number == 1 else f"{label} {number}"

    def sample(self):
        """Counts what is not counted yet. Whether a loader had workers."""
        for iteration in list(self.iterations):
            iteration.sample()
        return bool(self.iterations)


def _shared(loader):
    """Memory for the counts, of the kind that this loader's workers can be given."""
    context = loader.multiprocessing_context or multiprocessing
    return context.RawArray(ctypes.c_uint64, loader.num_workers * len(FIELDS))


# ---- DataLoader.__iter__ ------------------------------------------------------------

_stages = []  # those that are open, in the process _process
_process = None
_original = None  # DataLoader.__iter__, where ours is in its place


def _iterate(loader):
    if _stages and loader.num_workers and os.getpid() == _process:
        return _stages[-1].iterate(loader)
    return _original(loader)


def begin(stage):
    global _original, _process
    from torch.utils.data import DataLoader

    if _process != os.getpid():
        _process = os.getpid()
        _stages.clear()
    if _original is None:
        _original = DataLoader.__iter__
        DataLoader.__iter__ = _iterate
    _stages.append(stage)


def end(stage):
    global _original
    from torch.utils.data import DataLoader

    stage.is_open = False
    if stage in _stages:
        _stages.remove(stage)
    # Where somebody replaced it meanwhile, ours stays below theirs.
    if not _stages and DataLoader.__iter__ is _iterate:
        DataLoader.__iter__, _original = _original, None
