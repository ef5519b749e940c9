# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""gnomon.lightning.PyTorchProfiler in runs of Lightning's Trainer on the CPU. Run in a
virtual environment that has torch and Lightning."""
import glob
import json
import os
import re
import tempfile
import textwrap
import unittest

from check_lightning_trainer import run_code
from forked import run_forked

FIT = """
os.environ["KINETO_LOG_LEVEL"] = "9"
from gnomon.lightning import PyTorchProfiler
WIDE = dict(row_limit=-1, table_kwargs={"max_name_column_width": 99})
def fit(profiler, batches=8, **more):
    data = DataLoader(torch.randn(2 * batches, 4), batch_size=2)
    trainer(profiler, max_epochs=1, **more).fit(Model(), data, data)
    return profiler
"""


class PyTorch(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def fit(self, code):
        code = run_code(FIT + textwrap.dedent(code))
        status, out, err = run_forked(code, self.folder)
        self.assertEqual(status, 0, err[-3000:])
        return err

    def files(self, pattern):
        return sorted(glob.glob(os.path.join(self.folder, pattern)))

    def report(self):
        with open(os.path.join(self.folder, "fit-perf.txt")) as file:
            return file.read()

    def test_each_phase_has_its_window_and_all_are_kept(self):
        self.fit('fit(PyTorchProfiler(".", "perf", **WIDE))')
        report = self.report()
        self.assertRegex(report, "^FIT Profiler Report")
        parts = report.split("Profile stats for: ")[1:]
        self.assertEqual(len(parts), 2)
        for part, step in zip(parts, ("training_step", "validation_step")):
            self.assertRegex(part, rf"^records . \(.*{step}\)\n")
            row = re.search(rf"\[pl\]\[profile\]\S*{step} .* (\d+)  \n", part)
            self.assertEqual(row[1], "3", part)
            self.assertIn("[pl][module]torch.nn.modules.linear.Linear: layer", part)
            self.assertIn("aten::addmm", part)
        names = [os.path.basename(name) for name in self.files("*.pt.trace.json")]
        self.assertRegex(names[0], r"^fit-perf-.*training_step\.\d+\.pt")
        self.assertRegex(names[1], r"^fit-perf-.*validation_step\.\d+\.pt")
        with open(self.files("*.pt.trace.json")[0]) as file:
            trace = json.load(file)
        self.assertIn("aten::addmm", {row["name"] for row in trace["traceEvents"]})

    def test_few_steps_are_all_recorded(self):
        self.fit('fit(GnomonProfiler("pytorch", ".", "perf", **WIDE), batches=3)')
        report = self.report()
        self.assertEqual(
            re.findall(r"\[pl\]\[profile\]\S*training_step .* (\d+)  \n", report), ["3"]
        )

    def test_what_is_recorded_is_chosen(self):
        self.fit(
            'fit(PyTorchProfiler(".", "perf", record_functions={"training_step"},'
            "record_module_names=False, export_to_chrome=False, record_shapes=True,"
            'group_by_input_shapes=True, row_limit=-1, sort_by_key="count",'
            'export_to_flame_graph=True, table_kwargs={"max_name_column_width": 80}))'
        )
        report = self.report()
        labels = set(re.findall(r"\[pl\]\S*", report))
        self.assertEqual(len(labels), 1, labels)
        self.assertIn("Input Shapes", report)
        self.assertEqual(self.files("*.json"), [])
        stacks = self.files("*.stack")
        self.assertEqual(len(stacks), 2)
        with open(stacks[0]) as file:
            self.assertRegex(file.readline(), r"^\S+ \d+\n$")

    def test_schedules_repeat(self):
        self.fit(
            'fit(PyTorchProfiler(filename="perf", dirpath=".",'
            "schedule=gnomon.schedule(wait=0, warmup=1, active=1, repeat=3)))"
        )
        report = self.report()
        self.assertEqual(report.count("training_step)\n"), 3, report[:3000])

    def test_wrong_arguments(self):
        err = self.fit("""
        for error, options in (
            ("TypeError", {"wait": 2}),
            ("MisconfigurationException", {"sort_by_key": "size"}),
            ("MisconfigurationException", {"schedule": 3}),
            ("MisconfigurationException", {"schedule": lambda step: 3}),
            ("KeyError", {"table_kwargs": {"row_limit": 3}}),
            ("KeyError", {"table_kwargs": {"rows": 3}}),
        ):
            try:
                PyTorchProfiler(**options)
            except Exception as raised:
                assert type(raised).__name__ == error, raised
            else:
                raise AssertionError(options)
        """)
        self.assertNotIn("Exception ignored", err)  # as the object goes

    def test_nvtx_without_cuda_is_one_line(self):
        err = self.fit('assert fit(PyTorchProfiler(emit_nvtx=True)).summary() == ""')
        self.assertEqual(err.count("emit_nvtx: no CUDA here"), 1)

    def test_labels_end_where_forward_raises(self):
        self.fit("""
        from gnomon._lightning_torch import _ModuleNames
        class Fails(torch.nn.Module):
            def forward(self, x):
                raise ValueError
        model = torch.nn.Sequential(Fails())
        names = _ModuleNames(model)
        with gnomon.profile(record_shapes=True) as prof:
            try:
                model(torch.ones(1))
            except ValueError:
                torch.exp(torch.ones(1))
        names.remove()
        path = next(e for e in prof.events() if e.name == "aten::exp").node.path
        assert path == ("aten::exp",), path
        """)


if __name__ == "__main__":
    unittest.main()
