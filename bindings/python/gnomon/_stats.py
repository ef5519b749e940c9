# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What entities hold: statistics of durations, their sums, and other values."""
from collections import namedtuple


Work = namedtuple("Work", "flops bytes")
Memory = namedtuple(
    "Memory",
    "pool allocations frees allocated_bytes freed_bytes live_bytes peak_bytes"
    " held_bytes at_peak_bytes reserved_bytes failures unknown",
)
Bin = namedtuple("Bin", "count min max sum")
SlowStep = namedtuple("SlowStep", "at number ns")
Anchor = namedtuple("Anchor", "ns unix_ns error_ns")
Tensor = namedtuple("Tensor", "dtype dims strides")


class Stats(namedtuple("Stats", "count total_ns self_ns min_ns max_ns cells")):
    """Durations of executions that are over. `cells` is their histogram."""

    __slots__ = ()

    @property
    def mean_ns(self):
        return self.total_ns / self.count if self.count else 0.0

    def quantile_ns(self, fraction):
        """The duration below which this fraction of the executions lies."""
        want, below = fraction * self.count, 0
        for cell, count in self.cells:
            if below + count >= want:
                low = max(_cell_low(cell), self.min_ns)
                high = min(_cell_low(cell + 1) - 1, self.max_ns)
                if high <= low:
                    return float(max(high, self.min_ns))
                return low + (high - low) * (want - below) / count
            below += count
        return float(self.max_ns)


def _cell_low(cell):
    scale = 0 if cell < 32 else cell // 16 - 1
    return (cell - 16 * scale) << scale


def add(several):
    """The sum of statistics; None where there are none."""
    several = [one for one in several if one is not None]
    if not several:
        return None
    cells = {}
    for one in several:
        for cell, count in one.cells:
            cells[cell] = cells.get(cell, 0) + count
    shortest = [one.min_ns for one in several if one.count]
    return Stats(
        sum(one.count for one in several),
        sum(one.total_ns for one in several),
        sum(one.self_ns for one in several),
        min(shortest, default=0),
        max(one.max_ns for one in several),
        tuple(sorted(cells.items())),
    )


def shown_time(ns):
    for unit, scale in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if ns >= scale:
            return f"{ns / scale:#.4g} {unit}"
    return f"{ns:.4g} ns" if ns else "0"
