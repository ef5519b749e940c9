# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""watch(operators=True) beside torch's own session of the same steps: the same operators,
as often, of the same shapes. Run in a virtual environment that has torch; building needs
a C++ compiler and torch's headers."""
import contextlib
import ctypes
import io
import os
import shutil
import tempfile
import time
import unittest
from unittest import mock

import gnomon

os.environ["KINETO_LOG_LEVEL"] = "9"  # else a line for each start and stop
import torch  # noqa: E402
from torch import nn  # noqa: E402
import torch.profiler  # noqa: E402

import check_torch_averages as models  # noqa: E402
import gnomon.torch  # noqa: E402
from gnomon import _operators  # noqa: E402

CPU = [torch.profiler.ProfilerActivity.CPU]
PRODUCTS = ("aten::mm", "aten::bmm", "aten::addmm", "aten::conv2d")


def has_callback():
    library = os.path.join(os.path.dirname(torch.__file__), "lib", "libtorch_cpu.so")
    asks = ctypes.CDLL(library)["_ZN2at18hasGlobalCallbacksEv"]
    asks.restype = ctypes.c_bool
    return asks()


def wait_until_over():
    """A forked function's scope may end after who waits for it has its result."""
    end = time.monotonic() + 20
    while gnomon.snapshot("tree").opens and time.monotonic() < end:
        time.sleep(0.001)


def rows_of(prof):
    rows = prof.key_averages(group_by_input_shape=True)
    return {(row.key, str(row.input_shapes)): row for row in rows}


class Operators(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        compiler = (os.environ.get("CXX") or "c++").split()[0]
        if not shutil.which(compiler):
            raise unittest.SkipTest(f"no C++ compiler: {compiler}")
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        change = mock.patch.dict(os.environ, XDG_CACHE_HOME=folder.name)
        change.start()
        cls.addClassCleanup(change.stop)
        try:
            cls.built = _operators.build()
        except RuntimeError as error:
            raise unittest.SkipTest(str(error)) from None

    def record(self, step):
        """What both found of the same steps."""
        step()
        # Else torch's session sees one thread alone.
        config = torch._C._profiler._ExperimentalConfig(profile_all_threads=True)
        options = {"activities": CPU, "experimental_config": config}
        options.update(record_shapes=True, with_flops=True)
        gnomon.configure("tree(file=/dev/null)")
        with gnomon.torch.watch(operators=True):
            self.assertTrue(has_callback())
            with gnomon.profile(CPU) as ours:
                with torch.profiler.profile(**options) as theirs:
                    step()
                    step()
                    wait_until_over()
        gnomon.configure(None)
        self.assertFalse(has_callback())
        return ours, theirs

    def test_torchs_table_has_the_same(self):
        for make in models.MODELS:
            with self.subTest(make.__name__):
                ours, theirs = map(rows_of, self.record(make()))
                ours.pop(("backward", "[]"), None)  # watch()'s own
                counts = {key: row.count for key, row in theirs.items()}
                self.assertEqual({key: row.count for key, row in ours.items()}, counts)
                for key, row in theirs.items():
                    if key[0] in PRODUCTS:
                        self.assertEqual(ours[key].flops, row.flops, key)

    def test_types_are_torchs(self):
        def step():
            torch.stack([torch.ones(2, dtype=torch.bfloat16)] * 2).sum(0)

        ours, theirs = self.record(step)
        ops = {row.operation: row for row in ours.profile().ops}
        found = [
            (event.name(), list(event.dtypes()))
            for event in theirs.profiler.kineto_results.events()
            if event.dtypes()
        ]
        for name, types in found:
            if name in ops:
                self.assertEqual([one.dtype for one in ops[name].inputs], types, name)
        self.assertIn("TensorList", [t for _, types in found for t in types])

    def test_backward_is_linked_with_forward(self):
        def step():
            x = torch.ones(2, 3, requires_grad=True)
            torch.exp(x).sum().backward()

        ours, _ = self.record(step)
        links = [link for link in ours.profile().links if link.kind == "backward"]
        names = {(link.cause.name, link.effect.name) for link in links}
        of = {("aten::exp", "ExpBackward0"), ("aten::sum", "SumBackward0")}
        self.assertEqual(names, of)
        self.assertEqual(sum(link.count for link in links), 4)
        flags = {op.operation: op.flags & 1 for op in ours.profile().ops}
        self.assertEqual((flags["ExpBackward0"], flags["aten::mul"]), (1, 0))

    def test_layers_are_around_operators(self):
        model = nn.Sequential(nn.Linear(4, 4))
        with gnomon.torch.watch(model, operators=True), gnomon.profile(CPU) as prof:
            with torch.profiler.record_function("label"):
                model(torch.ones(2, 4)).sum().backward()
        paths = {event.node.path for event in prof.events()}
        of = ("label", "model", "model.0", "aten::linear", "aten::addmm")
        self.assertIn(of, paths)
        self.assertEqual(sum(e.name == "label" for e in prof.events()), 1)
        health = gnomon.health()
        self.assertEqual((health["crossed"], health["unmatched"]), (0, 0))

    def test_torchs_session_for_us_has_each_once(self):
        with gnomon.torch.watch(operators=True):
            with gnomon.profile(CPU, record_shapes=True) as prof:
                torch.exp(torch.ones(2))
        (row,) = (row for row in prof.key_averages() if row.key == "aten::exp")
        self.assertEqual(row.count, 1)

    def test_the_allocator_of_cuda_tells_pools(self):
        """By a header that plays the allocator's part, with torch's own entries."""
        fake = os.path.join(os.path.dirname(os.path.abspath(__file__)), "fake_cuda")
        told, names = [], ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_char_p)
        call = ctypes.CFUNCTYPE(None, ctypes.c_size_t, *[ctypes.c_size_t] * 2)
        keep = [names(lambda name: told.append(name) or 7)]
        for word, count in dict(allocated=2, freed=1, reserved=1, exhausted=1).items():
            tell = lambda *given, w=word, n=count + 1: told.append((w, given[:n]))
            keep.append(call(tell))
        calls = (ctypes.c_void_p * 11)(
            *[None] * 6, *[ctypes.cast(one, ctypes.c_void_p) for one in keep]
        )
        with tempfile.TemporaryDirectory() as folder, mock.patch.dict(
            os.environ, XDG_CACHE_HOME=folder
        ), mock.patch.object(
            _operators, "_cuda", lambda root: ["-DGNOMON_CUDA", "-I" + fake]
        ):
            library = _operators.load(_operators.build())
        library.gnomon_operators_stop(library.gnomon_operators_start(calls))
        self.assertIsNone(library.gnomon_operators_cuda((ctypes.c_uint64 * 1)(100), 1))
        library.play()
        self.assertEqual(told[0], b"cuda:0")
        self.assertEqual(
            told[1:],
            [
                ("reserved", (7, 2100)),
                ("allocated", (7, 4096, 512)),
                ("freed", (7, 4096)),
                ("reserved", (7, 100)),
                ("exhausted", (7, 1 << 40)),
            ],
        )

        ctypes.c_int.in_dll(library, "refuses").value = 1
        said = io.StringIO()
        with mock.patch.object(_operators, "_library", library), mock.patch.object(
            torch.cuda, "device_count", lambda: 0
        ), contextlib.redirect_stderr(said):
            _operators._attach_cuda()
        self.assertEqual(
            said.getvalue(),
            "gnomon.torch.watch: memory of CUDA is not recorded: "
            "it does not yet support that\n",
        )

    def test_the_allocator_of_cuda_is_asked_once_and_in_no_lock(self):
        """torch calls us in its own lock as CUDA starts."""
        asked = []
        ask = lambda call: asked.append((call, _operators._lock._is_owned()))
        with mock.patch.object(_operators, "_library", mock.Mock()), mock.patch.object(
            _operators, "_has_cuda", False
        ), mock.patch.object(torch.cuda, "_lazy_call", ask):
            for _ in range(2):
                _operators.begin()
                _operators.end()
        self.assertEqual(asked, [(_operators._attach_cuda, False)])

    def test_another_torch_refuses_it(self):
        with mock.patch.object(torch, "__version__", "2.4.0"):
            with self.assertRaisesRegex(RuntimeError, "not built .*2.4.0: run `python -m"):
                _operators.load(_operators.path())
            with self.assertRaisesRegex(RuntimeError, "this is 2.4.0: run `python -m"):
                _operators.load(self.built)

    def test_without_it_layers_alone_are_recorded(self):
        said = io.StringIO()
        model = nn.Linear(2, 2)
        with mock.patch.object(_operators, "_library", None):
            with mock.patch.object(_operators, "path", lambda: "/nonexistent.so"):
                with contextlib.redirect_stderr(said):
                    watch = gnomon.torch.watch(model, operators=True)
        with watch, gnomon.profile(CPU) as prof:
            self.assertFalse(has_callback())
            model(torch.ones(2, 2))
        self.assertEqual([row.key for row in prof.key_averages()], ["model"])
        self.assertRegex(said.getvalue(), "^gnomon.torch.watch: operators are not .*\n$")

    def test_a_watch_that_fails_leaves_no_callback(self):
        with self.assertRaises(AttributeError):
            gnomon.torch.watch(nn.Linear(2, 2), object(), operators=True)
        self.assertFalse(has_callback())

    def test_a_watch_of_layers_adds_no_callback(self):
        with gnomon.torch.watch(nn.Linear(2, 2)):
            self.assertFalse(has_callback())


class Memory(unittest.TestCase):
    def torchs(self, step):
        """Allocations, their bytes and frees of torch's own session."""
        with torch.profiler.profile(activities=CPU, profile_memory=True) as prof:
            step()
        events = prof.profiler.kineto_results.events()
        moved = [event.nbytes() for event in events if event.name() == "[memory]"]
        taken = [bytes for bytes in moved if bytes > 0]
        return len(taken), sum(taken), len(moved) - len(taken)

    def test_each_allocation_of_torch_is_marked(self):
        before = gnomon.spec()
        self.addCleanup(gnomon.configure, before)
        try:
            gnomon.configure("+memory(file=/dev/null)")
        except (gnomon.Error, ValueError):
            self.skipTest("no libgnomon-memory.so where the loader looks")
        model = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 8))
        batch = torch.randn(16, 32)

        def step():
            model(batch).square().mean().backward()
            model.zero_grad(set_to_none=True)

        step()
        self.torchs(step)  # its first session takes something itself
        wanted = self.torchs(step)
        with gnomon.torch.watch(memory=True), gnomon.torch.watch(memory=True):
            with gnomon.scope("watched"):
                step()
        with gnomon.scope("off"):
            step()
        nodes = gnomon.snapshot("memory").nodes  # backward has one of its own
        of = [m for node in nodes if "watched" in node.path for m in node.memory]
        fields = "allocations", "allocated_bytes", "frees", "unknown", "held_bytes"
        sums = tuple(sum(getattr(m, field) for m in of) for field in fields)
        self.assertEqual(sums, (*wanted, 0, 0))
        self.assertFalse([node.memory for node in nodes if "off" in node.path][0])


if __name__ == "__main__":
    unittest.main()
