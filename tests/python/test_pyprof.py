# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PyProf's two steps by their names, of a small export of Nsight Systems."""
import os
import sqlite3
import subprocess
import sys
import tempfile
import unittest

PROGRAM = os.environ.get("GNOMON_PROGRAM", "")
TABLES = """
CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start, end, deviceId, streamId, correlationId,
    globalPid, demangledName, shortName, gridX, gridY, gridZ, blockX, blockY, blockZ);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start, end, globalTid, correlationId, nameId);
CREATE TABLE NVTX_EVENTS(start, end, eventType, text, globalTid);
INSERT INTO StringIds VALUES(1, 'gemm<int>');
INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL
    VALUES(90, 97, 0, 7, 5, 16777216, 1, 1, 1, 1, 1, 32, 1, 1);
INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES(20, 30, 16777217, 5, 0);
INSERT INTO NVTX_EVENTS VALUES(10, 40, 59, 'layer:fc', 16777217);
"""


def step(name, *words, path=None, given=None):
    environment = dict(os.environ, PATH=path or os.path.dirname(PROGRAM))
    return subprocess.run(
        [sys.executable, "-B", "-m", f"gnomon.pyprof.{name}", *words],
        env=environment, input=given, capture_output=True, text=True, check=False,
    )


@unittest.skipUnless(os.access(PROGRAM, os.X_OK), "the program is not built")
class PyProf(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.net = os.path.join(self.folder.name, "net.sqlite")
        with sqlite3.connect(self.net) as database:
            database.executescript(TABLES)
        database.close()

    def test_steps_have_their_names(self):
        lines = step("parse", self.net)
        if "built without SQLite" in lines.stderr:
            self.skipTest("built without SQLite")
        self.assertEqual(lines.returncode, 0)
        self.assertTrue(lines.stdout.startswith("{'kShortName': 'gemm'"))
        rows = step("prof", "-c", "idx,layer,kernel,sil", given=lines.stdout)
        self.assertEqual(rows.stdout, "Idx Layer Kernel Sil(ns)\n1 fc gemm 7\n")

    def test_a_missing_program_is_told(self):
        missing = step("prof", path=self.folder.name)
        if not os.path.exists(os.path.join(os.path.dirname(sys.executable), "gnomon")):
            self.assertEqual(missing.returncode, 2)
            self.assertIn("$PATH", missing.stderr)


if __name__ == "__main__":
    unittest.main()
