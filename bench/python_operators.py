#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What watch(operators=True) adds to an operator, beside torch.profiler with
record_shapes: the same loops in one run, in alternating order, medians of 11, in CPU
time. Needs torch, and `python -m gnomon.torch build` before."""
import os
import statistics
import time

os.environ["KINETO_LOG_LEVEL"] = "9"  # else a line for each start and stop
import torch  # noqa: E402

import gnomon.torch  # noqa: E402

CPU = [torch.profiler.ProfilerActivity.CPU]


def small():
    """One operator, called often."""
    x = torch.ones(4)
    for _ in range(3000):
        torch.neg(x)


def step():
    """Training steps of one layer of a transformer."""
    torch.manual_seed(1)
    model, x = torch.nn.TransformerEncoderLayer(32, 4, 64), torch.ones(8, 2, 32)
    for _ in range(30):
        model(x).sum().backward()


def plain(loop):
    begin = time.process_time()
    loop()
    return time.process_time() - begin


def watched(loop):
    with gnomon.torch.watch(operators=True), gnomon.profile(CPU):
        return plain(loop)


def of_torch(loop):
    with torch.profiler.profile(activities=CPU, record_shapes=True):
        return plain(loop)


def main():
    torch.set_num_threads(1)
    for loop in (small, step):
        times = {plain: [], watched: [], of_torch: []}
        for turn in range(12):
            for way in list(times)[:: 1 if turn % 2 else -1]:
                took = way(loop)
                if turn:  # the first one warms up
                    times[way].append(took)
        base, ours, theirs = map(statistics.median, times.values())
        print(
            f"{loop.__name__}: plain 1.00, watched {ours / base:.2f}, "
            f"torch.profiler {theirs / base:.2f}; added, of torch's: "
            f"{(ours - base) / (theirs - base):.2f}"
        )


if __name__ == "__main__":
    main()
