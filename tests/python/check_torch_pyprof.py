# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""gnomon.torch as PyProf: a model's training step, heard by a tool of NVTX; a database of
what it heard, as Nsight Systems writes it, with a kernel in each innermost range; and the
rows of it."""
import contextlib
import io
import os
import re
import sqlite3
import subprocess
import tempfile
import unittest
from unittest import mock

import torch
import torch.nn.functional as F

import gnomon.torch as pyprof
from gnomon import _gnomon

PROGRAM = os.environ.get("GNOMON_PROGRAM", "")
TOOL = os.path.join(os.environ.get("GNOMON_TESTS", ""), "nvtx_out", "tool.so")
TABLES = """
CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start, end, deviceId, streamId, correlationId,
    globalPid, demangledName, shortName, gridX, gridY, gridZ, blockX, blockY, blockZ);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start, end, globalTid, correlationId, nameId);
CREATE TABLE NVTX_EVENTS(start, end, eventType, text, globalTid);
INSERT INTO StringIds VALUES(1, 'ampere_sgemm_32x32');
"""
GPID = 1 << 48 | 7 << 24


class Ops:
    @staticmethod
    def scaled(x, by):
        return F.relu(x * by)


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        layers = [torch.nn.Linear(3, 5), torch.nn.Linear(5, 2)]
        self.layers = torch.nn.ModuleList(layers)
        self.tail = torch.nn.Sequential(torch.nn.ReLU())

    def forward(self, x):
        return self.layers[1](self.tail(self.layers[0](x)))


def train(heard):
    os.environ.update(
        NVTX_INJECTION64_PATH=TOOL, NVTX_TOOL_CORE="1", NVTX_TOOL_OUT=heard
    )
    net, x = Net(), torch.ones(4, 3)
    pyprof.wrap(Ops, "scaled")
    with pyprof.init(net), pyprof.init(net):  # the second adds nothing
        y = net(x)
        loss = F.cross_entropy(Ops.scaled(y, 2), torch.ones(4, dtype=torch.int64))
        loss.backward()
    net(x)  # which is not marked


def database(heard, path):
    """Each line is a moment. Where a range closes that has none inside, it launched."""
    opened, kernels = [], 0
    with contextlib.closing(sqlite3.connect(path)) as db, open(heard) as lines:
        db.executescript(TABLES)
        for at, line in enumerate(lines):
            if line.startswith("push"):
                text = re.fullmatch(r'push \d+ "(.*)"\n', line).group(1)
                opened = [(b, t, True) for b, t, _ in opened] + [(at * 10, text, False)]
                continue
            begin, text, has_inner = opened.pop()
            row = begin, at * 10, 59, text, GPID + 9
            db.execute("INSERT INTO NVTX_EVENTS VALUES(?, ?, ?, ?, ?)", row)
            if not has_inner:
                kernels += 1
                call = at * 10 - 5, at * 10 - 4, GPID + 9, kernels, 0
                db.execute(
                    "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES(?,?,?,?,?)", call
                )
                run = at * 10, at * 10 + 3, 0, 7, kernels, GPID, *[1] * 8
                marks = ",".join("?" * len(run))
                db.execute(
                    f"INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES({marks})", run
                )
        db.commit()
    return opened


@unittest.skipUnless(os.access(PROGRAM, os.X_OK), "the program is not built")
@unittest.skipUnless(os.path.exists(TOOL), "built without NVTX")
class PyProf(unittest.TestCase):
    def rows(self):
        with tempfile.TemporaryDirectory() as folder:
            heard, net = os.path.join(folder, "heard"), os.path.join(folder, "net")
            child = os.fork()
            if not child:
                code = 1
                try:
                    train(heard)
                    code = 0
                finally:
                    os._exit(code)
            self.assertEqual(os.waitpid(child, 0)[1], 0)
            self.assertEqual(database(heard, net), [])
            columns = "seq,dir,layer,mod,op,params,flops,trace"
            command = [PROGRAM, "nsys", "prof", "--csv", "-c", columns, net]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
        if "built without SQLite" in done.stderr:
            self.skipTest("built without SQLite")
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = [line.strip('"').split('","') for line in done.stdout.splitlines()[1:]]
        return [row for row in lines if row[4] not in ("ones", "gnomon.torch.init()")]

    def test_a_step_is_told(self):
        rows = self.rows()
        linear = "torch.nn.functional", "linear"
        first = "layers.0", *linear, "M=5,N=4,K=3,fp32,", "120"
        second = "layers.1", *linear, "M=2,N=4,K=5,fp32,", "80"
        forward = [tuple(row[2:7]) for row in rows if row[1] == "fprop"]
        self.assertEqual(forward[0], first)
        self.assertEqual(forward[1][:3], ("tail:0", "torch.nn.functional", "relu"))
        self.assertEqual(forward[2], second)
        # The outermost call counts: two kernels of what was wrapped.
        self.assertEqual([row[2] for row in forward[3:]], ["scaled"] * 2 + ["cross_entropy"])
        self.assertRegex(rows[0][7], r"check_torch_pyprof.py:\d+$")

    def test_backward_has_what_forward_said(self):
        backward = [row for row in self.rows() if row[1] == "bprop"]
        ops = [row[4] for row in backward]
        self.assertEqual(ops[:2], ["cross_entropy"] * 2)
        self.assertEqual(ops[2:4], ["scaled"] * 2)
        linear = [row for row in backward if row[4] == "linear"]
        self.assertEqual({row[2] for row in linear}, {"layers.0", "layers.1"})
        self.assertEqual(linear[0][5:7], ["M=5,N=4,K=2,fp32,", "80"])

    def test_a_node_that_raises_leaves_no_range_open(self):
        opened = []

        def nvtx(text):
            opened.pop() if text is None else opened.append(text)
            return True

        with mock.patch.object(_gnomon, "_nvtx", nvtx), pyprof.init():
            x = torch.ones(2, requires_grad=True)
            y = torch.exp(x)
            y.add_(1)  # backward of exp needs what was there
            with self.assertRaisesRegex(RuntimeError, "modified by an inplace"):
                y.sum().backward()
            self.assertEqual(len(opened), 1)
            torch.exp(x).sum().backward()
            self.assertEqual(opened, [])

    def test_without_a_tool_it_is_off(self):
        said = io.StringIO()
        with contextlib.redirect_stderr(said):
            marks = pyprof.init(torch.nn.Linear(2, 2))
        self.assertIn("no tool listens", said.getvalue())
        self.assertEqual(torch.overrides._get_current_function_mode_stack(), [])
        marks.close()


if __name__ == "__main__":
    unittest.main()
