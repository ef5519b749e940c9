# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""python_step.py [WIDTH BATCH LENGTH ROUNDS]: what gnomon.torch.watch adds to a training
step of a transformer of four blocks, in CPU time of one thread, beside torch.profiler;
and what its operators add, where `python -m gnomon.torch build` has compiled that.
Each watched part lies between two plain ones, and the median of the ratios counts."""
import os
import statistics
import sys
import time

os.environ["KINETO_LOG_LEVEL"] = "9"
import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile

import gnomon
import gnomon.torch

WIDTH, BATCH, LENGTH, ROUNDS = map(int, sys.argv[1:] or (64, 4, 16, 15))
WORDS = 128


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.q, self.k, self.v, self.out = (nn.Linear(WIDTH, WIDTH) for _ in range(4))
        self.up, self.act = nn.Linear(WIDTH, 4 * WIDTH), nn.GELU()
        self.down = nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        y = self.norm1(x)
        q, k, v = (
            part(y).view(BATCH, LENGTH, 4, -1).transpose(1, 2)
            for part in (self.q, self.k, self.v)
        )
        mixed = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).reshape(BATCH, LENGTH, WIDTH))
        return x + self.down(self.act(self.up(self.norm2(x))))


torch.manual_seed(0)
torch.set_num_threads(1)
model = nn.Sequential(
    nn.Embedding(WORDS, WIDTH),
    *(Block() for _ in range(4)),
    nn.LayerNorm(WIDTH),
    nn.Linear(WIDTH, WORDS),
)
optimizer = torch.optim.AdamW(model.parameters(), 1e-3)
words = torch.randint(0, WORDS, (BATCH, LENGTH))


def run(steps=10):
    """Microseconds of a step."""
    begin = time.process_time_ns()
    for _ in range(steps):
        optimizer.zero_grad()
        out = model(words).flatten(0, 1)
        nn.functional.cross_entropy(out, words.flatten()).backward()
        optimizer.step()
    return (time.process_time_ns() - begin) / steps / 1e3


def watched(spec):
    gnomon.configure(spec)
    with gnomon.torch.watch(model, optimizer):
        run(2)
        found = run()
    gnomon.configure(None)
    return found


def operators():
    gnomon.configure("tree(file=/dev/null)")
    with gnomon.torch.watch(operators=True):
        run(2)
        found = run()
    gnomon.configure(None)
    return found


def profiled(**options):
    with profile(activities=[ProfilerActivity.CPU], **options):
        run(2)
        return run()


ROWS = {
    "watched, off": lambda: watched(None),
    "watched, simple": lambda: watched("simple(file=/dev/null)"),
    "watched, tree": lambda: watched("tree(file=/dev/null)"),
    "torch.profiler": profiled,
    "operators, tree": operators,
    "torch.profiler with shapes": lambda: profiled(record_shapes=True),
}
run(20)
ratios, plains = {name: [] for name in ROWS}, []
for turn in range(ROUNDS):
    for name, measure in sorted(ROWS.items(), reverse=turn % 2 == 1):
        before = run()
        found = measure()
        plains.append((before + run()) / 2)
        ratios[name].append(found / plains[-1])
plain, modules = statistics.median(plains), sum(1 for _ in model.modules())
print(f"plain: {plain:.0f} us, {modules} modules")
for name, found in ratios.items():
    ratio = statistics.median(found)
    print(f"{name:26} {ratio:.2f}, {(ratio - 1) * plain / modules:.1f} us a module")
