# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""GnomonProfiler in several processes, as each of Lightning's ways to start them does
it: names and profiles have the rank among all nodes."""
import contextlib
import glob
import os
import random
import socket
import subprocess
import sys
import tempfile
import unittest
import warnings

warnings.filterwarnings("ignore")
import gnomon
import lightning.pytorch as L
import loader_data as data
import torch
from check_lightning_workers import Model, loader, table, trainer
from forked import run_forked, start_forked
from gnomon.lightning import GnomonProfiler
from runs import calls

WORDS = "simple,profile(file=out/%s.gnomon)"


def fit(strategy="ddp", devices=2, **more):
    torch.set_num_threads(1)
    profiler = GnomonProfiler(WORDS, ".", "perf")
    run = trainer(profiler, strategy=strategy, devices=devices, **more)
    run.fit(Model(), loader(persistent_workers=True))
    return run


def free_port():
    """Below those that the system gives to whoever connects or asks for any: what it gave
    us could be another's before our processes take it."""
    for port in random.SystemRandom().sample(range(10000, 32768), 100):
        with socket.socket() as found, contextlib.suppress(OSError):
            found.bind(("127.0.0.1", port))
            return str(port)


class Ranks(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def check_files(self):
        """Two ranks, each with its report and its profile, which are one job."""
        for rank in range(2):
            with open(os.path.join(self.folder, f"fit-perf-{rank}.txt")) as file:
                text = file.read()
            self.assertEqual(text.count("FIT Profiler Report"), 1)
            self.assertEqual(calls(text)["run_training_batch"], 8)
            row = table(text, "Loader")["train Numbers"]
            self.assertEqual(row["Batches"], "8")
        ranks, own = [], []
        for path in glob.glob(self.folder + "/out/fit*.gnomon"):
            run = gnomon.load(path).runs[0]
            self.assertEqual(run.world_size, 2, path)
            ranks.append(run.rank)
            if "worker" not in path:
                own.append(path)
        self.assertEqual(sorted(ranks), [0] * 3 + [1] * 3)  # two workers of each
        self.assertEqual(len(own), 2, own)
        merged = os.path.join(self.folder, "all.gnomon")
        words = [os.environ["GNOMON_PROGRAM"], "merge", "-o", merged, *own]
        done = subprocess.run(words, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        rows = {r.name: r.host.count for r in gnomon.load(merged).rows()}
        self.assertEqual(rows["run_training_batch"], 16)

    def start_both(self, case, variables):
        """The case in two processes at once, which somebody else starts."""
        shared = dict(MASTER_ADDR="127.0.0.1", MASTER_PORT=free_port(), WORLD_SIZE="2")
        started = [
            start_forked(case, self.folder, **dict(shared, **own)) for own in variables
        ]
        for wait in started:
            status, out, err = wait()
            self.assertEqual(status, 0, err[-3000:])
            self.assertNotIn("no rank is known", err)
        self.check_files()

    def test_processes_that_the_trainer_starts(self):
        code = "import check_lightning_ranks as c\nif __name__ == '__main__': c.fit()\n"
        path = os.path.join(self.folder, "program.py")
        with open(path, "w") as file:
            file.write(code)
        here = os.path.dirname(os.path.abspath(__file__))
        places = here + os.pathsep + os.environ.get("PYTHONPATH", "")

        def case():
            """As that program; the trainer starts it once more, as the other rank."""
            sys.modules["__main__"].__spec__ = None
            sys.argv = [path]
            for other in fit().strategy.launcher.procs:  # the trainer does not wait
                other.wait()

        status, out, err = run_forked(
            case, self.folder, PYTHONPATH=places, MASTER_PORT=free_port()
        )
        self.assertEqual(status, 0, err[-3000:])
        self.assertNotIn("gnomon:", err)
        self.check_files()

    @unittest.skipUnless(os.environ.get("GNOMON_SOAK"), "two imports of torch: soak")
    def test_processes_that_are_spawned(self):
        status, out, err = run_forked(lambda: fit("ddp_spawn"), self.folder)
        self.assertEqual(status, 0, err[-3000:])
        self.assertNotIn("gnomon:", err)
        self.check_files()

    def test_processes_that_are_forked(self):
        case = lambda: fit("ddp_fork")
        status, out, err = run_forked(case, self.folder, MASTER_PORT=free_port())
        self.assertEqual(status, 0, err[-3000:])
        self.check_files()

    def test_processes_of_torchrun(self):
        variables = [dict(RANK=str(n), LOCAL_RANK=str(n)) for n in range(2)]
        more = dict(TORCHELASTIC_RUN_ID="run", GROUP_RANK="0", LOCAL_WORLD_SIZE="2")
        self.start_both(fit, [dict(v, **more) for v in variables])

    def test_processes_of_slurm(self):
        variables = [dict(SLURM_PROCID=str(n), SLURM_LOCALID=str(n)) for n in range(2)]
        more = dict(SLURM_NTASKS="2", SLURM_NTASKS_PER_NODE="2", SLURM_STEP_ID="0")
        more.update(SLURM_JOB_ID="7", SLURM_NODEID="0", SLURM_NODELIST="127.0.0.1")
        self.start_both(fit, [dict(v, **more) for v in variables])

    def test_two_nodes_that_share_a_folder(self):
        variables = [dict(NODE_RANK=str(n), LOCAL_RANK="0") for n in range(2)]
        self.start_both(lambda: fit(devices=1, num_nodes=2), variables)

    def test_the_rank_on_the_node_stays_to_be_asked(self):
        def case():
            profiler = GnomonProfiler("simple", self.folder)
            assert profiler.local_rank == 0
            profiler.setup("fit", 3)
            assert profiler.local_rank == 3

        self.assertEqual(run_forked(case, self.folder)[0], 0)


if __name__ == "__main__":
    unittest.main()
