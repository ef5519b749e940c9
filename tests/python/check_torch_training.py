# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What gnomon.torch marks around the model: optimizers, data loaders, the marks that a
program has in torch; and what a training step is."""
import copy
import pickle
import tempfile
import unittest

import torch
from torch import nn

import gnomon
from torch_case import Case, batch, counts, marks, names


class Steps(gnomon.Profiler):
    """Keeps ends of scopes and steps in their order."""

    def __init__(self):
        self.events = []

    def stop(self, frame):
        self.events.append(frame.name)

    def step(self, event):
        self.events.append("step")


class Training(Case):
    def steps(self, function, *optimizers):
        steps = Steps()
        self.watch(None, list(optimizers))
        gnomon.attach(steps, "filter=Optimizer*")
        function()
        gnomon.detach(steps)
        return steps.events

    def test_a_step_of_the_optimizer_ends_a_step(self):
        model = nn.Linear(4, 4)
        optimizer = torch.optim.SGD(model.parameters(), 0.1)
        scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1)

        def run():
            for _ in range(2):
                for _ in range(3):  # gradients of three batches
                    model(batch()).sum().backward()
                optimizer.step()
                scheduler.step()
                optimizer.zero_grad()

        one = ["Optimizer.step#SGD.step", "step", "Optimizer.zero_grad#SGD.zero_grad"]
        self.assertEqual(self.steps(run, optimizer), one * 2)

    def test_the_last_of_several_optimizers(self):
        model = nn.Linear(4, 4)
        a = torch.optim.SGD(model.parameters(), 0.1)
        b = torch.optim.Adam(model.parameters(), 0.1)
        model(batch()).sum().backward()
        self.assertEqual(
            self.steps(lambda: (a.step(), b.step()), a, b),
            ["Optimizer.step#SGD.step", "Optimizer.step#Adam.step", "step"],
        )

    def test_closures_and_scalers(self):
        model = nn.Linear(4, 4)
        lbfgs = torch.optim.LBFGS(model.parameters(), max_iter=3)

        def closure():
            lbfgs.zero_grad()
            loss = model(batch()).square().sum()
            loss.backward()
            return loss

        events = self.steps(lambda: lbfgs.step(closure), lbfgs)
        self.assertEqual(events.count("step"), 1)
        self.assertEqual(events[-2:], ["Optimizer.step#LBFGS.step", "step"])

        sgd = torch.optim.SGD(model.parameters(), 0.1)
        scaler = torch.amp.GradScaler("cpu")

        def run():
            for factor in (1.0, float("inf"), 1.0):
                sgd.zero_grad()
                scaler.scale(model(batch()).sum() * factor).backward()
                scaler.step(sgd)
                scaler.update()

        # A step that the scaler leaves out is none.
        self.assertEqual(self.steps(run, sgd).count("step"), 2)

    def test_a_step_that_raises_is_none(self):
        optimizer = torch.optim.LBFGS([torch.zeros(1, requires_grad=True)])

        def run():
            with self.assertRaises(ZeroDivisionError):
                optimizer.step(lambda: 1 / 0)

        self.assertEqual(self.steps(run, optimizer), ["Optimizer.step#LBFGS.step"])

    def test_optimizers_are_saved_without_gnomon(self):
        optimizer = torch.optim.SGD(nn.Linear(4, 4).parameters(), 0.1)
        self.watch(None, optimizer)
        self.assertNotIn(b"gnomon", pickle.dumps(optimizer))
        copy.deepcopy(optimizer).step()

    def test_data_loaders(self):
        self.watch()
        data = torch.arange(6.0)
        for workers, name in ((0, "_SingleProcess"), (2, "_MultiProcessing")):
            loader = torch.utils.data.DataLoader(
                data, 2, num_workers=workers, persistent_workers=workers > 0
            )
            name = f"enumerate(DataLoader)#{name}DataLoaderIter.__next__"

            def run():
                for _ in range(2):
                    self.assertEqual(len(list(loader)), 3)

            self.assertEqual(marks(run), {name: 8})  # the last one of each says so


class Marks(Case):
    def test_they_are_taken_in(self):
        mark = torch.profiler.record_function
        with mark("too early"):
            handle = self.watch()

        @mark("function")
        def function(n=0):
            if n:
                function(n - 1)
            with torch.autograd.profiler.record_function("inner", "args"):
                pass

        def run():
            function(20)
            with self.assertRaises(ValueError), mark("raises"):
                raise ValueError

        found = names(run)
        self.assertEqual(found, {"function": 21, "inner": 21, "raises": 1})
        with mark("open"):
            handle.close()
        self.assertEqual(names(run), {})
        self.assertIn("open", counts())

    def test_torchs_profiler_sees_what_it_saw(self):
        model = nn.Linear(4, 4)
        seen = []
        for watched in (False, True):
            handle = self.watch(model) if watched else None
            schedule = torch.profiler.schedule(wait=0, warmup=1, active=2)
            with torch.profiler.profile(
                activities=[torch.profiler.ProfilerActivity.CPU], schedule=schedule
            ) as profiler:
                for _ in range(3):
                    with torch.profiler.record_function("mine"):
                        model(batch()).sum().backward()
                    profiler.step()
            seen.append({(e.key, e.count) for e in profiler.key_averages()})
        self.assertEqual(seen[0], seen[1])
        self.assertEqual(counts()["ProfilerStep*/mine"], 3)

    def test_the_all_reduce_of_ddp(self):
        import torch.distributed as dist
        from torch.nn.parallel import DistributedDataParallel

        with tempfile.NamedTemporaryFile() as store:
            dist.init_process_group(
                "gloo", init_method=f"file://{store.name}", rank=0, world_size=1
            )
            self.addCleanup(dist.destroy_process_group)
            gradients = []
            for hook in (None, gnomon.torch.ddp_hook()):
                torch.manual_seed(1)
                model = DistributedDataParallel(nn.Linear(4, 4))
                if hook:
                    model.register_comm_hook(None, hook)

                def run():
                    model(torch.ones(2, 4)).sum().backward()
                    gradients.append(model.module.weight.grad.tolist())

                self.assertEqual(names(run).get("all_reduce"), 1 if hook else None)
        self.assertEqual(gradients[0], gradients[1])

        def failing(state, bucket):
            raise RuntimeError("planted")

        with self.assertRaisesRegex(RuntimeError, "planted"):
            gnomon.torch.ddp_hook(failing)(None, None)

    def test_they_are_scripted(self):
        self.watch()

        @torch.jit.script
        def scripted(x):
            with torch.autograd.profiler.record_function("scripted"):
                return x + 1

        self.assertEqual(float(scripted(torch.zeros(()))), 1)


if __name__ == "__main__":
    unittest.main()
