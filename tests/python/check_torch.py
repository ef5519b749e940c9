# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""gnomon.torch on torch for the CPU: which modules are marked, and where in the tree.
All check_torch*.py run in a virtual environment that has torch and Lightning."""
import collections
import dataclasses
import threading
import unittest

import torch
from torch import nn

import gnomon
import gnomon.torch
from torch_case import Case, Model, batch, marks, names


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

    def test_a_layer_right_after_another_needs_no_hook_at_its_end(self):
        """A Python hook costs a node more than all that ours does."""
        hooked, mixin = [], torch.autograd.function._HookMixin
        plain = mixin._register_hook

        def register(hooks, hook):
            hooked.append(hook)
            return plain(hooks, hook)

        mixin._register_hook = staticmethod(register)
        self.addCleanup(setattr, mixin, "_register_hook", staticmethod(plain))
        model = nn.Sequential(nn.Linear(4, 4), nn.ReLU(inplace=True), nn.Linear(4, 4))
        self.watch(model)
        found = marks(lambda: model(torch.randn(2, 4)).sum().backward())
        # Where each of the four begins, and where the first layer and the model end.
        self.assertEqual(sorted(map(hooked.count, set(hooked))), [1, 1, 2, 2])
        inside = {f"backward/model backward/model.{i} backward": 1 for i in range(3)}
        self.assertEqual({k: found.get(k) for k in inside}, inside)

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
        parts = ("", ".0", ".1", ".1.0", ".1.1")
        self.assertEqual(
            names(lambda: model(batch())), {"model" + part: 1 for part in parts}
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
            again = [p for p in found if p.endswith("/model")]
            self.assertEqual([p.split("/")[0] for p in again], ["backward"], found)

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


if __name__ == "__main__":
    unittest.main()
