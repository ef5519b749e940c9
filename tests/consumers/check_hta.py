#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""check_hta.py WORK GNOMON: what HolisticTraceAnalysis computes from traces of
torch.profiler, it computes from gnomon's export of them too.

Run by the Python that HolisticTraceAnalysis is installed for.
"""
import copy
import logging
import os
import sys
import tempfile
import warnings

import consumers
from consumers import plain

logging.disable(logging.ERROR)
warnings.simplefilter("ignore")
os.environ["HTA_DISABLE_NS_ROUNDING"] = "1"


def table(frame, *dropped):
    """A data frame as rows that can be compared: in no order, rounded to a ns."""
    if frame is None:
        return None
    frame = frame.reset_index() if frame.index.names != [None] else frame
    frame = frame.drop(columns=[c for c in dropped if c in frame.columns])
    return [list(map(str, frame.columns))] + sorted(
        ([plain(v) for v in row] for row in frame.values.tolist()),
        key=str)


def tables(frames, *dropped):
    return {str(k): table(f, *dropped) for k, f in frames.items()}


def critical_path(trace, rank):
    from hta.analyzers.critical_path_analysis import CriticalPathAnalysis
    graph, ok = CriticalPathAnalysis.critical_path_analysis(
        trace, rank, "ProfilerStep", 1)
    return {"ok": ok, "nodes": len(graph.nodes), "edges": len(graph.edges),
            "critical": len(graph.critical_path_nodes),
            "summary": {k: plain(v) for k, v in graph.summary().items()}}


def trace_diff(trace, rank):
    """The first step with the second."""
    from hta.trace_diff import LabeledTrace, TraceDiff
    trace.decode_symbol_ids(False)
    a, b = LabeledTrace("a", t=trace), LabeledTrace("b", t=trace)
    steps = sorted(map(int, a.iterations()))
    return table(TraceDiff.compare_traces(a, b, rank, rank, steps[0], steps[1]))


def sequences(analysis):
    with tempfile.TemporaryDirectory() as out:
        return table(analysis.get_frequent_cuda_kernel_sequences(
            "aten::addmm", out, min_pattern_len=1, visualize=False))


def analyses(a):
    """{name: what computes it}, of a trace. Call graphs are not among them: steps are
    on a row of their own, as scopes may begin in one and end in the next."""
    ranks = sorted(a.t.get_all_traces())
    quiet = {"visualize": False}
    return {
        "steps": lambda: list(map(int, a.get_profiler_steps())),
        "temporal": lambda: table(a.get_temporal_breakdown(**quiet)),
        "kernels": lambda: list(map(table, a.get_gpu_kernel_breakdown(**quiet))),
        "overlap": lambda: table(a.get_comm_comp_overlap(**quiet)),
        "idle": lambda: list(map(table, a.get_idle_time_breakdown(
            ranks, show_idle_interval_stats=True, **quiet))),
        # Correlations and row numbers are any numbers.
        "launches": lambda: tables(
            a.get_cuda_kernel_launch_stats(ranks, **quiet), "correlation"),
        "queue": lambda: table(a.get_queue_length_summary(ranks)),
        "queue over time": lambda: tables(
            a.get_queue_length_time_series(ranks), "index"),
        "bandwidth": lambda: table(a.get_memory_bw_summary(ranks)),
        "bandwidth over time": lambda: tables(a.get_memory_bw_time_series(ranks)),
        "delays": lambda: tables(a.get_aten_op_kernels_and_delay(ranks)),
        "sequences": lambda: sequences(a),
        "labels": lambda: table(a.get_gpu_user_annotation_breakdown(
            use_gpu_annotation=False, **quiet)),
        "labels of devices": lambda: table(
            a.get_gpu_user_annotation_breakdown(**quiet)),
        "labelled kernels": lambda: table(
            a.get_gpu_kernels_with_user_annotations(ranks[0], True)[
                ["s_name", "s_user_annotation"]]),
        "critical path": lambda: [critical_path(a.t, rank) for rank in ranks],
        "difference": lambda: [trace_diff(a.t, rank) for rank in ranks],
    }


# Without devices these have nothing to say, and some raise.
OF_DEVICES = {"temporal", "idle", "delays", "labelled kernels", "critical path"}
FAILS = {"cpu-3-steps": OF_DEVICES, "gpu-2-ranks": set()}


def numbers(folder):
    from hta.trace_analysis import TraceAnalysis

    read = TraceAnalysis(trace_dir=folder)

    def fresh():
        """Some analyses change the trace that they are given."""
        return analyses(copy.deepcopy(read))

    return consumers.results(fresh)


if __name__ == "__main__":
    consumers.check(numbers, FAILS, sys.argv[1:])
