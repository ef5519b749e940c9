# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Scopes on CUDA streams: times on the device, of a driver without one."""
import re
import unittest

import fake_cuda
from runs import run


def on_device(report):
    """{name: (calls, at least so many ms of a stream)}"""
    rows = re.findall(r"^(\S+) +(\d+) +([\d.]+) +[\d.]+ .*", report, re.M)
    return {name: (int(n), float(s) * 1000) for name, n, s in rows}


class Streams(unittest.TestCase):
    def run_code(self, code, spec="cuda"):
        head = """
            import gnomon, pickle
            from fake_cuda import Stream
            stream = Stream()
        """
        variables = {"GNOMON_CUDA_LIBRARY": fake_cuda.driver()}
        return run(head.replace("            ", "") + code, spec, **variables)

    def test_they_are_timed_on_the_device(self):
        out, err = self.run_code(
            """
for _ in range(3):
    with gnomon.scope("step", "loop", stream=stream):
        stream.launch(2)
        with gnomon.scope("inner", stream=stream.cuda_stream):
            stream.launch(3)
        with gnomon.scope("host"):
            pass
@gnomon.scope("decorated", stream=stream)
def work():
    stream.launch(4)
work()
"""
        )
        rows = on_device(err)
        self.assertEqual({k: n for k, (n, _) in rows.items()},
                         {"step": 3, "inner": 3, "decorated": 1})
        self.assertGreaterEqual(rows["step"][1], 15)
        self.assertGreaterEqual(rows["inner"][1], 9)
        self.assertLess(rows["inner"][1], rows["step"][1])
        self.assertGreaterEqual(rows["decorated"][1], 4)

    def test_ends_out_of_order_are_times_of_the_host(self):
        out, err = self.run_code(
            """
a, b = gnomon.scope("a", stream=stream), gnomon.scope("b", stream=stream)
a.__enter__(); b.__enter__(); stream.launch(1); a.__exit__(); b.__exit__()
health = gnomon.health()
print(health["crossed"], health["unmatched"], health["timers_unended"])
rows = {row.name: row.host.count for row in gnomon.snapshot("cuda").rows()}
print(rows)
"""
        )
        first, second = out.splitlines()
        self.assertEqual(first.split()[:2], ["0", "0"])
        self.assertEqual(eval(second), {"a": 1, "b": 1})

    def test_without_device_times_they_are_plain(self):
        out, err = self.run_code(
            """
with gnomon.scope("s", stream=stream):
    stream.launch(1)
print({row.name: row.host.count for row in gnomon.snapshot("simple").rows()})
print(gnomon.snapshot("simple").rows()[0].device)
""",
            "simple",
        )
        self.assertEqual(out, "{'s': 1}\nNone\n")

    def test_what_a_stream_is(self):
        out, err = self.run_code(
            """
scope = gnomon.scope("s", stream=stream)
assert scope is gnomon.scope("s", None, stream.cuda_stream)
assert scope is not gnomon.scope("s")
assert scope.stream == stream.cuda_stream and gnomon.scope("s").stream is None
assert pickle.loads(pickle.dumps(scope)) is gnomon.scope("s")
assert gnomon.scope("s", stream=0).stream == 0
for wrong in ("x", 1.5, object(), -(2 ** 80)):
    try:
        gnomon.scope("s", stream=wrong)
    except (TypeError, OverflowError):
        continue
    raise AssertionError(wrong)
async def coroutine(): pass
def generator(): yield
for function in (coroutine, generator):
    try:
        scope(function)
    except TypeError:
        continue
    raise AssertionError(function)
"""
        )
        self.assertEqual((out, err.count("Traceback")), ("", 0))


if __name__ == "__main__":
    unittest.main()
