# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Schedules of gnomon.profile: which of a program's steps are recorded."""
import warnings
from enum import Enum


class ProfilerAction(Enum):
    """What a schedule says of a step."""

    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3


NONE, WARMUP, RECORD, SAVE = ProfilerAction


def schedule(*, wait, warmup, active, repeat=0, skip_first=0, skip_first_wait=0):
    """A schedule for gnomon.profile: after `skip_first` steps cycles of `wait` steps
    without a profiler, `warmup` with one that keeps nothing and `active` that are
    recorded; `repeat` of them, or with 0 for ever. With `skip_first_wait` the first
    cycle has no wait."""
    counts = (wait, warmup, repeat, skip_first)
    if min(counts) < 0 or active <= 0:
        raise AssertionError(
            f"schedule(wait={wait}, warmup={warmup}, active={active}, repeat={repeat}, "
            f"skip_first={skip_first}): active must be above 0, none may be below 0"
        )
    if warmup == 0:
        warnings.warn(
            "schedule(warmup=0): the first recorded step has the profiler's start in it",
            stacklevel=2,
        )
    cycle = wait + warmup + active

    def action_of(step):
        if step < 0:
            raise AssertionError(f"there is no step {step}")
        step -= skip_first
        if step < 0:
            return NONE
        number, at = divmod(step + (wait if skip_first_wait else 0), cycle)
        if at < wait or (repeat and number >= repeat):
            return NONE
        if at < wait + warmup:
            return WARMUP
        return SAVE if at == cycle - 1 else RECORD

    return action_of
