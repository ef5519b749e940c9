# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""gnomon.torch in whole programs: $GNOMON, CUDA streams of a driver without a device,
several processes, Lightning."""
import os
import re
import subprocess
import sys
import tempfile
import textwrap
import unittest

import fake_cuda
from runs import calls, run

MODEL = """
import gc, os, sys, warnings
warnings.filterwarnings("ignore")
import torch
from torch import nn
import gnomon
def model():
    return nn.Sequential(nn.Linear(4, 4), nn.ReLU(inplace=True), nn.Linear(4, 4))
"""


class Programs(unittest.TestCase):
    def run_code(self, code, spec=None, **variables):
        return run(MODEL + textwrap.dedent(code), spec, **variables)

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
        with tempfile.TemporaryDirectory() as folder:
            environment = dict(os.environ, GNOMON="simple")
            children = [
                subprocess.Popen(
                    [sys.executable, "-B", "-c", code, str(rank), folder + "/store"],
                    env=environment,
                    stderr=subprocess.PIPE,
                    text=True,
                )
                for rank in range(2)
            ]
            for child in children:
                err = child.communicate(timeout=100)[1]
                self.assertEqual(child.returncode, 0, err[-3000:])
                found = calls(err)
                for part in ("ddp", "ddp.module", "ddp.module.0", "ddp.module.2"):
                    self.assertEqual(found[part], 2)
                    self.assertEqual(found[part + " backward"], 2)
                for part in ("fsdp", "fsdp.0", "fsdp.2"):
                    self.assertEqual(found[part], 2)
                    self.assertEqual(found[part + " backward"], 2)
                self.assertEqual(found["DistributedDataParallel.forward"], 2)

    def test_in_lightnings_fit(self):
        out, err = self.run_code(
            """
            import lightning.pytorch as L
            import gnomon.torch
            from gnomon.lightning import GnomonProfiler
            class Module(L.LightningModule):
                def __init__(self):
                    super().__init__()
                    self.net = model()
                def training_step(self, batch, i):
                    return self.net(batch).sum()
                def configure_optimizers(self):
                    return torch.optim.SGD(self.parameters(), 0.1)
            module = Module()
            gnomon.torch.watch(module)
            loader = torch.utils.data.DataLoader(torch.randn(8, 4), 2)
            class Look(L.Callback):
                def on_train_end(self, trainer, module):
                    for node in gnomon.snapshot("tree").nodes:
                        print("/".join(node.path), node.host.count)
            L.Trainer(max_epochs=1, accelerator="cpu", logger=False, callbacks=[Look()],
                      profiler=GnomonProfiler("tree"), enable_progress_bar=False,
                      enable_model_summary=False, enable_checkpointing=False,
                      default_root_dir="/nowhere").fit(module, loader)
            """
        )
        batch = "run_training_epoch/run_training_batch"
        paths = [line.split() for line in out.splitlines()]
        found = {p[0]: p[-1] for p in paths if "backward" not in p[1:]}
        inside = [p for p in found if p.startswith(batch)]
        inside = [p for p in inside if p.endswith("/model.net.2")]
        self.assertEqual([found[p] for p in inside], ["4"], out)
        self.assertIn("training_step", inside[0])
        back = [" ".join(p) for p in paths if p[-2:] == ["backward", "4"]]
        ending = "/model.net backward/model.net.2 backward 4"
        inside = [p for p in back if p.endswith(ending)]
        self.assertEqual(len(inside), 1, out)
        self.assertIn(".backward/backward/", inside[0])


if __name__ == "__main__":
    unittest.main()
