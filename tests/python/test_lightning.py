# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""gnomon.lightning without Lightning: on a stand-in for its base class, with the calls
that a real Trainer made. check_lightning_trainer.py runs the real one."""
import os
import tempfile
import textwrap
import unittest

from runs import calls, run

DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data")

# What Lightning's base class does with its state and files, as far as it matters here.
STAND_IN = '''
import os, sys, types

class Profiler:
    def __init__(self, dirpath=None, filename=None):
        self.dirpath, self.filename = dirpath, filename
        self._stage = self._local_rank = None
        self._output_file = self._write_stream = None
    def setup(self, stage, local_rank=None, log_dir=None):
        self._stage, self._local_rank = stage, local_rank
        self.dirpath = self.dirpath or log_dir
    def teardown(self, stage):
        pass
    def describe(self):
        parts = [self._stage, self.filename, self._local_rank]
        name = "-".join(str(p) for p in parts if p is not None and p != "")
        if self.filename and self.dirpath:
            with open(os.path.join(self.dirpath, name + ".txt"), "a") as file:
                file.write(self.summary())
        else:
            print(self.summary(), file=sys.stderr)
        self.teardown(self._stage)

module = types.ModuleType("pytorch_lightning.profilers")
module.Profiler = Profiler
sys.modules["pytorch_lightning"] = types.ModuleType("pytorch_lightning")
sys.modules["pytorch_lightning.profilers"] = module
'''


class Lightning(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def run_code(self, code, spec=None, status=0):
        code = STAND_IN + textwrap.dedent(code).replace("FOLDER", repr(self.folder))
        return run(code, spec, status)

    def report(self, name):
        with open(os.path.join(self.folder, name)) as file:
            return file.read()

    def test_the_calls_of_a_trainer(self):
        path = os.path.join(DATA, "trainer-calls.tsv")
        wanted = {}
        with open(path) as file:
            for line in file.read().splitlines()[1:]:
                op, stage, action = line.split("\t")
                if op == "stop":
                    counts = wanted.setdefault(stage, {})
                    counts[action] = counts.get(action, 0) + 1
        self.run_code(
            f"""
            from gnomon.lightning import GnomonProfiler
            profiler = GnomonProfiler("simple,advanced", FOLDER, "perf")
            lines = open({path!r}).read().splitlines()[1:]
            for stage in ("fit", "validate", "test", "predict"):
                own = [l.split("\\t") for l in lines if l.split("\\t")[1] == stage]
                for i, (op, _, action) in enumerate(own):
                    if i == 2:  # the first pair comes before
                        profiler.setup(stage, 3, None)
                    getattr(profiler, op)(action)
                profiler.describe()
            """
        )
        self.assertEqual(set(wanted), {"fit", "validate", "test", "predict"})
        for stage, counts in wanted.items():
            text = self.report(f"{stage}-perf-3.txt")
            self.assertTrue(text.startswith(f"{stage.upper()} Profiler Report\n\n---"))
            self.assertEqual(calls(text), counts)
            self.assertIn("\nProfile stats for: ", text)
            self.assertNotIn("gnomon:", text)

    def test_what_an_exception_left_is_reported_at_the_end(self):
        out, err = self.run_code(
            """
            from gnomon.lightning import GnomonProfiler
            profiler = GnomonProfiler("simple", FOLDER, "perf")
            profiler.setup("fit")
            with profiler.profile("run_training_epoch"):
                with profiler.profile("run_training_batch"):
                    pass
                raise ValueError("planted")
            """,
            status=1,
        )
        self.assertIn("ValueError: planted", err)
        self.assertEqual(
            calls(self.report("fit-perf.txt")),
            {"run_training_epoch": 1, "run_training_batch": 1},
        )

    def test_mistakes_that_lightning_raises_for_are_counted(self):
        out, err = self.run_code(
            """
            import gnomon
            from gnomon.lightning import GnomonProfiler
            profiler = GnomonProfiler()
            profiler.setup("fit")
            profiler.stop("never")
            profiler.start("a"); profiler.start("a"); profiler.stop("a")
            profiler.describe()
            profiler.describe()
            profiler.stop("a")
            health = gnomon.health()
            print(health["never_started"], health["twice"])
            """
        )
        self.assertEqual(out, "2 1\n")
        self.assertEqual(calls(err), {"a": 2})  # described twice

    def steps(self, words, spec=None):
        """How many steps a fit of three batches has, and a validation of two."""
        out, err = self.run_code(
            f"""
            import gnomon
            from gnomon.lightning import GnomonProfiler
            profiler = GnomonProfiler({words})
            def validate():
                for i in range(2):
                    with profiler.profile("[Strategy]One.validation_step"):
                        pass
            profiler.setup("fit")
            validate()  # the sanity check
            for i in range(3):
                with profiler.profile("run_training_batch"):
                    profiler.start("[Strategy]One.training_step")
                    profiler.stop("[Strategy]One.training_step")
            profiler.describe()
            profiler.setup("validate")
            validate()
            profiler.start("[Strategy]One.validation_step")
            profiler.stop("[Strategy]One.validation_step")
            stages = gnomon.snapshot("profile", all_stages=True).stages
            print([s.steps.count if s.steps else 0 for s in stages if s.name])
            """,
            spec,
        )
        return out

    def test_each_batch_is_a_step(self):
        self.assertEqual(self.steps("'profile(file=/dev/null)'"), "[3, 3]\n")
        self.assertEqual(self.steps("steps=True", "profile"), "[3, 3]\n")
        self.assertEqual(
            self.steps("'profile(file=/dev/null)', steps=False"), "[0, 0]\n"
        )
        spec = "profile,step=*.training_step"
        self.assertEqual(self.steps("", spec), "[3, 0]\n")

    def test_traces_go_to_the_folder_of_reports(self):
        code = """
            import os
            from gnomon.lightning import GnomonProfiler
            os.chdir(FOLDER)
            profiler = GnomonProfiler(WORDS)
            profiler.setup("fit")
            for i in range(6):
                with profiler.profile("run_training_batch"):
                    pass
            profiler.describe()
            """
        words = '"trace(schedule=wait:1/active:2/repeat:1),simple"'
        out, err = self.run_code(code.replace("WORDS", words))
        self.assertIn("fit-trace-cycle1.pt.trace.json", os.listdir(self.folder))
        folder = os.path.join(self.folder, 'a "b"), c')
        os.mkdir(folder)
        words += f", {os.path.basename(folder)!r}, 'perf'"
        self.run_code(code.replace("WORDS", words))
        inner = os.listdir(folder)
        self.assertEqual(
            sorted(inner), ["fit-perf.txt", "fit-trace-cycle1.pt.trace.json"]
        )

    def test_threads_have_actions_of_their_own(self):
        out, err = self.run_code(
            """
            import threading
            from gnomon.lightning import GnomonProfiler
            profiler = GnomonProfiler()
            profiler.setup("fit")
            def work():
                for _ in range(200):
                    with profiler.profile("same"):
                        pass
            threads = [threading.Thread(target=work) for _ in range(4)]
            for thread in threads: thread.start()
            for thread in threads: thread.join()
            profiler.describe()
            """
        )
        self.assertEqual(calls(err), {"same": 800})

    def test_the_variable_goes_before(self):
        out, err = self.run_code(
            """
            from gnomon.lightning import GnomonProfiler
            profiler = GnomonProfiler("advanced", FOLDER, "perf")
            profiler.setup("fit")
            with profiler.profile("a"):
                pass
            profiler.describe()
            """,
            "simple",
        )
        self.assertEqual(calls(err), {"a": 1})
        self.assertEqual(self.report("fit-perf.txt"), "")

    def test_a_mistyped_variable_ends_no_training(self):
        out, err = self.run_code(
            """
            from gnomon.lightning import GnomonProfiler
            profiler = GnomonProfiler()
            profiler.setup("fit")
            with profiler.profile("run_training_batch"):
                pass
            profiler.describe()
            print("trained")
            """,
            "simpel",
        )
        self.assertEqual(out, "trained\n")
        self.assertIn("gnomon: $GNOMON: unknown profiler 'simpel': did you", err)

    def test_dumps_of_nothing_need_no_folder(self):
        out, err = self.run_code(
            """
            from gnomon.lightning import GnomonProfiler
            make = lambda: GnomonProfiler("advanced(dump_stats,filter=none)", FOLDER + "/no")
            profiler, unused = make(), make()
            profiler.setup("fit", 0)
            profiler.start("a")
            profiler.stop("a")
            print(profiler.summary())
            profiler.teardown("fit")
            """
        )
        self.assertNotIn("FileNotFoundError", err)

    def test_specs_keep_files_that_they_name(self):
        out, err = self.run_code(
            """
            from gnomon.lightning import _without_output
            for spec in ("simple", "simple(extended=false),advanced", "trace(file=a)",
                         "simple,mem=4MiB", "simple,dir=out", "tree(filter=a|b)",
                         "advanced,dump_stats", "extended,simple", "simple,dir"):
                print(_without_output(spec))
            """
        )
        self.assertEqual(
            out.splitlines(),
            [
                "('simple(file=/dev/null)', ['simple'])",
                "('simple(extended=false,file=/dev/null),advanced(file=/dev/null)', "
                "['simple', 'advanced'])",
                "('trace(file=a)', [])",
                "('simple(file=/dev/null),mem=4MiB', ['simple'])",
                "('simple,dir=out', [])",
                "('tree(filter=a|b,file=/dev/null)', ['tree'])",
                "('advanced(file=/dev/null),dump_stats', ['advanced'])",
                "('extended,simple(file=/dev/null)', ['simple'])",
                "('simple,dir', [])",
            ],
        )


if __name__ == "__main__":
    unittest.main()
