# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""make_torch.py WORK GNOMON: traces of three steps of a small model, in folders of WORK.

torch/ has torch's own trace, session/ gnomon's export of the same session, and watch/ that
of the layers alone, which gnomon.torch.watch marked. Run by the Python that torch is
installed for.
"""
import json
import os
import shutil
import subprocess
import sys

import torch
from torch import nn

import gnomon
import gnomon.torch


NAME = "worker_1.1.pt.trace.json"


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm, self.up = nn.LayerNorm(width), nn.Linear(width, 2 * width)
        self.down = nn.Linear(2 * width, width)

    def forward(self, x):
        return x + self.down(torch.relu(self.up(self.norm(x))))


def steps(model, prof):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    with prof:
        for _ in range(3):  # without prof.step(), which torch's session does not see
            loss = model(torch.randn(16, 8)).square().mean()
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
    return prof


def own(prof, path):
    """torch's trace, without the rows that say since when it was ready to record."""
    prof.profiler.export_chrome_trace(path)
    with open(path, encoding="utf-8") as file:
        trace = json.load(file)
    trace["traceEvents"] = [e for e in trace["traceEvents"]
                            if e.get("cat") != "Trace" and e["ph"] != "i" or
                            e["name"] == "[memory]"]
    with open(path, "w", encoding="utf-8") as file:
        json.dump(trace, file, indent=0)


def export(gnomon_program, prof, folder):
    profile = os.path.join(folder, "run.gnomon")
    prof.profile().export("gnomon", profile)
    subprocess.run([gnomon_program, "export", profile, "--to", "chrome", "--for",
                    "tensorboard", "--modules", "-o", os.path.join(folder, NAME)], check=True)
    os.remove(profile)


def main():
    work, program = sys.argv[1:]
    shutil.rmtree(work, ignore_errors=True)
    folders = [os.path.join(work, name) for name in ("torch", "session", "watch")]
    for folder in folders:
        os.makedirs(folder)
    torch.manual_seed(1)
    torch.set_num_threads(1)
    model = nn.Sequential(Block(8), Block(8), nn.Linear(8, 4))
    prof = steps(model, gnomon.profile(
        activities=[gnomon.ProfilerActivity.CPU], record_shapes=True,
        profile_memory=True, with_stack=True, with_modules=True, with_flops=True))
    own(prof, os.path.join(folders[0], NAME))
    export(program, prof, folders[1])
    with gnomon.torch.watch(model):
        export(program, steps(model, gnomon.profile()), folders[2])


main()
