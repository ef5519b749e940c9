# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""gnomon.torch in whole programs: $GNOMON, CUDA streams of a driver without a device,
several processes, torch's own profiler. The programs are children of this process, which
has imported what they take a second to import of torch, and nothing of gnomon."""
import json
import os
import re
import runpy
import sys
import tempfile
import textwrap
import unittest

os.environ["KINETO_LOG_LEVEL"] = "9"  # else a line for each start and stop
import fake_cuda
import torch._dynamo  # an optimizer needs it
import torch.distributed.fsdp  # noqa: F401
import walk
from forked import run_forked, start_forked
from runs import calls

MODEL = """
import gc, os, sys, warnings
warnings.filterwarnings("ignore")
import torch
from torch import nn
import gnomon
def model():
    return nn.Sequential(nn.Linear(4, 4), nn.ReLU(inplace=True), nn.Linear(4, 4))
"""


# An autoencoder's training, its calls by cProfile and by gnomon, and who called whom.
CALLS = """
import cProfile, collections, pstats
from torch.nn import functional
class Auto(nn.Module):
    def __init__(self):
        super().__init__()
        self.encode, self.mean = nn.Linear(12, 8), nn.Linear(8, 4)
        self.spread, self.decode = nn.Linear(8, 4), nn.Linear(4, 12)
    def forward(self, x):
        z = torch.relu(self.encode(x))
        mean, spread = self.mean(z), self.spread(z)
        z = mean + torch.exp(0.5 * spread) * torch.randn_like(mean)
        return torch.sigmoid(self.decode(z)), mean, spread
net = Auto()
optimizer = torch.optim.Adam(net.parameters())
data = torch.utils.data.TensorDataset(torch.rand(40, 3, 4), torch.zeros(40))
loader = torch.utils.data.DataLoader(data, 8, shuffle=True)
def train():
    net.train()
    total = 0
    for x, _ in loader:
        x = x.view(8, 12)
        optimizer.zero_grad()
        out, mean, spread = net(x)
        loss = functional.binary_cross_entropy(out, x, reduction="sum")
        loss -= 0.5 * torch.sum(1 + spread - mean.pow(2) - spread.exp())
        total += loss.item()
        loss.backward()
        optimizer.step()
train()

def label(code):
    if isinstance(code, str):
        return "~", 0, code
    return code.co_filename, code.co_firstlineno, code.co_name

theirs, ours = collections.Counter(), collections.Counter()
profile = cProfile.Profile()
profile.enable()
train()
profile.disable()
for entry in profile.getstats():
    name = label(entry.code)
    theirs[name] += entry.callcount
    theirs[name, "primitive"] += entry.callcount - entry.reccallcount
    for inner in entry.calls or ():
        theirs[name, label(inner.code)] += inner.callcount
end = "~", 0, "<method 'disable' of '_lsprof.Profiler' objects>"
del theirs[end], theirs[end, "primitive"]

gnomon.setup("advanced(dump_stats=run,file=auto.txt)")
with gnomon.calls():
    train()
gnomon.configure("")
for name, row in pstats.Stats("auto.prof").stats.items():
    if name[2] != "<gnomon>":
        ours[name], ours[name, "primitive"] = row[1], row[0]
        for caller, edge in row[4].items():
            if caller[2] != "<gnomon>":
                ours[caller, name] = edge[0]
assert ours == theirs, (ours - theirs, theirs - ours)
assert len(ours) > 300
"""


class Programs(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def run_case(self, case, **variables):
        status, out, err = run_forked(case, self.folder, **variables)
        self.assertEqual(status, 0, err[-3000:])
        return out, err

    def run_code(self, code, spec=None, **variables):
        program = compile(MODEL + textwrap.dedent(code), "program", "exec")
        if spec is not None:
            variables["GNOMON"] = spec
        return self.run_case(lambda: exec(program, {"__name__": "__main__"}), **variables)

    def test_calls_in_training_are_those_of_cprofile(self):
        self.run_code(CALLS)

    def test_names_of_functions_of_torch_are_those_of_cprofile(self):
        inner = "autograd nn.functional linalg fft special _C".split()
        modules = ",".join(["torch", *("torch." + name for name in inner)])
        out, err = self.run_case(lambda: walk.check(modules))
        self.assertGreater(int(out.split()[-2]), 4000)

    def test_the_readme_shows_what_its_program_prints(self):
        here = os.path.dirname(os.path.abspath(__file__))
        with open(os.path.join(here, "..", "..", "README.md")) as page:
            code, shown = re.search(
                r"^```python\n(# fit.py\n.*?)^```.*?^```console torch\n(.*?)^```",
                page.read(),
                re.M | re.S,
            ).groups()
        row = re.compile(r"^( *[^ ].*?) +[\d.]+ .* (\d+) +1$", re.M)
        out, err = self.run_code(code, "tree")
        self.assertEqual(set(row.findall(err)), set(row.findall(shown)))
        self.assertEqual(len(row.findall(shown)), 10)

    def test_three_lines(self):
        out, err = self.run_code(
            """
            net = model()
            sgd = torch.optim.SGD(net.parameters(), 0.1)
            gnomon.torch.watch(net, sgd)  # imported where it is first used
            for x in torch.utils.data.DataLoader(torch.randn(6, 4), 2):
                net(x).sum().backward()
                sgd.step()
            """,
            "simple",
        )
        self.assertEqual(
            calls(err),
            {
                **{f"model{n}": 3 for n in ("", ".0", ".1", ".2")},
                **{f"model{n} backward": 3 for n in ("", ".0", ".1", ".2")},
                "backward": 3,
                "Optimizer.step#SGD.step": 3,
                "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__": 4,
            },
        )

    def test_off_says_and_costs_nothing(self):
        out, err = self.run_code(
            """
            del sys.modules["torch._dynamo"], torch._dynamo
            net = model()
            gnomon.torch.watch(net)
            net(torch.ones(1, 4)).sum().backward()
            assert not gnomon.enabled()
            assert "torch._dynamo" not in sys.modules
            out = net(torch.ones(1, 4))
            assert not [x for x in gc.get_objects() if type(x).__name__ == "Call"]
            """
        )
        self.assertEqual((out, err), ("", ""))

    def test_layers_are_timed_on_the_current_stream(self):
        out, err = self.run_code(
            """
            import gnomon.torch
            from fake_cuda import Stream
            stream = Stream()
            torch.cuda.is_initialized = lambda: True
            torch._C._cuda_getDevice = lambda: 0
            torch._C._cuda_getCurrentRawStream = lambda device: stream.cuda_stream
            class Launch(torch.autograd.Function):
                @staticmethod
                def forward(ctx, x, ms):
                    ctx.ms = ms
                    stream.launch(ms)
                    return x.clone()
                @staticmethod
                def backward(ctx, gradient):
                    stream.launch(2 * ctx.ms)
                    return gradient, None
            class Work(nn.Module):
                def __init__(self, ms):
                    super().__init__()
                    self.ms = ms
                def forward(self, x):
                    return Launch.apply(x, self.ms)
            net = nn.Sequential(Work(2), Work(5))
            gnomon.torch.watch(net)
            with torch.profiler.record_function("all"):
                net(torch.ones(1, requires_grad=True)).sum().backward()
            """,
            "cuda",
            GNOMON_CUDA_LIBRARY=fake_cuda.driver(),
        )
        rows = re.findall(r"^(\S+(?: backward)?) +1 +([\d.]+) ", err, re.M)
        ms = {name: float(seconds) * 1000 for name, seconds in rows}
        for name, least in (("model.0", 2), ("model.1", 5), ("model", 7)):
            self.assertGreaterEqual(ms[name], least)
            self.assertGreaterEqual(ms[name + " backward"], 2 * least)
        self.assertLess(ms["model.0"], ms["model"])
        self.assertGreaterEqual(ms["backward"], 14)
        self.assertGreaterEqual(ms["all"], 21)

    def test_several_processes(self):
        code = MODEL + textwrap.dedent(
            """
            import gnomon.torch
            import torch.distributed as dist
            from torch.nn.parallel import DistributedDataParallel
            from torch.distributed.fsdp import fully_shard
            from torch.distributed.device_mesh import init_device_mesh
            store = dist.FileStore(sys.argv[2], 2)
            dist.init_process_group("gloo", store=store, rank=int(sys.argv[1]),
                                    world_size=2)
            torch.manual_seed(1)
            net = DistributedDataParallel(model())
            gnomon.torch.watch(net, name="ddp")
            sharded = model()
            mesh = init_device_mesh("cpu", (2,))
            for layer in (sharded[0], sharded[2], sharded):
                fully_shard(layer, mesh=mesh)
            gnomon.torch.watch(sharded, name="fsdp")
            for _ in range(2):
                for each in (net, sharded):
                    each(torch.ones(2, 4)).sum().backward()
            dist.destroy_process_group()
            """
        )

        def case(rank):
            sys.argv[1:] = [rank, os.path.join(self.folder, "store")]
            exec(compile(code, "program", "exec"), {"__name__": "__main__"})

        children = [
            start_forked(lambda: case(rank), self.folder, GNOMON="simple") for rank in "01"
        ]
        for wait in children:
            status, out, err = wait()
            self.assertEqual(status, 0, err[-3000:])
            found = calls(err)
            for part in ("ddp", "ddp.module", "ddp.module.0", "ddp.module.2"):
                self.assertEqual(found[part], 2)
                self.assertEqual(found[part + " backward"], 2)
            for part in ("fsdp", "fsdp.0", "fsdp.2"):
                self.assertEqual(found[part], 2)
                self.assertEqual(found[part + " backward"], 2)
            self.assertEqual(found["DistributedDataParallel.forward"], 2)

    def test_a_script_switches_by_its_import(self):
        """The same files, under the same names, and the same last line."""
        script = """
            import sys, torch
            from {module} import (profile, schedule, record_function, ProfilerActivity,
                                  ProfilerAction, tensorboard_trace_handler)
            from torch.utils.data import DataLoader
            if __name__ == "__main__":
                model = torch.nn.Linear(4, 2)
                optimizer = torch.optim.SGD(model.parameters(), 0.1)
                loader = DataLoader(torch.randn(16, 4), batch_size=2, num_workers=2)
                with profile(
                    activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA],
                    schedule=schedule(wait=1, warmup=1, active=2, repeat=2),
                    on_trace_ready=tensorboard_trace_handler(sys.argv[1]),
                    record_shapes=True, profile_memory=True, with_flops=True,
                ) as prof:
                    prof.add_metadata("job", "switch")
                    for batch in loader:
                        with record_function("train"):
                            model(batch).sum().backward()
                            optimizer.step()
                            optimizer.zero_grad()
                        prof.step()
                    assert prof.current_action == ProfilerAction.NONE
                print(prof.step_num)
        """
        results = []
        for module in ("torch.profiler", "gnomon"):
            path = os.path.join(self.folder, f"with_{module}.py")
            with open(path, "w") as file:
                file.write(textwrap.dedent(script.format(module=module)))
            folder = os.path.join(self.folder, "log", module)

            def case():
                sys.argv[1:] = [folder]
                runpy.run_path(path, run_name="__main__")

            out, err = self.run_case(case, GNOMON_CUPTI_LIBRARY="/none")
            names = sorted(os.listdir(folder))
            shape = [re.sub(r"\d+", "N", name) for name in names]
            counts = []
            for name in names:
                with open(os.path.join(folder, name)) as file:
                    trace = json.load(file)
                self.assertEqual(trace["schemaVersion"], 1)
                labels = [r["name"] for r in trace["traceEvents"] if r["ph"] == "X"]
                counts.append((labels.count("train"), trace.get("job")))
            results.append((out, shape, counts))
        self.assertEqual(results[1][:2], results[0][:2])
        self.assertEqual(results[1][2], [(2, "switch"), (2, "switch")])
        self.assertEqual([c for c, _ in results[0][2]], [2, 2])


if __name__ == "__main__":
    unittest.main()
