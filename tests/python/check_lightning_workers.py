# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Workers of data loaders in runs of Lightning's Trainer: their start, what the loop
waits for, what was ready before, and what each worker did."""
import collections
import glob
import os
import re
import subprocess
import tempfile
import unittest
import warnings

warnings.filterwarnings("ignore")
import gnomon
import lightning.pytorch as L
import loader_data as data
import torch
from forked import run_forked
from gnomon import _loader, _worker
from gnomon.lightning import GnomonProfiler
from lightning.pytorch.utilities import CombinedLoader
from runs import calls
from torch.utils.data import DataLoader


class Model(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 2)
        self.seen = []

    def training_step(self, batch, i):
        if isinstance(batch, dict):
            batch = torch.cat([b for b in batch.values() if b is not None])
        self.seen.append(batch.tolist())
        return self.layer(batch).sum()

    def validation_step(self, batch, i):
        return self.layer(batch).sum()

    test_step = predict_step = validation_step

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), 0.1)


def trainer(profiler, **more):
    options = dict(max_epochs=2, accelerator="cpu", logger=False, profiler=profiler)
    options.update(enable_progress_bar=False, enable_model_summary=False)
    options.update(enable_checkpointing=False, default_root_dir=os.getcwd(), **more)
    return L.Trainer(**options)


def loader(dataset=None, **more):
    options = dict(batch_size=3, num_workers=2, multiprocessing_context="fork")
    options.update(more)
    return DataLoader(data.Numbers() if dataset is None else dataset, **options)


def fit(*loaders, words="simple", **more):
    model = Model()
    trainer(GnomonProfiler(words, ".", "perf"), **more).fit(model, *loaders)
    return model


def table(report, first):
    """The rows of a table, each a dict by its heads; those that occur twice have a 2."""
    lines = report[re.search(f"^{first} ", report, re.M).start() :].split("\n\n")[0]
    heads, *rows = (re.split("  +", line.strip()) for line in lines.splitlines())
    heads = [h + ("2" if h in heads[:i] else "") for i, h in enumerate(heads)]
    return {row[0]: dict(zip(heads, row)) for row in rows}


class Workers(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def run_case(self, case, status=0, **variables):
        found, self.out, self.err = run_forked(case, self.folder, **variables)
        self.assertEqual(found, status, self.err[-3000:])
        return self.out

    def report(self, stage="fit"):
        with open(os.path.join(self.folder, f"{stage}-perf.txt")) as file:
            return file.read()

    def check(self, label, items, started, batches=8, fetches=True, workers=2):
        """Of two epochs in which the workers made `batches` each."""
        report = self.report()
        row = table(report, "Loader")[label]
        self.assertEqual((row["Workers"], row["Starts"]), (str(workers), "2"))
        self.assertEqual(row["Batches"], str(workers * batches))
        rows = [table(report, "Worker")[f"{label} {i}"] for i in range(workers)]
        self.assertEqual([r["Started"] for r in rows], [str(started)] * workers)
        made = [int(r["Batches"]) for r in rows]
        self.assertEqual(made, [batches] * workers)
        self.assertEqual(sum(int(r["Items"]) for r in rows), 2 * items)
        self.assertEqual(all("Mean" in r for r in rows), fetches)
        self.assertEqual(len({r["Process"] for r in rows}), workers)
        return calls(report)

    # ---- How workers start ----

    def check_method(self, method, persistent, workers=2):
        options = dict(multiprocessing_context=method, num_workers=workers)
        self.run_case(lambda: fit(loader(persistent_workers=persistent, **options)))
        started, batches = 1 if persistent else 2, 16 // workers
        label, options = "train Numbers", dict(batches=batches, workers=workers)
        found = self.check(label, data.LENGTH, started, **options)
        name = "[DataLoader]Numbers."
        self.assertEqual(found[name + "start_workers"], 1 if persistent else 2)
        self.assertEqual(found.get(name + "resume_workers", 0), int(persistent))
        self.assertEqual(found[name + "first_batch"], 2)
        self.assertEqual(found[name + "next_batch"], 14)
        self.assertEqual(found["[_TrainingEpochLoop].train_dataloader_next"], 16)
        self.assertIn(name + "stop_workers", found)

    def test_forked_workers(self):
        self.check_method("fork", False)

    def test_forked_persistent_workers(self):
        self.check_method("fork", True)

    @unittest.skipUnless(os.environ.get("GNOMON_SOAK"), "imports torch as the next: soak")
    def test_spawned_workers(self):
        self.check_method("spawn", True, workers=1)

    def test_workers_of_a_fork_server(self):
        self.check_method("forkserver", True, workers=1)

    # ---- Kinds of data sets ----

    def test_data_sets_that_give_many_items_at_once(self):
        self.run_case(lambda: fit(loader(data.Many())))
        self.check("train Many", data.LENGTH, 2)

    def test_items_that_take_others_count_once(self):
        self.run_case(lambda: fit(loader(data.Again())))
        self.check("train Again", data.LENGTH, 2)

    def test_items_may_refer_to_their_data_set(self):
        self.run_case(lambda: fit(loader(data.Sent())))
        self.check("train Sent", data.LENGTH, 2, batches=8)

    def test_data_sets_with_slots(self):
        self.run_case(lambda: fit(loader(data.Slotted())))
        self.check("train Slotted", data.LENGTH, 2)

    def test_no_batches_are_made(self):
        self.run_case(lambda: fit(loader(batch_size=None)))
        self.check("train Numbers", data.LENGTH, 2, batches=24)

    def test_streams(self):
        self.run_case(lambda: fit(loader(data.Stream())))
        self.check("train Stream", data.LENGTH, 2)

    def test_a_stream_may_be_its_own_iterator(self):
        self.run_case(lambda: fit(loader(data.Itself())))
        self.check("train Itself", data.LENGTH, 2)

    def test_a_list_has_batches_and_no_items(self):
        numbers = [torch.full((4,), float(i)) for i in range(data.LENGTH)]
        self.run_case(lambda: fit(loader(numbers)))
        self.check("train list", 0, 2, fetches=False)

    def test_part_of_a_data_set_has_its_name(self):
        part = torch.utils.data.Subset(data.Numbers(), range(12))
        self.run_case(lambda: fit(loader(part, pin_memory=True)))
        self.check("train Numbers", 12, 2, batches=4)

    # ---- Loaders and stages ----

    def test_each_stage_has_its_loaders(self):
        def case():
            run = trainer(GnomonProfiler("simple", ".", "perf"))
            model = Model()
            run.fit(model, loader(), loader(data.Many()))
            run.test(model, loader(), verbose=False)
            run.predict(model, loader())
            run.validate(model, DataLoader(data.Numbers()), verbose=False)

        self.run_case(case)
        fits = table(self.report(), "Loader")
        self.assertEqual(sorted(fits), ["train Numbers", "val Many"])
        self.assertEqual(fits["val Many"]["Batches"], str(2 + 2 * 8))
        for stage in ("test", "predict"):
            row = table(self.report(stage), "Loader")[f"{stage} Numbers"]
            self.assertEqual(row["Batches"], "8")
        self.assertNotIn("Data Loader", self.report("validate"))

    def test_loaders_that_are_combined_have_names(self):
        both = {"a": loader(), "b": loader(batch_size=6)}
        self.run_case(lambda: fit(CombinedLoader(both, "max_size")))
        rows = table(self.report(), "Loader")
        found = {label: row["Batches"] for label, row in rows.items()}
        self.assertEqual(found, {"train Numbers": "16", "train Numbers 2": "8"})

    def test_a_loader_stays_as_it_was(self):
        def case():
            before = DataLoader.__iter__
            own = loader(worker_init_fn=data.set_offset)
            kept = own.worker_init_fn, own.collate_fn, own.dataset, type(own.dataset)
            model = fit(own)
            assert DataLoader.__iter__ is before
            after = own.worker_init_fn, own.collate_fn, own.dataset, type(own.dataset)
            assert kept == after, (kept, after)
            assert own.dataset.offset == 0
            assert sum(map(len, model.seen)) == 2 * data.LENGTH
            assert min(min(min(batch)) for batch in model.seen) == 100
            assert type(iter(own)).__module__ == "torch.utils.data.dataloader"

        self.run_case(case)

    def test_who_replaces_the_same_method_stays(self):
        def case():
            theirs = []
            profiler = GnomonProfiler("simple", ".", "perf")
            profiler.setup("fit")
            below = DataLoader.__iter__

            def above(self):
                theirs.append(self)
                return below(self)

            DataLoader.__iter__ = above
            profiler.describe()
            assert DataLoader.__iter__ is above
            fit(loader())
            assert len(theirs) == 2
            assert len(list(loader())) == 8

        self.run_case(case)
        self.check("train Numbers", data.LENGTH, 2)

    def test_random_numbers_are_the_same(self):
        def case():
            seen = []
            for profiler in (None, GnomonProfiler("simple", ".", "perf")):
                for own in (None, int):
                    L.seed_everything(7, workers=True, verbose=False)
                    model = Model()
                    train = loader(data.Random(), shuffle=True, worker_init_fn=own)
                    trainer(profiler).fit(model, train)
                    seen.append((model.seen, model.layer.weight.tolist()))
            assert seen[0] == seen[2] and seen[1] == seen[3] and seen[0] != seen[1]

        self.run_case(case)

    # ---- What goes wrong ----

    def check_broken(self, dataset, message, items):
        self.run_case(lambda: fit(loader(dataset)), status=1)
        self.assertIn(message, self.err)
        rows = table(self.report(), "Worker").values()
        self.assertIn([int(row["Items"]) for row in rows][1], items)
        self.assertIn("run_training_epoch", self.report())

    def test_a_worker_that_raises(self):
        # Batches that were asked for before are made after it, perhaps not yet whole.
        self.check_broken(data.Raises(), "ValueError: planted", range(2, 9))

    def test_a_worker_that_is_killed(self):
        self.check_broken(data.Killed(), "DataLoader worker (pid", (2,))

    def test_a_loader_that_cannot_be_counted_works(self):
        def case():
            own = loader()
            vars(own).pop("collate_fn")
            type(own).collate_fn = property(lambda self: torch.stack)
            model = fit(own)
            assert sum(map(len, model.seen)) == 2 * data.LENGTH

        self.run_case(case)
        self.assertNotIn("Data Loader", self.report())

    # ---- Files and reports of workers ----

    def test_workers_write_files_where_the_spec_names_one(self):
        def case():
            fit(loader(), words="simple,profile(file=run.gnomon)")
            gnomon.teardown()

        self.run_case(case)
        files = sorted(glob.glob(self.folder + "/*-worker*.gnomon"))
        names = [re.sub("-[0-9]+[.]", ".", os.path.basename(f)) for f in files]
        self.assertEqual(
            names, [f"run-train-Numbers-worker{i}.gnomon" for i in range(2)]
        )
        found = collections.Counter()
        for number, path in enumerate(files):
            profile = gnomon.load(path)
            found.update({row.name: row.host.count for row in profile.rows()})
            self.assertIn(f"data loader worker {number}", profile.tracks[0].name)
            self.assertEqual(profile.stages[0].name, "fit")
        name = "[DataLoader]Numbers."
        self.assertEqual(
            found, {name + "fetch": 24, name + "collate_fn": 8, "decode": 24}
        )

    def test_workers_are_silent_without_files(self):
        self.run_case(lambda: fit(loader(data.Many())))
        self.assertNotIn("Profiler Report", self.err)

    def test_the_variable_goes_before_in_workers(self):
        case = lambda: fit(loader(), words="advanced")
        self.run_case(case, GNOMON="simple,file=%s-%p.txt")
        files = glob.glob(self.folder + "/*.txt")
        texts = [open(path).read() for path in files]
        decoded = [calls(text).get("decode", 0) for text in texts]
        self.assertEqual(sum(decoded), 2 * data.LENGTH)
        found = [calls(text).get("[DataLoader]Numbers.fetch", 0) for text in texts]
        self.assertEqual(sum(found), data.LENGTH)  # of those that start first
        self.check("train Numbers", data.LENGTH, 2)

    # ---- Times, by a clock of our own ----

    def prefetch(self):
        clock = [1000]
        _loader.now = lambda: clock[0]
        gnomon.setup("tree(file=/dev/null)")
        stage = _loader.Stage(lambda: "train")
        counts = [0] * 2 * len(_worker.FIELDS)
        own = loader()
        iteration = _loader._Iteration(stage, own, counts)
        iteration.starts = 1

        def fetch(waits, works, batches):
            def run(_):
                clock[0] += waits
                counts[_worker.FETCH] += works
                counts[_worker.BATCHES] += batches

            return run

        iteration.next(fetch(50, 30, 3), None)  # the first: two more are ready
        counts[_worker.FETCH] += 100  # while the loop trains
        iteration.next(fetch(5, 0, 0), None)
        iteration.sample()  # what follows is added
        iteration.next(fetch(5, 0, 0), None)
        counts[_worker.SINCE] = clock[0] - 40  # begun before the loop asks
        iteration.next(fetch(20, 0, 0), None)
        counts[_worker.SINCE] = 0
        counts[_worker.FETCH] += 60
        iteration.sample()
        print(gnomon.snapshot("tree").report("loaders"))

    def test_what_is_done_while_the_loop_does_not_wait_is_prefetched(self):
        row = table(self.run_case(self.prefetch), "Loader")["train Numbers"]
        want = dict(First="50 ns", Waited="30 ns", Longest="20 ns", Worked="190 ns")
        want.update(Prefetched="140 ns", Ready="1.00", Unready="1", Batches="4")
        self.assertEqual({key: row[key] for key in want}, want)

    # ---- The profile ----

    def test_a_profiler_that_has_their_counters_has_the_tables(self):
        words = "simple(filter=?DataLoader?Numbers*),tree(file=/dev/null)"
        self.run_case(lambda: fit(loader(), words=words))
        self.check("train Numbers", data.LENGTH, started=2)

    @unittest.skipUnless("GNOMON_PROGRAM" in os.environ, "the program is not built")
    def test_the_profile_has_the_same_tables(self):
        def case():
            fit(loader())
            gnomon.teardown()

        self.run_case(case, GNOMON="simple,loaders,profile(file=run.gnomon),file=%s.txt")
        file, text = os.path.join(self.folder, "run.gnomon"), self.report()
        tables = text[text.index("FIT Data Loader Workers") :].strip()
        program = [os.environ["GNOMON_PROGRAM"], "report", "--as", "loaders", file]
        self.assertEqual(subprocess.check_output(program, text=True).strip(), tables)
        self.assertEqual(gnomon.load(file).report("loaders").strip(), tables)
        with open(os.path.join(self.folder, "fit.txt")) as live:
            self.assertIn(tables, live.read())


if __name__ == "__main__":
    unittest.main()
