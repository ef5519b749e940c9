# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""gnomon.profile with torch's own session: models, and torch's table of what it recorded,
which the same session of torch's must print to the byte. Run in a virtual environment
that has torch."""
import json
import os
import shutil
import subprocess
import tempfile
import threading
import unittest
import warnings

import gnomon
from gnomon import _arguments

os.environ["KINETO_LOG_LEVEL"] = "9"  # else a line for each start and stop
import torch  # noqa: E402
from torch import nn  # noqa: E402
import torch.profiler  # noqa: E402

torch.set_num_threads(1)

ALL = {"record_shapes": True, "profile_memory": True, "with_flops": True}
STACKS = {"record_shapes": True, "profile_memory": True, "with_stack": True}
KEYS = (
    *("cpu_time", "device_time", "cpu_time_total", "device_time_total", "count"),
    *("self_cpu_time_total", "self_device_time_total", "self_cuda_time_total"),
    *("cpu_memory_usage", "device_memory_usage", "self_cpu_memory_usage"),
    *("self_device_memory_usage", "flops", "key", "node_id"),
)


# ---- Models: a step of each ---------------------------------------------------------


def convolution():
    model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU())
    return lambda: model(torch.randn(2, 3, 8, 8)).sum().backward()


class Gpt(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.tokens = nn.Embedding(32, width)
        self.norm = nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.head = nn.Linear(width, 32)

    def block(self, x):
        parts = self.qkv(self.norm(x)).chunk(3, -1)
        q, k, v = (part.unflatten(-1, (2, -1)).transpose(1, 2) for part in parts)
        mixed = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).flatten(2))
        return x + self.down(nn.functional.gelu(self.up(self.norm(x))))

    def forward(self, ids):
        x = self.block(self.block(self.tokens(ids)))
        return nn.functional.cross_entropy(self.head(x).flatten(0, 1), ids.flatten())


def gpt():
    model = Gpt()
    optimizer = torch.optim.AdamW(model.parameters(), foreach=True)

    def step():
        model(torch.randint(0, 32, (2, 8))).backward()
        optimizer.step()
        optimizer.zero_grad()

    return step


def autocast():
    model = nn.Linear(8, 8)

    def step():
        with torch.autocast("cpu", torch.bfloat16):
            loss = model(torch.randn(4, 8)).float().sum()
        loss.backward()

    return step


def checkpointing():
    from torch.utils.checkpoint import checkpoint

    model = nn.Sequential(nn.Linear(8, 8), nn.GELU())

    def step():
        x = torch.randn(4, 8, requires_grad=True)
        checkpoint(model, x, use_reentrant=False).sum().backward()

    return step


def _work(x):
    return torch.relu(x @ x)


def jit_fork():
    @torch.jit.script
    def both(x):
        future = torch.jit.fork(_work, x)
        return torch.jit.wait(future) + x

    return lambda: both(torch.randn(4, 4))


def a_thread():
    model = nn.Linear(4, 4)

    def run():
        with torch.profiler.record_function("in a thread"):
            model(torch.randn(2, 4)).sum().backward()

    def step():
        thread = threading.Thread(target=run)
        thread.start()
        run()
        thread.join()

    return step


def inference():
    model = nn.Sequential(nn.Linear(4, 4), nn.Softmax(-1)).eval()

    def step():
        with torch.inference_mode(), torch.profiler.record_function("label"):
            model(torch.randn(2, 4))

    return step


def sparse():
    table = nn.Embedding(8, 4, sparse=True)
    matrix = torch.eye(4).to_sparse()

    def step():
        table(torch.tensor([1, 2])).sum().backward()
        torch.sparse.mm(matrix, torch.randn(4, 2))

    return step


def foreach():
    model = nn.Sequential(*(nn.Linear(4, 4) for _ in range(12)))
    optimizer = torch.optim.SGD(model.parameters(), 0.1, momentum=0.9, foreach=True)

    def step():
        model(torch.randn(2, 4)).sum().backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=False)

    return step


def compiled():
    model = torch.compile(nn.Sequential(nn.Linear(4, 4), nn.ReLU()), backend="aot_eager")
    return lambda: model(torch.randn(2, 4)).sum().backward()


MODELS = (
    *(convolution, gpt, autocast, checkpointing, jit_fork, a_thread, inference),
    *(sparse, foreach, compiled),
)


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        _arguments.named.clear()

    def path(self, *names):
        return os.path.join(self.folder, *names)


class Tables(Case):
    def record(self, make, **options):
        step = make()
        step()
        with gnomon.profile([gnomon.ProfilerActivity.CPU], **options) as prof:
            step()
            step()
        return prof

    def check(self, prof, groups):
        tables = [{"sort_by": key, "row_limit": -1} for key in (None, *KEYS)]
        tables.append({"top_level_events_only": True, "header": "h", "time_unit": "ms"})
        tables.append({"row_limit": 3, "max_name_column_width": 20})
        for group in groups:
            theirs = prof.profiler.key_averages(**group)
            ours = prof.key_averages(**group)
            for table in tables:
                self.assertEqual(ours.table(**table), theirs.table(**table), table)
            self.assertGreater(len(ours), 1)
        total, ours = theirs.total_average(), ours.total_average()
        for name in ("count", "cpu_time_total", "self_cpu_memory_usage", "flops"):
            self.assertEqual(getattr(ours, name), getattr(total, name))

    def test_shapes_memory_and_flops(self):
        shapes = {"group_by_input_shape": True}
        for make in MODELS:
            with self.subTest(make.__name__):
                prof = self.record(make, **ALL)
                self.check(prof, ({}, shapes))
                rows = prof.key_averages(**shapes)
                self.assertTrue(any(row.input_shapes for row in rows))

    def test_stacks(self):
        both = {"group_by_stack_n": 2, "group_by_input_shape": True}
        for make in MODELS:
            with self.subTest(make.__name__):
                prof = self.record(make, **STACKS)
                self.check(prof, ({}, {"group_by_stack_n": 1}, both))
                self.assertTrue(any(row.stack for row in prof.key_averages(False, 1)))
                prof.export_stacks(self.path("ours"))
                prof.profiler.export_stacks(self.path("theirs"))
                with open(self.path("ours")) as ours, open(self.path("theirs")) as theirs:
                    self.assertEqual(ours.read(), theirs.read())

    def test_options_of_torch(self):
        config = torch._C._profiler._ExperimentalConfig(
            profile_all_threads=True, capture_overload_names=True
        )
        prof = self.record(a_thread, record_shapes=True, experimental_config=config)
        self.check(prof, ({}, {"group_by_overload_name": True}))
        labels = [e for e in prof.events() if e.name == "in a thread"]
        self.assertEqual(len({e.track.os_id for e in labels}), 3)

    def test_a_file_of_it_has_the_same_table(self):
        program = os.environ.get("GNOMON_PROGRAM") or shutil.which("gnomon")
        if not program:
            self.skipTest("no program gnomon")
        prof = self.record(gpt, **STACKS)
        prof.profile().write(self.path("p.gnomon"))
        for words, group in (
            ("limit=-1,sort=count", {}),
            ("limit=-1,sort=count,shapes", {"group_by_input_shape": True}),
            ("limit=-1,sort=count,stack=2", {"group_by_stack_n": 2}),
        ):
            done = subprocess.run(
                [program, "report", "--as", f"averages({words})", self.path("p.gnomon")],
                capture_output=True,
                text=True,
            )
            table = prof.key_averages(**group).table(sort_by="count", row_limit=-1)
            self.assertIn(table, done.stdout, done.stderr)


class Contents(Case):
    def test_operations_say_what_they_compute(self):
        with gnomon.profile(**ALL) as prof:
            torch.mm(torch.ones(2, 3), torch.ones(3, 4))
        (event,) = (e for e in prof.events() if e.name == "aten::mm")
        self.assertEqual(event.input_shapes, [[2, 3], [3, 4]])
        op = event.node.op
        self.assertEqual((op.operation, op.flops), ("aten::mm", 48))
        self.assertEqual([tensor.dtype for tensor in op.inputs], ["float", "float"])
        self.assertEqual(event.node.work.flops, 48)
        memory = [e for e in prof.profile().events if e.kind == "memory"]
        self.assertEqual({e.pool.name for e in memory}, {"host"})
        self.assertEqual(sum(e.value for e in memory if e.value > 0), 4 * (6 + 12 + 8))

    def test_stacks_of_flops_and_bytes(self):
        with gnomon.profile(with_stack=True, **ALL) as prof:
            with torch.profiler.record_function("a layer"):
                torch.ones(2, 3) @ torch.ones(3, 4)
        own = {}
        for metric in ("flops", "allocated_bytes"):
            prof.export_stacks(self.path(metric), metric)
            with open(self.path(metric)) as file:
                rows = [line.rsplit(" ", 1) for line in file.read().splitlines()]
            own[metric] = {path.split("a_layer;")[1]: int(n) for path, n in rows}
        self.assertEqual(own["flops"], {"aten::matmul;aten::mm": 48})
        self.assertEqual(own["allocated_bytes"]["aten::matmul;aten::mm"], 4 * 8)
        self.assertEqual(sum(own["allocated_bytes"].values()), 4 * (6 + 12 + 8))

    def test_stacks_of_any_letters(self):
        code = compile("def odd():\n torch.ones(2)", "a;b\tc\nd e.py", "exec")
        found = {"torch": torch}
        exec(code, found)
        with gnomon.profile(**STACKS) as prof:
            found["odd"]()
        prof.export_stacks(self.path("ours"))
        prof.profiler.export_stacks(self.path("theirs"))
        with open(self.path("ours")) as ours, open(self.path("theirs")) as theirs:
            text = ours.read()
            self.assertEqual(text, theirs.read())
        self.assertIn("a_b_c_d_e.py", text)

    def test_strides_are_those_of_torch(self):
        with gnomon.profile(record_shapes=True) as prof:
            torch.cat([torch.ones(8, 2).t() @ torch.ones(8, 4)] * 2)
        ops = {op.operation: op.inputs for op in prof.profile().ops}
        strides = [of.strides and list(of.strides) for of in ops["aten::mm"]]
        self.assertEqual(strides, [[1, 2], [4, 1]])
        self.assertFalse(any(of.strides for of in ops["aten::cat"]))

    def test_backward_is_linked_with_forward(self):
        with gnomon.profile(record_shapes=True) as prof:
            x = torch.ones(2, 3, requires_grad=True)
            torch.exp(x).sum().backward()
        links = {
            (link.cause.name, link.effect.name)
            for link in prof.profile().links
            if link.kind == "backward"
        }
        self.assertEqual(
            links, {("aten::exp", "ExpBackward0"), ("aten::sum", "SumBackward0")}
        )

    def test_scopes_of_gnomon_are_around_operations(self):
        import gnomon.torch

        model = nn.Sequential(nn.Linear(4, 4))
        with gnomon.torch.watch(model), gnomon.profile(record_shapes=True) as prof:
            with gnomon.record_function("step"), torch.profiler.record_function("label"):
                model(torch.ones(2, 4))
        (event,) = (e for e in prof.events() if e.name == "aten::addmm")
        path = event.node.path
        self.assertEqual(path, ("step", "label", "model", "model.0", *path[-2:]))
        self.assertEqual(sum(e.name == "label" for e in prof.events()), 1)

    def test_steps_are_torchs(self):
        seen = []
        with gnomon.profile(
            schedule=gnomon.schedule(wait=1, warmup=1, active=2, repeat=1),
            on_trace_ready=lambda prof: seen.append(prof.key_averages()),
            **ALL,
        ) as prof:
            for _ in range(6):
                torch.ones(2)
                prof.step()
        (rows,) = seen
        counts = {row.key: row.count for row in rows}
        self.assertEqual((counts["ProfilerStep*"], counts["aten::ones"]), (2, 2))
        self.assertEqual(str(rows), str(prof.profiler.key_averages()))
        prof.export_chrome_trace(self.path("trace.json"))
        with open(self.path("trace.json")) as file:
            rows = [r for r in json.load(file)["traceEvents"] if r["ph"] == "X"]
        names = [r["name"] for r in rows]
        self.assertEqual(names.count("ProfilerStep#2"), 1)
        self.assertEqual(names.count("aten::ones"), 2)

    def test_memory_timeline_is_torchs(self):
        with gnomon.profile(**STACKS) as prof:
            convolution()()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # newer ones want another way
            prof.export_memory_timeline(self.path("t.json"), device="cpu")
        with open(self.path("t.json")) as file:
            times, sizes = json.load(file)
        self.assertEqual(len(times), len(sizes))

    def test_a_cuda_metric_without_cuda_gives_an_empty_file(self):
        with gnomon.profile(**STACKS) as prof:
            convolution()()
        prof.export_stacks(self.path("s"), "self_cuda_time_total")
        self.assertEqual(os.path.getsize(self.path("s")), 0)


class Recipes(Case):
    """Those of torch's tutorial, whose import alone is another."""

    def both(self, recipe):
        found = []
        for package in (torch.profiler, gnomon):
            os.chdir(self.folder)
            found.append(recipe(package))
        self.assertEqual(*found)

    def setUp(self):
        super().setUp()
        self.addCleanup(os.chdir, os.getcwd())
        self.model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.Flatten())
        self.inputs = torch.randn(2, 3, 8, 8)

    def test_time_and_shapes(self):
        def recipe(p):
            cpu = [p.ProfilerActivity.CPU]
            with p.profile(activities=cpu, record_shapes=True) as prof:
                with p.record_function("model_inference"):
                    self.model(self.inputs)
            str(prof.key_averages().table(sort_by="cpu_time_total", row_limit=10))
            rows = prof.key_averages(group_by_input_shape=True)
            rows.table(sort_by="cpu_time_total", row_limit=10)
            return [(r.key, r.count, str(r.input_shapes)) for r in rows]

        self.both(recipe)

    def test_memory(self):
        def recipe(p):
            cpu = [p.ProfilerActivity.CPU]
            with p.profile(
                activities=cpu, profile_memory=True, record_shapes=True
            ) as prof:
                self.model(self.inputs)
            rows = prof.key_averages()
            self.assertIn("CPU Mem", rows.table(sort_by="self_cpu_memory_usage"))
            return [(r.key, r.self_cpu_memory_usage, r.cpu_memory_usage) for r in rows]

        self.both(recipe)

    def test_tracing_and_stacks(self):
        def recipe(p):
            cpu = [p.ProfilerActivity.CPU]
            with p.profile(activities=cpu, with_stack=True, record_shapes=True) as prof:
                self.model(self.inputs)
            prof.export_chrome_trace("trace.json")
            prof.key_averages(group_by_stack_n=5).table(sort_by="self_cuda_time_total")
            prof.export_stacks("profiler_stacks.txt", "self_cuda_time_total")
            with open("trace.json") as file:
                rows = json.load(file)["traceEvents"]
            names = [r["name"] for r in rows if r["ph"] == "X" and "aten" in r["name"]]
            return sorted(names), os.path.getsize("profiler_stacks.txt")

        self.both(recipe)

    def test_long_running_jobs(self):
        def recipe(p):
            seen = []

            def trace_handler(prof):
                rows = prof.key_averages()
                rows.table(sort_by="self_cpu_time_total", row_limit=10)
                seen.append((prof.step_num, sorted((r.key, r.count) for r in rows)))
                prof.export_chrome_trace(f"trace_{prof.step_num}.json")

            with p.profile(
                activities=[p.ProfilerActivity.CPU],
                with_flops=True,
                schedule=p.schedule(wait=1, warmup=1, active=2),
                on_trace_ready=trace_handler,
            ) as prof:
                for _ in range(8):
                    self.model(self.inputs)
                    prof.step()
            return seen

        self.both(recipe)


class OneSession(Case):
    """torch has one session in a process."""

    def test_where_one_is_open_there_is_none_of_ours(self):
        with torch.profiler.profile() as theirs:
            with self.assertWarnsRegex(UserWarning, "torch's only one"):
                ours = gnomon.profile(**ALL)
                ours.start()
            with gnomon.scope("mine"):
                torch.exp(torch.ones(2))
            ours.stop()
        self.assertIn("aten::exp", [row.key for row in theirs.key_averages()])
        self.assertEqual([row.key for row in ours.key_averages()], ["mine"])
        self.assertIs(ours.profiler, ours)

    def test_one_that_opens_inside_is_its_owners(self):
        for ends_first in (True, False):
            _arguments.named.clear()
            ours = gnomon.profile(**ALL)
            theirs = torch.profiler.profile()
            with ours:
                with gnomon.scope("mine"):
                    torch.sin(torch.ones(2))
                with self.assertWarnsRegex(UserWarning, "another profiler took it"):
                    theirs.start()
                torch.exp(torch.ones(2))
                if ends_first:
                    theirs.stop()
            if not ends_first:
                theirs.stop()
            self.assertIn("aten::exp", [row.key for row in theirs.key_averages()])
            self.assertEqual([row.key for row in ours.key_averages()], ["mine"])
            self.check_again()

    def check_again(self):
        """The next session is as any other."""
        with gnomon.profile(**ALL) as prof:
            torch.exp(torch.ones(2))
        self.assertIn("aten::exp", [row.key for row in prof.key_averages()])
        self.assertFalse(torch.autograd._profiler_enabled())

    def test_two_of_ours(self):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with gnomon.profile(**ALL) as outer, gnomon.profile(**ALL) as inner:
                torch.exp(torch.ones(2))
        self.assertIn("aten::exp", [row.key for row in outer.key_averages()])
        self.assertNotIn("aten::exp", [row.key for row in inner.key_averages()])

    def test_one_that_was_prepared_and_not_begun_is_gone(self):
        plan = [gnomon.ProfilerAction.WARMUP, gnomon.ProfilerAction.NONE]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with gnomon.profile(schedule=lambda step: plan[min(step, 1)], **ALL) as prof:
                prof.step()
                self.assertFalse(torch.autograd._profiler_enabled())
        self.check_again()


if __name__ == "__main__":
    unittest.main()
