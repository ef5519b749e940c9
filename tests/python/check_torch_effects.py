# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What gnomon.torch leaves as it was: numbers, graphs, saved models, torch itself."""
import copy
import gc
import io
import pickle
import sys
import threading
import unittest
import weakref

import torch
from torch import nn

import gnomon
import gnomon.torch
from torch_case import Case, Model, batch, marks, names


class Untouched(Case):
    def graph(self, tensor):
        """The names of the nodes behind a tensor, in order."""
        seen, order, todo = set(), [], [tensor.grad_fn]
        while todo:
            node = todo.pop()
            if node not in seen:
                seen.add(node)
                order.append(node.name())
                todo += [n for n, _ in node.next_functions if n is not None]
        return order

    def test_numbers_gradients_and_graphs_are_the_same(self):
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.parts = nn.ModuleList(nn.Linear(4, 4) for _ in range(4))
                self.embed = nn.Embedding(5, 4)

            def forward(self, tokens):
                x = self.embed(tokens)
                for i, part in enumerate(self.parts):
                    x = part(x)
                    if i % 2:  # in place on what a layer made
                        x.relu_()
                    else:
                        x.add_(1)[0].mul_(2)
                return x

        results = []
        for watched in (False, True):
            torch.manual_seed(3)
            model = Net()
            handle = self.watch(model) if watched else None
            optimizer = torch.optim.Adam(model.parameters())
            for _ in range(3):
                out = model(torch.tensor([[0, 1], [2, 3]]))
                out.retain_grad()
                graph = self.graph(out)
                out.square().mean().backward()
                grads = [p.grad.clone() for p in model.parameters()] + [out.grad]
                optimizer.step()
                optimizer.zero_grad()
            results.append((graph, out, grads, list(model.parameters())))
        self.assertEqual(results[0][0], results[1][0])
        self.assertTrue(torch.equal(results[0][1], results[1][1]))
        for part in (2, 3):
            for a, b in zip(results[0][part], results[1][part]):
                self.assertTrue(torch.equal(a, b))
        found = names(lambda: model(torch.tensor([[0, 1], [2, 3]])).sum().backward())
        for i in range(4):
            self.assertEqual(found[f"model.parts.{i} backward"], 1)

    def test_models_are_saved_and_copied_without_gnomon(self):
        model = Model()
        plain = pickle.dumps(model)
        state = set(model.__dict__)
        handle = self.watch(model)
        model(batch()).sum().backward()
        for p in model.parameters():
            p.grad = None
        self.assertEqual(pickle.dumps(model), plain)
        self.assertEqual(set(model.__dict__), state)
        file = io.BytesIO()
        torch.save(model, file)
        self.assertNotIn(b"gnomon", file.getvalue())
        file.seek(0)
        again = torch.load(file, weights_only=False)
        twin = copy.deepcopy(model)
        self.assertEqual(list(twin.state_dict()), list(model.state_dict()))
        for other in (again, twin):
            self.assertTrue(torch.equal(other(batch() * 0), model(batch() * 0)))
            with torch.no_grad():
                self.assertEqual(marks(lambda: other(batch())), {})
        for module in model.modules():
            self.assertFalse(module._forward_hooks or module._forward_pre_hooks)
            self.assertFalse(module._backward_hooks or module._backward_pre_hooks)
        handle.close()

    def test_scripts_and_traces(self):
        class Marked(nn.Module):
            def __init__(self):
                super().__init__()
                self.linear = nn.Linear(4, 4)

            def forward(self, x):
                with torch.autograd.profiler.record_function("inner"):
                    return self.linear(x)

        model = Marked()
        self.watch(model)
        for made in (
            torch.jit.script(model),
            torch.jit.trace(model, batch()),
            torch.fx.symbolic_trace(nn.Sequential(model.linear)),
            torch.export.export(model, (batch(),)).module(),
        ):
            x = batch()
            self.assertTrue(torch.equal(made(x), model(x)))
        scripted = torch.jit.script(nn.Sequential(nn.Linear(4, 4)))
        self.watch(scripted, name="scripted")
        self.assertEqual(marks(lambda: scripted(batch())), {"scripted": 1})

    def test_closing_restores_torch(self):
        mark = torch.autograd.profiler.record_function
        module_hooks = torch.nn.modules.module._global_module_registration_hooks
        before = lambda: (
            mark.__dict__["__enter__"],
            mark.__dict__["__exit__"],
            nn.Module.__dict__["_compiled_call_impl"],
            torch.autograd._engine_run_backward,
            len(module_hooks),
        )
        was = before()
        optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], 1)
        one = gnomon.torch.watch(nn.Linear(1, 1), optimizer)
        two = gnomon.torch.watch()
        one.close()
        self.assertEqual(optimizer._optimizer_step_post_hooks, {})
        self.assertNotEqual(before()[0], was[0])
        two.close()
        self.assertEqual(before(), was)

    def test_nothing_is_kept_alive(self):
        gc.collect()
        gc.disable()
        self.addCleanup(gc.enable)
        model = Model()
        optimizer = torch.optim.SGD(model.parameters(), 0.1)
        handle = self.watch(model, optimizer)
        for _ in range(2):
            out = model(batch())
            out.sum().backward()
            optimizer.step()
        self.assertTrue(gnomon.torch._layers)
        gone = [weakref.ref(x) for x in (model, model.head, optimizer, out)]
        del model, optimizer, out
        gnomon.configure(None)
        self.assertEqual([ref() for ref in gone], [None] * 4)
        self.assertEqual((gnomon.torch._layers, gnomon.torch._watches), ({}, []))
        calls = [x for x in gc.get_objects() if type(x).__name__ == "Call"]
        self.assertEqual(calls, [])
        handle.close()

    def test_a_graph_outlives_watches_and_model(self):
        model = nn.Linear(4, 4)
        with gnomon.torch.watch(model):
            out = model(batch()).sum()
        handle = self.watch(model)
        again = model(batch()).sum()
        del model
        gc.collect()
        self.assertEqual(gnomon.torch._layers, {})
        self.assertEqual(len(handle._layers), 0)
        found = names(lambda: (out.backward(), again.backward()))
        self.assertEqual(found, {"backward": 2, "model backward": 2})

    def test_watches_come_and_go_while_threads_call(self):
        model = nn.Sequential(nn.Identity(), nn.Identity())
        x, errors, stop = torch.zeros(1), [], threading.Event()

        def call():
            try:
                while not stop.is_set():
                    model(x)
            except Exception as error:
                errors.append(error)

        interval = sys.getswitchinterval()
        sys.setswitchinterval(1e-6)
        self.addCleanup(sys.setswitchinterval, interval)
        threads = [threading.Thread(target=call) for _ in range(3)]
        for thread in threads:
            thread.start()
        for i in range(2000):
            with gnomon.torch.watch(model):
                if i % 100 == 0:
                    gnomon.configure(None)
                    gnomon.configure("tree(file=/dev/null)")
        stop.set()
        for thread in threads:
            thread.join()
        self.assertEqual(errors, [])

    def test_a_signal_handler_closes_between_the_two_looks(self):
        model = nn.Identity()
        handle = self.watch(model)
        closed = []

        def trace(frame, event, argument):
            frame.f_trace_opcodes = True
            if gnomon.torch._looked and not closed:  # it has looked once
                closed.append(frame.f_code)
                handle.close()
            return trace

        sys.settrace(trace)
        try:
            self.assertEqual(float(model(torch.zeros(()))), 0)
        finally:
            sys.settrace(None)
        self.assertEqual(closed, [nn.Module._wrapped_call_impl.__code__])
        self.assertIsNotNone(nn.Module.__dict__["_compiled_call_impl"])
        handle.close()
        self.assertIsNone(nn.Module.__dict__["_compiled_call_impl"])

    def test_who_looks_and_does_not_call_holds_no_watch(self):
        model = nn.Identity()
        handle = self.watch(model)
        self.assertIsNotNone(model._compiled_call_impl)
        handle.close()
        self.assertIsNone(nn.Module.__dict__["_compiled_call_impl"])

    def test_off_and_on_again(self):
        gnomon.configure(None)
        model = nn.Linear(4, 4)
        self.watch(model)
        out = model(batch())
        gnomon.configure("tree(file=/dev/null)")  # what forward did not see
        self.assertEqual(marks(lambda: out.sum().backward()), {"backward": 1})
        self.assertEqual(names(lambda: model(batch())), {"model": 1})
        out = model(batch()).sum()
        gnomon.configure(None)
        out.backward()

    def test_wrong_arguments(self):
        for wrong in (lambda: gnomon.torch.watch(3), lambda: gnomon.torch.watch(len)):
            with self.assertRaises(TypeError):
                wrong()
        with self.assertRaises(AttributeError):
            gnomon.torch.watch(None, 3)
        with self.assertRaises(ZeroDivisionError):
            gnomon.torch.watch(nn.Linear(1, 1), only=lambda name, module: 1 / 0)
        with self.assertRaisesRegex(TypeError, "only=.* not int"):
            gnomon.torch.watch(nn.Linear(1, 1), only=5)
        self.assertEqual(gnomon.torch._watches, [])


if __name__ == "__main__":
    unittest.main()
