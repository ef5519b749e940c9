# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""gnomon.torch on torch for the CPU: what is marked and where, and that nothing else
about a program changes. Run in a virtual environment that has torch; torch_programs.py
has what needs processes of its own."""
import collections
import copy
import dataclasses
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


def counts():
    """How often each path was executed up to now."""
    found = collections.Counter()
    for node in gnomon.snapshot("tree").nodes:
        if node.host is not None and node.host.count:
            found["/".join(node.path)] += node.host.count
    return found


def marks(function):
    """{path: count} of what was marked while the function ran."""
    before = counts()
    function()
    return dict(counts() - before)


def names(function):
    """The same by name, wherever it was."""
    found = collections.Counter()
    for path, count in marks(function).items():
        found[path.rpartition("/")[2]] += count
    return dict(found)


class Probe(torch.autograd.Function):
    """Does nothing but to mark where its backward runs."""

    @staticmethod
    def forward(ctx, x, name):
        ctx.name = name
        return x.clone()

    @staticmethod
    def backward(ctx, gradient):
        with gnomon.scope(ctx.name):
            return gradient.clone(), None


class Attention(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.q, self.k, self.v, self.out = (nn.Linear(width, width) for _ in range(4))

    def forward(self, x):
        scores = self.q(x) @ self.k(x).transpose(-1, -2)
        mixed = Probe.apply(torch.softmax(scores, -1), "softmax") @ self.v(x)
        return self.out(mixed)


class Gated(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.gate, self.up = nn.Linear(width, width), nn.Linear(width, width)
        self.down = nn.Linear(width, width)

    def forward(self, x):
        gate = Probe.apply(torch.relu_(self.gate(x)), "activation")
        return self.down(Probe.apply(gate * self.up(x), "product"))


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.attention, self.gated = Attention(width), Gated(width)

    def forward(self, x):
        x = x + self.attention(self.norm(x))
        return Probe.apply(x, "residual") + self.gated(x)


class Model(nn.Module):
    def __init__(self, width=4):
        super().__init__()
        self.layers = nn.ModuleList(Block(width) for _ in range(2))
        self.head = nn.Sequential(nn.Linear(width, width), nn.ReLU(inplace=True))

    def forward(self, x):
        x = Probe.apply(x, "embedding")
        for layer in self.layers:
            x = layer(x)
        return self.head(x)


def batch():
    return torch.randn(2, 3, 4)


class Case(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(1)
        gnomon.configure("tree(file=/dev/null)")
        self.addCleanup(gnomon.configure, None)
        self.addCleanup(self.check_health)

    def check_health(self):
        while gnomon.torch._watches:
            gnomon.torch._watches[-1].close()
        self.assertEqual(gnomon.torch._layers, {})
        health = gnomon.health()
        for trouble in ("crossed", "unmatched", "left_open", "foreign", "lost_links"):
            self.assertEqual(health[trouble], 0, trouble)

    def watch(self, *args, **keywords):
        handle = gnomon.torch.watch(*args, **keywords)
        self.addCleanup(handle.close)
        return handle


class Layers(Case):
    def test_forward_and_backward_nest_as_the_calls_did(self):
        model = Model()
        self.watch(model)
        found = marks(lambda: model(batch().requires_grad_()).sum().backward())
        inside = {
            "norm": [],
            "attention": ["q", "k", "v", "out"],
            "gated": ["gate", "up", "down"],
        }
        wanted = {"model": 1, "model/model.head": 1, "backward": 1}
        modules = ["head", "head.0", "head.1"]
        for layer in ("layers.0", "layers.1"):
            modules.append(layer)
            for part, parts in inside.items():
                modules.append(f"{layer}.{part}")
                modules += [f"{layer}.{part}.{name}" for name in parts]

        def path(module, ending):
            parts, steps = module.split("."), []
            for i in range(len(parts)):
                if parts[: i + 1] != ["layers"]:
                    steps.append("model." + ".".join(parts[: i + 1]) + ending)
            return "/".join(["model" + ending, *steps])

        for module in modules:
            wanted[path(module, "")] = 1
            wanted["backward/" + path(module, " backward")] = 1
        wanted["backward/model backward"] = 1
        # The backward of a model's own code is in no layer before or after it.
        of = "backward/model backward"
        wanted[of + "/embedding"] = 1
        for layer in ("layers.0", "layers.1"):
            block = f"{of}/model.{layer} backward"
            wanted[block + "/residual"] = 1
            wanted[f"{block}/model.{layer}.attention backward/softmax"] = 1
            wanted[f"{block}/model.{layer}.gated backward/product"] = 1
            wanted[f"{block}/model.{layer}.gated backward/activation"] = 1
        self.assertEqual(found, wanted)

    def test_classes_are_categories(self):
        model = Model()
        self.watch(model)
        model(batch()).sum().backward()
        regions = {r.name: r.category for r in gnomon.snapshot("tree").regions}
        self.assertEqual(regions["model.layers.1.attention.q"], "Linear")
        self.assertEqual(regions["model.layers.1.attention.q backward"], "Linear")
        self.assertEqual(regions["model"], "Model")

    def test_forward_is_linked_with_its_backward(self):
        model = nn.Linear(2, 2)
        self.watch(model)
        model(torch.ones(1, 2)).sum().backward()
        profile = gnomon.snapshot("tree")
        links = [(x.kind, x.count) for x in profile.links]
        self.assertEqual(links, [("backward", 1)])

    def test_depth_and_only_choose(self):
        model = Model()
        run = lambda: model(batch())
        with gnomon.torch.watch(model, depth=0):
            self.assertEqual(names(run), {"model": 1})
        with gnomon.torch.watch(model, depth=1):
            self.assertEqual(names(run), {"model": 1, "model.head": 1})
        with gnomon.torch.watch(model, only="*.?ttention", name="gpt"):
            self.assertEqual(
                marks(run), {f"gpt.layers.{i}.attention": 1 for i in range(2)}
            )
        with gnomon.torch.watch(model, only=lambda n, m: isinstance(m, nn.LayerNorm)):
            found = names(lambda: run().sum().backward())
        wanted = {f"model.layers.{i}.norm": 1 for i in range(2)}
        wanted.update({f"model.layers.{i}.norm backward": 1 for i in range(2)})
        probes = ("softmax", "product", "activation", "residual", "backward")
        self.assertEqual({k: v for k, v in found.items() if k not in probes}, wanted)

    def test_watching_twice_marks_once(self):
        model = nn.Sequential(nn.Linear(4, 4))
        first = self.watch(model)
        inner = self.watch(model[0], name="other")
        again = self.watch(model)
        one = {"model": 1, "model/model.0": 1}
        self.assertEqual(marks(lambda: model(batch())), one)
        first.close()
        first.close()
        self.assertEqual(marks(lambda: model(batch())), one)
        again.close()
        self.assertEqual(marks(lambda: model(batch())), {"model.0": 1})
        inner.close()
        self.assertEqual(marks(lambda: model(batch())), {})

    def test_two_models_have_two_names(self):
        one, two = nn.Linear(4, 4), nn.Linear(4, 4)
        self.watch(one)
        self.watch(two)
        self.assertEqual(marks(lambda: two(one(batch()))), {"model": 1, "model2": 1})

    def test_shared_and_recursive_modules(self):
        shared = nn.Linear(4, 4)
        model = nn.Sequential(shared, nn.ReLU(), shared)
        self.watch(model)
        found = names(lambda: model(batch()).sum().backward())
        self.assertEqual(found["model.0"], 2)
        self.assertEqual(found["model.0 backward"], 2)
        self.assertNotIn("model.2", found)

        class Recursive(nn.Module):
            def __init__(self):
                super().__init__()
                self.linear = nn.Linear(4, 4)

            def forward(self, x, n=30):
                return self.linear(self(x, n - 1)) if n else x

        model = Recursive()
        self.watch(model, name="r")
        found = names(lambda: model(batch()).sum().backward())
        self.assertEqual(found["r"], 31)
        self.assertEqual(found["r.linear backward"], 30)
        self.assertEqual(found["r backward"], 30)  # the innermost computes nothing

    def test_modules_that_are_added_later(self):
        model = nn.Sequential(nn.Linear(4, 4))
        self.watch(model, depth=2)
        model.append(nn.Sequential(nn.Linear(4, 4), nn.Sequential(nn.ReLU())))
        found = names(lambda: model(batch()))
        self.assertEqual(
            found, {"model": 1, "model.0": 1, "model.1": 1, "model.1.0": 1, "model.1.1": 1}
        )

    def test_outputs_of_all_kinds(self):
        @dataclasses.dataclass
        class Output:
            logits: torch.Tensor
            more: object = None

        class Returns(nn.Module):
            def __init__(self, make):
                super().__init__()
                self.linear, self.make = nn.Linear(4, 4), make

            def forward(self, x):
                return self.make(self.linear(x) * 2)

        for make, find in (
            (lambda y: {"a": [y]}, lambda r: r["a"][0]),
            (lambda y: (None, (y, 3)), lambda r: r[1][0]),
            (lambda y: Output(y), lambda r: r.logits),
            (lambda y: y, lambda r: r),
        ):
            model = Returns(make)
            with gnomon.torch.watch(model):
                found = marks(lambda: find(model(batch())).sum().backward())
            inner = "backward/model backward/model.linear backward"
            self.assertEqual(found.get(inner), 1, found)
        for make in (lambda y: None, lambda y: y.detach(), lambda y: y.shape, str):
            model = Returns(make)
            with gnomon.torch.watch(model):
                found = marks(lambda: model(batch()))
            self.assertEqual(found, {"model": 1, "model/model.linear": 1})

    def test_what_raises_ends_its_scope(self):
        for error in (ValueError, KeyboardInterrupt):

            class Raises(nn.Module):
                def forward(self, x):
                    raise error

            model = nn.Sequential(nn.Linear(4, 4), Raises())
            with gnomon.torch.watch(model):

                def run():
                    with self.assertRaises(error):
                        model(batch())
                    with gnomon.scope("after"):
                        pass

                found = marks(run)
            self.assertEqual(found["after"], 1)
            self.assertEqual(found["model/model.1"], 1)

    def test_a_backward_that_raises_ends_all(self):
        class Raises(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return x.clone()

            @staticmethod
            def backward(ctx, gradient):
                raise ValueError("planted")

        class Layer(nn.Linear):
            def forward(self, x):
                return super().forward(Raises.apply(super().forward(x)))

        model = nn.Sequential(Layer(4, 4))
        self.watch(model)

        def run():
            with self.assertRaises(ValueError):
                model(batch()).sum().backward()
            with gnomon.scope("after"):
                pass

        found = marks(run)
        self.assertEqual(found["after"], 1)
        self.assertEqual(found["backward/model backward/model.0 backward"], 1)

    def test_parts_of_a_backward(self):
        model = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 4))
        self.watch(model)
        out = model(batch()).sum()
        wanted = {"backward": 1, "backward/model backward": 1}
        wanted["backward/model backward/model.1 backward"] = 1
        grad = lambda: torch.autograd.grad(out, [model[1].weight], retain_graph=True)
        self.assertEqual(marks(grad), wanted)
        wanted["backward/model backward/model.0 backward"] = 1
        for _ in range(2):
            self.assertEqual(marks(lambda: out.backward(retain_graph=True)), wanted)

    def test_a_backward_inside_a_forward(self):
        class Inner(nn.Module):
            def __init__(self):
                super().__init__()
                self.linear = nn.Linear(4, 4)

            def forward(self, x):
                with torch.enable_grad():
                    self.linear(x).sum().backward()
                return self.linear(x)

        model = Inner()
        self.watch(model)
        found = marks(lambda: model(batch()).sum().backward())
        self.assertEqual(found["model/backward/model.linear backward"], 1)
        self.assertEqual(found["backward/model backward/model.linear backward"], 1)

    def test_a_thread_of_autograds_own_leaves_nothing_open(self):
        """As on a GPU, whose backward runs on a thread that did not call it."""
        model = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 4))
        self.watch(model)
        out = model(batch()).sum()
        engine = torch.autograd.Variable._execution_engine
        args = ((out,), (torch.tensor(1.0),), False, False, (model[1].weight,))

        def run():
            engine.run_backward(*args, allow_unreachable=True, accumulate_grad=True)
            with gnomon.scope("after"):
                pass

        found = marks(run)
        self.assertEqual(
            found,
            {"model backward": 1, "model backward/model.1 backward": 1, "after": 1},
        )

    def test_checkpoints_compute_forward_again_in_backward(self):
        from torch.utils.checkpoint import checkpoint

        model = nn.Sequential(nn.Linear(4, 4), nn.ReLU(inplace=True), nn.Linear(4, 4))
        self.watch(model)
        for reentrant in (True, False):
            x = batch().requires_grad_()
            run = lambda: checkpoint(model, x, use_reentrant=reentrant).sum().backward()
            found = marks(run)
            total = collections.Counter()
            for path, count in found.items():
                total[path.rpartition("/")[2]] += count
            self.assertEqual(total["model.1"], 2)
            self.assertEqual(total["model.1 backward"], 1)
            again = [p for p in found if p.startswith("backward/") and p.endswith("/model")]
            self.assertEqual(len(again), 1, found)

    def test_threads_have_paths_of_their_own(self):
        model = nn.Sequential(nn.Linear(4, 4), nn.ReLU())
        self.watch(model)

        def run():
            work = lambda: [model(batch()).sum().backward() for _ in range(40)]
            threads = [threading.Thread(target=work) for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()

        found = marks(run)
        self.assertEqual(set(found.values()), {160})
        self.assertEqual(len(found), 3 + 4)

    def test_modes(self):
        model = nn.Linear(4, 4)
        self.watch(model)
        x = batch()
        for mode in (torch.no_grad, torch.inference_mode):
            with mode():
                self.assertEqual(marks(lambda: model(x)), {"model": 1})
        with torch.autocast("cpu", torch.bfloat16):
            found = names(lambda: model(x).sum().backward())
        self.assertEqual(found["model backward"], 1)
        parameters = dict(model.named_parameters())
        call = lambda p: torch.func.functional_call(model, p, (x,)).sum()
        self.assertEqual(names(lambda: torch.func.grad(call)(parameters))["model"], 1)
        self.assertEqual(names(lambda: torch.vmap(model)(x)), {"model": 1})
        lazy = nn.LazyLinear(3)
        self.watch(lazy, name="lazy")
        self.assertEqual(names(lambda: lazy(x)), {"lazy": 1})
        torch.nn.utils.parametrizations.weight_norm(model)
        self.assertEqual(names(lambda: model(x))["model"], 1)

    def test_a_replica_is_not_the_watched_module(self):
        model = nn.Linear(4, 4)
        self.watch(model)
        replica = model._replicate_for_data_parallel()
        replica.weight, replica.bias = torch.zeros(4, 4), torch.ones(4)
        self.assertEqual(marks(lambda: replica(batch())), {})
        self.assertTrue(torch.equal(replica(batch()), torch.ones(2, 3, 4)))


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
        self.assertEqual(gnomon.torch._layers, {})
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
        self.assertEqual(gnomon.torch._watches, [])


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

    def test_they_are_scripted(self):
        self.watch()

        @torch.jit.script
        def scripted(x):
            with torch.autograd.profiler.record_function("scripted"):
                return x + 1

        self.assertEqual(float(scripted(torch.zeros(()))), 1)


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
