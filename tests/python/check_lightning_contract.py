# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What users of Lightning's profilers rely on, held against Lightning's own and ours."""
import contextlib
import copy
import gc
import io
import logging
import os
import pickle
import re
import sys
import tempfile
import time
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
                out, err = self.run_case(lambda: case(make), folder, status)
                yield folder, out, err

    def run_case(self, case, folder, status=0):
        found, out, err = run_forked(case, folder)
        self.assertEqual(found, status, err[-3000:])
        return out, err

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
                # Our clock's rate follows the system's within 0.05 %.
                assert low * 0.999 <= own <= high * 1.001, (low, own, high)

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
            profiler, before = make(), gnomon.health()
            for mistake in mistakes.values():
                mistake(profiler)
            health = gnomon.health()
            found = [health[key] - before[key] for key in ("never_started", "twice")]
            assert found == [1, 1], health

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
            handler = logging.StreamHandler(sys.stdout)
            logger.addHandler(handler)
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
            logger.removeHandler(handler)

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

    def test_dumps_have_lightnings_names(self):
        actions = ("a/b", 'x: "y"?', "[Callback]C<1>.on\n", "plain")

        def lightnings(folder, filename):
            return AdvancedProfiler(folder, filename, dump_stats=True)

        def ours(folder, filename):
            return GnomonProfiler("simple,advanced(dump_stats)", folder, filename)

        def of_all(folder, filename):
            return GnomonProfiler("simple,advanced,dump_stats", folder, filename)

        def case(make):
            for i, filename in enumerate((None, "perf")):
                profiler = make(f"{i}alone", filename)
                act(profiler, *actions)
                profiler.describe()
                profiler = make(f"{i}", filename)
                profiler.setup("fit", local_rank=0)
                act(profiler, *actions)
                profiler.describe()
                profiler.teardown("fit")

        found = []
        for folder, _, _ in self.each((lightnings, ours, of_all), case):
            walk = os.walk(folder)
            found.append(sorted(f"{f[len(folder):]}/{n}" for f, _, all in walk for n in all))
        self.assertEqual(found[0], found[1])
        self.assertEqual(found[0], found[2])
        self.assertIn("/1/fit-perf-0-a_b.prof", found[0])

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

    # ---- Many profilers in one process ----

    def test_a_sweep_of_trials(self):
        """Each has a report of its own, and nothing of the others."""
        trials = 40

        def case(make):
            kept = []
            for i in range(trials):
                words = ("simple", f"simple,profile(file=run{i}.gnomon)")[i % 2]
                profiler = GnomonProfiler(words, f"trial{i}", "perf")
                run = trainer(profiler, max_epochs=1, limit_train_batches=1 + i % 3)
                run.fit(Model(), DataLoader(Numbers()))
                if i < 5:
                    kept.append(run)
            kept[1].test(Model(), DataLoader(Numbers()), verbose=False)

        for folder, _, err in self.each([our_simple], case):
            self.assertNotIn("gnomon: ", err)
            for i in range(trials):
                found = calls(self.read(folder, f"trial{i}/fit-perf.txt"))
                self.assertEqual(found["run_training_batch"], 1 + i % 3)
                self.assertEqual(found["[LightningModule]Model.configure_callbacks"], 1, i)
                if i % 2:
                    profile = gnomon.load(f"{folder}/run{i}.gnomon")
                    rows = {r.name: r.host.count for r in profile.rows()}
                    self.assertEqual(rows["run_training_batch"], 1 + i % 3)
            self.assertIn("test_step", self.read(folder, "trial1/test-perf.txt"))

    def test_each_has_its_own_words(self):
        def case(make):
            first = GnomonProfiler("simple(filter=a)")
            act(first, "b")
            second = GnomonProfiler("simple(extended=false),tree")
            act(second, "a", "b")
            assert calls(first.summary()) == {"a": 1}, first.summary()
            assert "Num calls" not in second.summary()
            assert "Call Tree" in second.summary()
            del first
            gc.collect()
            assert gnomon._attached() == ["simple", "tree"]
            act(second, "b")
            assert re.search("^b .* 2 ", second.summary(), re.M), second.summary()
            del second
            gc.collect()
            assert gnomon._attached() == []

        self.all([our_simple], case)

    def test_any_number_may_be_made_before_the_first_is_used(self):
        def case(make):
            for profiler in [make() for _ in range(40)]:
                act(profiler, "before")
                profiler.setup("fit")
                act(profiler, "a")
                found = calls(profiler.summary())
                assert found == {"before": 1, "a": 1}, found
                profiler.describe()

        self.all([our_simple], case)

    def test_too_many_that_are_used_end_no_training(self):
        def case(make):
            kept = []
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                for _ in range(40):
                    kept.append(make())
                    act(kept[-1], "a")
            assert calls(kept[0].summary()) == {"a": 40}
            assert kept[-1].summary() == ""
            assert "records nothing" in str(caught[0].message), caught

        self.all([our_simple], case)

    def test_more_than_fit_at_once(self):
        def case(make):
            kept = []
            for i in range(40):
                profiler = make(".", f"perf{i}")
                profiler.setup("fit")
                act(profiler, "a")
                profiler.describe()
                kept.append(profiler)
            for profiler in kept:
                act(profiler, "between")
                profiler.setup("test")
                act(profiler, "b")
                profiler.describe()

        for folder, _, err in self.each([our_simple], case):
            self.assertEqual(err, "")
            for i in range(40):
                self.assertEqual(calls(self.read(folder, f"fit-perf{i}.txt")), {"a": 1})
                found = calls(self.read(folder, f"test-perf{i}.txt"))
                self.assertEqual(found, {"between": 1, "b": 1})

    def test_after_an_exception_the_next_one_is_whole(self):
        def case(make):
            class Fails(Model):
                def on_train_batch_end(self, *rest):
                    raise ValueError("planted")

            runs = [trainer(make(n, "perf"), max_epochs=1) for n in "AB"]
            with contextlib.suppress(ValueError):
                runs[0].fit(Fails(), DataLoader(Numbers()))
            runs[1].fit(Model(), DataLoader(Numbers()))
            assert "run_training_batch" in open("A/fit-perf.txt").read()

        for folder, _, _ in self.each([our_simple], case):
            for name, batches in (("A", 1), ("B", 24)):
                found = calls(self.read(folder, f"{name}/fit-perf.txt"))
                self.assertEqual(found["run_training_batch"], batches)
                first = [n for k, n in found.items() if "configure_callbacks" in k]
                self.assertEqual(first, [1])

    # ---- What users read ----

    def test_durations_as_lightnings(self):
        def case(make):
            profiler = make()
            assert profiler.start_time <= time.perf_counter()
            profiler.start("outer")
            limits = []
            for n in (1, 100000, 1):
                outer = time.perf_counter()
                with profiler.profile("a"):
                    inner = time.perf_counter()
                    sum(range(n))
                    inner = time.perf_counter() - inner
                limits.append((inner, time.perf_counter() - outer))
            assert list(profiler.current_actions) == ["outer"]
            profiler.stop("outer")
            assert not profiler.current_actions
            found = profiler.recorded_durations
            assert {k: len(v) for k, v in found.items()} == {"a": 3, "outer": 1}
            for (low, high), own in zip(limits, found["a"]):
                assert low - 1e-9 <= own <= high + 1e-9, (low, own, high)
            assert found["none"] == [] and sum(found["a"]) <= found["outer"][0]

        self.all(SIMPLE, case)

    def test_durations_have_a_limit(self):
        def case(make):
            profiler = make(durations=3)
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                act(profiler, *"aaaaab")
            assert len(profiler.recorded_durations["a"]) == 3
            assert len(caught) == 1 and "first 3 of 'a'" in str(caught[0].message)
            assert calls(profiler.summary()) == {"a": 5, "b": 1}
            profiler = make(durations=0)
            act(profiler, "a")
            assert not profiler.recorded_durations

        self.all([our_simple], case)

    def test_an_empty_folder_is_made(self):
        def case(make):
            profiler = make(os.path.join("new", "dir"), "perf")
            run = trainer(profiler, fast_dev_run=1)
            run.fit(Model(), DataLoader(Numbers()))
            assert profiler._output_file is None

        for folder, _, _ in self.each(SIMPLE, case):
            self.assertIn("run_training_batch", self.read(folder, "new/dir/fit-perf.txt"))

    def test_actions_overridden_by_a_subclass_are_called(self):
        class Own(GnomonProfiler):
            seen = ()

            def start(self, name):
                self.seen += (name,)
                super().start(name)

        def case(_):
            profiler = Own()
            act(profiler, "a", "b")
            assert profiler.seen == ("a", "b")

        self.all([our_simple], case)


class InOneProcess(unittest.TestCase):
    def test_all_of_them(self):
        """One after the other in one process: what each leaves hurts no later one."""

        def case():
            gc.freeze()  # torch's own objects: each case collects what it leaves
            names = unittest.defaultTestLoader.getTestCaseNames(Contract)
            names.remove("test_a_sweep_of_trials")  # it is of one process already
            for name in names:
                result = unittest.TestResult()
                OneAfterTheOther(name).run(result)
                for _, text in result.errors + result.failures:
                    print(name, text, file=sys.stderr)
                assert result.wasSuccessful()

        with tempfile.TemporaryDirectory() as folder:
            found, _, err = run_forked(case, folder)
            self.assertEqual(found, 0, err[-5000:])


class OneAfterTheOther(Contract):
    def run_case(self, case, folder, status=0):
        out, err, home = io.StringIO(), io.StringIO(), os.getcwd()
        os.chdir(folder)
        try:
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                case()
        finally:
            os.chdir(home)
            gc.collect()
        return out.getvalue(), err.getvalue()


def load_tests(loader, tests, pattern):
    names = (Contract, InOneProcess)
    return unittest.TestSuite(map(loader.loadTestsFromTestCase, names))


if __name__ == "__main__":
    unittest.main()
