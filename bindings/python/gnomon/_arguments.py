# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The arguments of gnomon.profile: what they mean here, and which have no effect."""
import os
import time
import warnings
from enum import Enum


class ProfilerActivity(Enum):
    """What is recorded: marks of the host, and work of devices."""

    CPU = 0
    XPU = 1
    MTIA = 2
    CUDA = 3
    HPU = 4
    PrivateUse1 = 5


_NO_TORCH = "PyTorch is not loaded"
OF_TORCH = {  # of these torch's own session has the effect
    name: _NO_TORCH
    for name in (
        "record_shapes",
        "profile_memory",
        "with_flops",
        "with_modules",
        "experimental_config",
    )
}
IGNORED = {
    **OF_TORCH,
    "execution_trace_observer": "no execution trace is written",
    "acc_events": "events() has those of the last cycle",
    "post_processing_timeout_s": "nothing is computed at the end of a cycle",
}
named = set()


def name_once(what, why, level=2):
    """A warning for what has no effect: one for each in a process."""
    if what not in named:
        named.add(what)
        warnings.warn(
            f"gnomon.profile: {what} has no effect: {why}", stacklevel=level + 1
        )


def member_of(kind, value):
    """A member of an Enum here, also for the one of torch of that name."""
    if isinstance(value, kind):
        return value
    try:
        return kind[value.name]
    except (AttributeError, KeyError):
        raise ValueError(f"{value!r} is no gnomon.{kind.__name__}") from None


def activities_of(given, use_cuda):
    if given is None:
        chosen = {ProfilerActivity.CPU, ProfilerActivity.CUDA}
    else:
        chosen = set()
        for item in given:
            members = item if isinstance(item, dict) else (item,)
            chosen.update(member_of(ProfilerActivity, member) for member in members)
    if use_cuda is not None:
        warnings.warn(
            "use_cuda is deprecated: say activities=", FutureWarning, stacklevel=3
        )
        (chosen.add if use_cuda else chosen.discard)(ProfilerActivity.CUDA)
    if not chosen:
        raise AssertionError("no activities: say ProfilerActivity.CPU or .CUDA")
    for other in chosen - {ProfilerActivity.CPU, ProfilerActivity.CUDA}:
        name_once(f"ProfilerActivity.{other.name}", "of devices gnomon knows CUDA's", 3)
    return chosen


def tensorboard_trace_handler(
    dir_name, worker_name=None, use_gzip=False, use_python_export=False
):
    """For on_trace_ready: writes each cycle into a folder, which is made, under the name
    that TensorBoard and Holistic Trace Analysis look for."""

    def write(prof):
        nonlocal worker_name
        if not worker_name:
            import socket

            worker_name = f"{socket.gethostname()}_{os.getpid()}"
        name = f"{worker_name}.{time.time_ns()}.pt.trace.json"
        path = os.path.join(dir_name, name + (".gz" if use_gzip else ""))
        prof.export_chrome_trace(path)

    return write
