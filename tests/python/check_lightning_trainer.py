# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""GnomonProfiler in real runs of Lightning's Trainer on the CPU. Run in a virtual
environment that has torch and Lightning."""
import glob
import os
import random
import re
import tempfile
import textwrap
import unittest

from forked import run_forked
from runs import calls

MODEL = """
import os, sys, warnings, logging
warnings.filterwarnings("ignore")
import torch
PACKAGE = os.environ.get("LIGHTNING", "lightning.pytorch")
L = __import__(PACKAGE, fromlist=["Trainer"])
from torch.utils.data import DataLoader

class Model(L.LightningModule):
    fails = None
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 2)
    def training_step(self, batch, i):
        if self.fails and i == 2:
            raise self.fails("planted")
        return self.layer(batch).sum()
    def validation_step(self, batch, i):
        return self.layer(batch).sum()
    test_step = predict_step = validation_step
    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), 0.1)

def loader(workers=0):
    return DataLoader(torch.randn(8, 4), batch_size=2, num_workers=workers)

def trainer(profiler, **more):
    options = dict(max_epochs=2, accelerator="cpu", logger=False, profiler=profiler,
                   enable_progress_bar=False, enable_model_summary=False,
                   enable_checkpointing=False, default_root_dir=os.getcwd())
    options.update(more)
    return L.Trainer(**options)

from gnomon.lightning import GnomonProfiler, adopt
import gnomon
Simple = __import__(PACKAGE + ".profilers", fromlist=["SimpleProfiler"]).SimpleProfiler
"""


_imported = {}


def run_code(code):
    """Runs a case after the code above, which the parent has run once: but for the other
    package, which then needs no new import of torch."""
    if not _imported:
        exec(MODEL, _imported)
    program = compile(textwrap.dedent(code), "case", "exec")

    def run():
        if "LIGHTNING" in os.environ:
            exec(MODEL, _imported)
        exec(program, _imported)

    return run


class Lightning(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def run_model(self, code, status=0, **variables):
        found, out, err = run_forked(run_code(code), self.folder, **variables)
        self.assertEqual(found, status, err[-3000:])
        return out, err

    def read(self, pattern):
        paths = glob.glob(os.path.join(self.folder, pattern))
        self.assertEqual(len(paths), 1, (pattern, os.listdir(self.folder)))
        with open(paths[0]) as file:
            return file.read()

    BOTH = """
            class Both(GnomonProfiler):
                def __init__(self):
                    super().__init__("simple,advanced")
                    self.theirs, self.texts = Simple(), {}
                def start(self, name):
                    self.theirs.start(name)
                    super().start(name)
                def stop(self, name):
                    super().stop(name)
                    self.theirs.stop(name)
                def profile(self, name):
                    import contextlib
                    @contextlib.contextmanager
                    def both():
                        self.start(name)
                        try:
                            yield name
                        finally:
                            self.stop(name)
                    return both()
                def summary(self):
                    stage, text = self._stage[:], super().summary()
                    theirs = {n: len(v) for n, v in
                              self.theirs.recorded_durations.items() if v}
                    print(stage, "THEIRS", repr(theirs))
                    print(stage, "OURS", repr(text))
                    self.theirs.recorded_durations.clear()
                    return text
            both = Both()
            t = trainer(both)
            model = Model()
            t.fit(model, loader(), loader())
            t.validate(model, loader(), verbose=False)
            t.test(model, loader(), verbose=False)
            t.predict(model, loader())
            """

    def check_both(self, out):
        for stage in ("fit", "validate", "test", "predict"):
            theirs = eval(re.search(rf"^{stage} THEIRS (.*)", out, re.M)[1])
            ours = eval(re.search(rf"^{stage} OURS (.*)", out, re.M)[1])
            self.assertTrue(ours.startswith(stage.upper() + " Profiler Report\n"))
            self.assertEqual(calls(ours), theirs)
            self.assertIn("Profile stats for: ", ours)

    def test_the_report_goes_where_lightnings_goes(self):
        out, err = self.run_model(
            """
            logging.getLogger(PACKAGE).setLevel(logging.INFO)
            trainer(GnomonProfiler()).fit(Model(), loader())
            trainer(GnomonProfiler(filename="perf")).fit(Model(), loader())
            trainer(GnomonProfiler(["simple", "advanced"], ".", "both")).fit(
                Model(), loader())
            """
        )
        self.assertIn("run_training_batch", out + err)
        self.assertGreater(calls(self.read("fit-perf.txt"))["run_training_batch"], 0)
        self.assertIn("Profile stats for: run_training_epoch", self.read("fit-both.txt"))

    def test_an_exception_and_an_interrupt_lose_nothing(self):
        for error in ("ValueError", "KeyboardInterrupt"):
            with self.subTest(error):
                status = 1
                out, err = self.run_model(
                    f"""
                    Model.fails = {error}
                    trainer(GnomonProfiler(filename="{error}")).fit(Model(), loader())
                    """,
                    status=status,
                )
                found = calls(self.read(f"fit-{error}.txt"))
                self.assertEqual(found["run_training_batch"], 3)
                self.assertGreater(len(found), 20)

    def test_the_variable_goes_before(self):
        out, err = self.run_model(
            """
            trainer(GnomonProfiler("advanced", ".", "perf")).fit(Model(), loader())
            """,
            GNOMON="simple,file=own-%s.txt",
        )
        self.assertGreater(calls(self.read("own-fit.txt"))["run_training_batch"], 0)
        self.assertEqual(self.read("fit-perf.txt"), "")

    def test_a_profile_beside_the_report(self):
        out, err = self.run_model(
            """
            words = "simple,profile(file=run.gnomon)"
            trainer(GnomonProfiler(words, ".", "perf")).fit(Model(), loader())
            gnomon.teardown()
            rows = {r.name: r.host.count for r in gnomon.load("run.gnomon").rows()}
            print(rows["run_training_batch"])
            """
        )
        self.assertEqual(out.split()[-1], "8")

    def test_the_same_actions_and_counts_as_lightnings(self):
        self.check_both(self.run_model(self.BOTH)[0])

    def test_the_other_package(self):
        self.check_both(self.run_model(self.BOTH, LIGHTNING="pytorch_lightning")[0])

    def test_random_programs_count_as_lightnings(self):
        random.seed(4)
        programs = []
        for _ in range(200):
            program, opened = [], []
            for _ in range(random.randrange(1, 40)):
                if opened and random.random() < 0.5:
                    name = opened.pop(random.randrange(len(opened)))
                    program.append(("stop", name))
                else:
                    name = random.choice("abcdefgh")
                    if name not in opened:
                        opened.append(name)
                        program.append(("start", name))
            programs.append(program)
        out, err = self.run_model(
            f"""
            for program in {programs!r}:
                ours, theirs = GnomonProfiler(), Simple()
                ours.setup("fit")
                for act, name in program:
                    getattr(ours, act)(name)
                    getattr(theirs, act)(name)
                names = {{n: len(v) for n, v in theirs.recorded_durations.items() if v}}
                print(repr((ours.summary(), names)))
                for name in list(theirs.current_actions):
                    ours.stop(name)
                ours.teardown("fit")
            """
        )
        lines = out.splitlines()
        self.assertEqual(len(lines), 200)
        for line in lines:
            ours, theirs = eval(line)
            self.assertEqual(calls(ours), theirs)

    def test_it_is_pickled_and_adopts_others(self):
        out, err = self.run_model(
            """
            import pickle
            again = pickle.loads(pickle.dumps(GnomonProfiler("simple", ".", "p")))
            again.setup("fit")
            with again.profile("action") as name:
                assert name == "action"
            assert "action" in again.summary()
            again.describe()
            class Count(Simple.__mro__[1]):
                def __init__(self):
                    super().__init__()
                    self.counts = {}
                def start(self, action_name):
                    self.counts[action_name] = self.counts.get(action_name, 0) + 1
                def stop(self, action_name): pass
                def summary(self): return repr(self.counts)
            adopted = adopt(Count())
            with gnomon.scope("mine"):
                gnomon.start("action"); gnomon.stop("action")
            print(gnomon.summary("count"))
            gnomon.detach(adopted)
            """
        )
        self.assertEqual(out.splitlines()[-1], "{'mine': 1, 'action': 1}")

    def test_layers_of_a_watched_model_are_inside_its_actions(self):
        out, err = self.run_model(
            """
            import gnomon.torch
            class Module(Model):
                def __init__(self):
                    super().__init__()
                    self.layer = torch.nn.Sequential(
                        torch.nn.Linear(4, 4), torch.nn.ReLU(inplace=True),
                        torch.nn.Linear(4, 4))
            module = Module()
            gnomon.torch.watch(module)
            class Look(L.Callback):
                def on_train_end(self, trainer, module):
                    for node in gnomon.snapshot("tree").nodes:
                        print("/".join(node.path), node.host.count)
            trainer(GnomonProfiler("tree"), max_epochs=1, callbacks=[Look()]).fit(
                module, loader())
            """
        )
        batch = "run_training_epoch/run_training_batch"
        paths = [line.split() for line in out.splitlines()]
        found = {p[0]: p[-1] for p in paths if "backward" not in p[1:]}
        inside = [p for p in found if p.startswith(batch)]
        inside = [p for p in inside if p.endswith("/model.layer.2")]
        self.assertEqual([found[p] for p in inside], ["4"], out)
        self.assertIn("training_step", inside[0])
        back = [" ".join(p) for p in paths if p[-2:] == ["backward", "4"]]
        ending = "/model.layer backward/model.layer.2 backward 4"
        inside = [p for p in back if p.endswith(ending)]
        self.assertEqual(len(inside), 1, out)
        self.assertIn(".backward/backward/", inside[0])


if __name__ == "__main__":
    unittest.main()
