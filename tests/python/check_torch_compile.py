# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""gnomon.torch and torch.compile: what is visible, and that no graph is broken."""
import unittest

import torch
from torch import nn

import gnomon
import gnomon.torch
from torch_case import Case, Model, batch, marks, names


class Compiled(Case):
    class Inner(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear, self.relu = nn.Linear(4, 4), nn.ReLU()

        def forward(self, x):
            with torch.profiler.record_function("mine"):
                return self.relu(self.linear(x))

    class Outer(nn.Module):
        def __init__(self):
            super().__init__()
            self.a = Compiled.Inner()
            self.b = nn.Sequential(Compiled.Inner(), Compiled.Inner())

        def forward(self, x):
            return self.b(self.a(x))

    def setUp(self):
        super().setUp()
        self.forget()

    def forget(self):
        import torch._dynamo.testing

        torch._dynamo.reset()
        torch._dynamo.utils.counters.clear()
        self.counter = torch._dynamo.testing.CompileCounterWithBackend("aot_eager")

    def compile(self, model, **more):
        return torch.compile(model, backend=self.counter, **more)

    def check(self, model, wanted):
        run = lambda: model(batch()).sum().backward()
        run()
        self.assertEqual(names(run), wanted)
        self.assertFalse(torch._dynamo.utils.counters["graph_break"])
        return self.counter.frame_count

    WHOLE = {"model": 1, "backward": 1, "model backward": 1}

    def test_a_compiled_model_is_one_scope(self):
        for make in (self.Outer, lambda: nn.Sequential(self.Inner())):
            for hooked in (False, True):
                with self.subTest(make=make, hooked=hooked):
                    model = make()
                    if hooked:  # torch.compile then goes through the module's call
                        next(model.children()).register_forward_hook(lambda *a: None)
                    watch_first = make()
                    handle = self.watch(watch_first)
                    self.check(self.compile(watch_first, fullgraph=True), self.WHOLE)
                    regions = gnomon.snapshot("tree").regions
                    self.assertNotIn("OptimizedModule", [r.category for r in regions])
                    handle.close()
                    compiled = self.compile(model, fullgraph=True)
                    handle = self.watch(compiled)
                    self.check(compiled, self.WHOLE)
                    handle.close()

    def test_compiled_in_place_and_in_regions(self):
        model = self.Outer()
        with gnomon.torch.watch(model):
            model.compile(backend=self.counter, fullgraph=True)
            self.check(model, self.WHOLE)
        self.check(model, {})
        model = self.Outer()
        model.b[0].compile(backend=self.counter, fullgraph=True)
        self.watch(model)
        model.a.compile(backend=self.counter, fullgraph=True)
        run = lambda: model(batch())
        run()
        found = names(run)
        del found["mine"]  # of the one that is not compiled
        parts = ("", ".a", ".b", ".b.0", ".b.1", ".b.1.linear", ".b.1.relu")
        self.assertEqual(found, {"model" + part: 1 for part in parts})

    def test_watching_compiles_nothing_anew(self):
        model = self.Outer()
        compiled = self.compile(model)
        frames = self.check(compiled, {})
        handle = self.watch(compiled)
        self.check(compiled, self.WHOLE)
        handle.close()
        self.assertEqual(self.check(compiled, {}), frames)

    def test_a_broken_graph_breaks_nowhere_else(self):
        class Breaks(nn.Module):
            def __init__(self):
                super().__init__()
                self.linear = nn.Linear(4, 4)

            def forward(self, x):
                y = self.linear(x)
                torch._dynamo.graph_break()
                return y.relu()

        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.parts = nn.Sequential(Breaks(), Breaks())

            def forward(self, x):
                y = self.parts(x)
                y.sum().backward()
                return y

        seen = []
        for watched in (False, True):
            self.forget()
            model = Model()
            if watched:
                self.watch(model)
            compiled = self.compile(model)
            compiled(batch())
            found = marks(lambda: compiled(batch()))
            breaks = dict(torch._dynamo.utils.counters["graph_break"])
            seen.append((self.counter.frame_count, breaks))
        self.assertEqual(seen[0], seen[1])
        self.assertEqual(found["model/model.parts/model.parts.0"], 1)
        self.assertIn("model/backward", found)

    def test_a_backward_that_is_compiled_by_itself(self):
        from torch._dynamo import compiled_autograd

        model = self.Outer()
        self.watch(model)
        compiler = torch.compile(backend="eager", fullgraph=True)
        enable = getattr(compiled_autograd, "_enable", None) or compiled_autograd.enable
        with enable(compiler):
            found = names(lambda: model(batch()).sum().backward())
        self.assertEqual(found["model.b.0.linear"], 1)
        self.assertFalse(torch._dynamo.utils.counters["graph_break"])

    def test_compiled_functions_that_call_the_model(self):
        model = self.Outer()
        optimizer = torch.optim.SGD(model.parameters(), 0.1)
        self.watch(model, optimizer)
        step = self.compile(lambda x: model(x).sum(), fullgraph=True)
        step(batch()).backward()
        self.assertEqual(names(lambda: step(batch()).backward()), {"backward": 1})


if __name__ == "__main__":
    unittest.main()
