# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What users of Lightning's profilers rely on, held against Lightning's own and ours."""
import copy
import logging
import os
import pickle
import re
import tempfile
import unittest
import warnings

warnings.filterwarnings("ignore")
import gnomon
from check_lightning_workers import Model, trainer
from forked import run_forked
from gnomon.lightning import GnomonProfiler
from lightning.pytorch.profilers import AdvancedProfiler, SimpleProfiler
from runs import calls
from torch.utils.data import DataLoader

from loader_data import Numbers

LOG = "lightning.pytorch.profilers.profiler"


def our_simple(dirpath=None, filename=None, **more):
    return GnomonProfiler("simple", dirpath, filename, **more)


def our_advanced(dirpath=None, filename=None, **more):
    return GnomonProfiler("advanced", dirpath, filename, **more)


SIMPLE = (SimpleProfiler, our_simple)
ADVANCED = (AdvancedProfiler, our_advanced)
ALL = SIMPLE + ADVANCED


def act(profiler, *names):
    for name in names:
        with profiler.profile(name) as given:
            assert given == name


def seconds(text, name):
    cells = rf"^\|  {name} *\t\|  \S+ +\t\|  \d+ +\t\|  (\S+)"
    return float(re.search(cells, text, re.M)[1])


def sections(text):
    return re.findall("^Profile stats for: (.*)$", text, re.M)


class Contract(unittest.TestCase):
    def each(self, makers, case, status=0):
        """The case with each of these profilers, in a folder and a process of its own.
        Yields the folder and what was on stdout and stderr."""
        for make in makers:
            with self.subTest(make.__name__), tempfile.TemporaryDirectory() as folder:
                found, out, err = run_forked(lambda: case(make), folder)
                self.assertEqual(found, status, err[-3000:])
                yield folder, out, err

    def all(self, makers, case):
        for _ in self.each(makers, case):
            pass

    def read(self, folder, name):
        with open(os.path.join(folder, name)) as file:
            return file.read()

    # ---- What is recorded ----

    def test_actions_count_by_name(self):
        def case(make):
            profiler = make()
            act(profiler, "a", "b", "a")
            profiler.start("outer")
            act(profiler, "a", "inner")
            profiler.stop("outer")
            print(profiler.summary())

        for _, out, _ in self.each(SIMPLE, case):
            self.assertEqual(calls(out), {"a": 3, "b": 1, "outer": 1, "inner": 1})
        for _, out, _ in self.each(ADVANCED, case):
            self.assertEqual(sorted(sections(out)), ["a", "b", "inner", "outer"])

    def test_durations_lie_between_those_of_lightnings(self):
        def case(_):
            outer, ours, inner = SimpleProfiler(), our_simple(), SimpleProfiler()
            for name, n in (("short", 10), ("long", 20000), ("short", 100)):
                for profiler in (outer, ours, inner):
                    profiler.start(name)
                sum(range(n))
                for profiler in (inner, ours, outer):
                    profiler.stop(name)
            for name in ("short", "long"):
                texts = [p.summary() for p in (inner, ours, outer)]
                low, own, high = (seconds(text, name) for text in texts)
                assert low * 0.9999 <= own <= high * 1.0001, (low, own, high)

        self.all([our_simple], case)

    def test_what_an_iterator_takes_and_its_end_count(self):
        def case(make):
            profiler, items = make(), iter(range(5))
            try:
                while True:
                    with profiler.profile("next"):
                        next(items)
            except StopIteration:
                pass
            print(profiler.summary())

        for _, out, _ in self.each(SIMPLE, case):
            self.assertEqual(calls(out), {"next": 6})

    def test_an_exception_ends_its_action_and_goes_on(self):
        def case(make):
            profiler = make()
            for _ in range(2):
                try:
                    with profiler.profile("fails"):
                        raise KeyError("planted")
                except KeyError as error:
                    assert error.args == ("planted",)
            print(profiler.summary())

        for _, out, _ in self.each(ALL, case):
            self.assertIn("fails", out)

    # ---- Mistakes: Lightning's end the training, ours are counted ----

    def test_mistakes_do_not_end_the_training(self):
        mistakes = {
            "was never started": lambda p: p.stop("never"),
            "has already started": lambda p: (p.start("twice"), p.start("twice")),
        }
        for message, mistake in mistakes.items():
            with self.assertRaisesRegex(ValueError, message):
                mistake(SimpleProfiler())

        def case(make):
            profiler = make()
            for mistake in mistakes.values():
                mistake(profiler)
            health = gnomon.health()
            assert (health["never_started"], health["twice"]) == (1, 1), health

        self.all([our_simple, our_advanced], case)

    def test_an_outer_action_keeps_its_time(self):
        """Lightning's stops measuring it where an inner one begins."""

        def work(n):
            return sum(range(n))

        def case(make):
            profiler = make()
            with gnomon.calls(), profiler.profile("outer"):
                work(1)
                act(profiler, "inner")
                work(2)
            text = profiler.summary()
            outer = text[text.index("Profile stats for: outer") :]
            assert re.search(r"^ +2 .*\(work\)", outer, re.M), text

        self.all([our_advanced], case)

    # ---- Reports ----

    def test_where_the_report_goes(self):
        def case(make):
            here = os.getcwd()
            cases = (None, "perf", "a/b:c**d  "), (None, "fit"), (None, 0, 3)
            for filename in cases[0]:
                for stage in cases[1]:
                    for rank in cases[2]:
                        profiler = make(os.path.join(here, "new", "dir"), filename)
                        if stage:
                            profiler.setup(stage, rank)
                        act(profiler, "a")
                        profiler.describe()

        found = [
            sorted(os.listdir(os.path.join(folder, "new", "dir")))
            for folder, _, _ in self.each(ALL, case)
        ]
        self.assertEqual(len(found[0]), 8)
        self.assertEqual(found, [found[0]] * 4)

    def test_without_a_name_it_goes_to_the_log_of_rank_0(self):
        def case(make):
            logger = logging.getLogger(LOG)
            logger.setLevel(logging.INFO)
            logger.addHandler(logging.StreamHandler(os.fdopen(1, "w", closefd=False)))
            for rank in (None, 0, 1):
                profiler = make()
                profiler.setup("fit", rank, os.getcwd())
                act(profiler, f"of-{rank}")
                profiler.describe()
            logger.setLevel(logging.WARNING)
            profiler = make()
            profiler.setup("fit")
            act(profiler, "quiet")
            profiler.describe()

        for folder, out, _ in self.each(ALL, case):
            self.assertEqual(os.listdir(folder), [])
            names = re.findall(r"(?:^\|  |^Profile stats for: )(of-\w+|quiet)", out, re.M)
            self.assertEqual(names, ["of-None", "of-0"])

    def test_the_first_folder_stays(self):
        def case(make):
            profiler = make(filename="perf")
            for stage in ("fit", "test"):
                profiler.setup(stage, log_dir=os.path.join(os.getcwd(), stage))
                act(profiler, "a")
                profiler.describe()
            assert profiler.dirpath == os.path.join(os.getcwd(), "fit")

        for folder, _, _ in self.each(ALL, case):
            files = sorted(os.listdir(os.path.join(folder, "fit")))
            self.assertEqual(files, ["fit-perf.txt", "test-perf.txt"])

    def test_reports_are_added_to_a_file(self):
        def case(make):
            for _ in range(2):
                profiler = make(".", "perf")
                act(profiler, "a")
                profiler.describe()

        for folder, _, _ in self.each(SIMPLE, case):
            text = self.read(folder, "perf.txt")
            self.assertEqual(text.count("Profiler Report"), 2)

    def test_describing_leaves_no_file_open(self):
        def case(make):
            profiler = make(".", "perf")
            before = os.listdir("/proc/self/fd")
            for _ in range(3):
                profiler.setup("fit")
                act(profiler, "a")
                profiler.describe()
                profiler.teardown("fit")
            assert os.listdir("/proc/self/fd") == before

        self.all(ALL, case)

    def test_nothing_recorded_is_no_mistake(self):
        def case(make):
            profiler = make(".", "perf")
            profiler.setup("fit")
            profiler.describe()
            make().describe()

        for folder, _, _ in self.each(ALL, case):
            self.assertEqual(os.listdir(folder), ["fit-perf.txt"])

    def test_a_summary_changes_nothing(self):
        def case(make):
            profiler = make()
            profiler.setup("fit")
            act(profiler, "a")
            first = profiler.summary()
            act(profiler, "b")
            again = profiler.summary()
            assert calls(first) == {"a": 1}, first
            assert calls(again) == {"a": 1, "b": 1}, again

        self.all(SIMPLE, case)

    # ---- With a trainer ----

    def test_each_stage_has_a_report_of_its_own_actions(self):
        """Lightning's has those of the stages before, too."""

        def case(make):
            run = trainer(make(".", "perf"), max_epochs=1)
            model = Model()
            run.fit(model, DataLoader(Numbers()))
            run.test(model, DataLoader(Numbers()), verbose=False)

        for folder, _, _ in self.each([our_simple], case):
            fit, test = (self.read(folder, f"{s}-perf.txt") for s in ("fit", "test"))
            self.assertIn("run_training_epoch", calls(fit))
            self.assertNotIn("run_training_epoch", calls(test))
            self.assertEqual(calls(test)["[Strategy]SingleDeviceStrategy.test_step"], 24)

    def test_a_trainer_is_copied_with_its_profiler(self):
        def case(make):
            run = trainer(make(".", "perf"), max_epochs=1, limit_train_batches=2)
            for again in (copy.deepcopy(run), run):
                again.fit(Model(), DataLoader(Numbers()))
            for own in (
                copy.deepcopy(run.profiler),
                pickle.loads(pickle.dumps(run.profiler)),
            ):
                assert type(own) is type(run.profiler) and own.filename == "perf"
                assert not hasattr(own, "_lightning_module")  # it had seen a model

        for folder, _, _ in self.each([our_simple, our_advanced], case):
            text = self.read(folder, "fit-perf.txt")
            self.assertEqual(text.count("FIT Profiler Report"), 2)

    def test_without_batches_there_is_a_report(self):
        def case(make):
            run = trainer(make(".", "perf"), limit_train_batches=0)
            run.fit(Model(), DataLoader(Numbers()))

        for folder, _, _ in self.each(ALL, case):
            self.assertIn("configure_optimizers", self.read(folder, "fit-perf.txt"))


if __name__ == "__main__":
    unittest.main()
