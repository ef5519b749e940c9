# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The package beside other copies of gnomon in the process, and compiled plugins."""
import os
import unittest

from runs import calls, own_lines, run

TESTS = os.environ.get("GNOMON_TESTS", "")


@unittest.skipUnless(
    os.path.exists(os.path.join(TESTS, "hosts", "left.so")), "no modules with copies"
)
class Copies(unittest.TestCase):
    def test_all_copies_give_one_table(self):
        for order in ("left, gnomon, right", "gnomon, left, right"):
            out, err = run(
                f"""
                import sys
                sys.path.insert(0, {os.path.join(TESTS, "hosts")!r})
                import {order}
                left.work(2)
                with gnomon.scope("mine"):
                    right.work(3)
                gnomon.counter("c", 1)
                assert gnomon.summary().count("mine") == 1
                """,
                "simple",
            )
            self.assertEqual(own_lines(err), [])
            self.assertEqual(calls(err), {"work": 2, "left": 2, "right": 3, "mine": 1})

    def test_a_profiler_in_python_sees_marks_of_c(self):
        for order in ("left, gnomon", "gnomon, left"):
            out, err = run(
                f"""
                import sys, threading
                sys.path.insert(0, {os.path.join(TESTS, "hosts")!r})
                import {order}
                class Names(gnomon.Profiler):
                    def __init__(self):
                        self.names = []
                    def start(self, frame):
                        self.names.append(frame.name)
                    def summary(self, profile):
                        return " ".join(self.names) + "\\n"
                gnomon.register(Names)
                left.work(2)
                with gnomon.scope("mine"):
                    pass
                thread = threading.Thread(target=left.work, args=(1,))
                thread.start()
                thread.join()
                """,
                "names",
            )
            self.assertEqual(err, "work left left mine work left\n")


class Plugins(unittest.TestCase):
    def test_a_compiled_plugin_is_loaded(self):
        plugin = os.path.join(TESTS, "plugins", "simple.so")
        if not os.path.exists(plugin):
            self.skipTest("no plugin")
        out, err = run(
            """
            import gnomon
            for _ in range(3):
                with gnomon.scope("a"):
                    pass
            """,
            plugin,
        )
        self.assertEqual(calls(err), {"a": 3})


if __name__ == "__main__":
    unittest.main()
