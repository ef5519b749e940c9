# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Interpreters that come and go in one process, with one lock or with one each: all
record into one run."""
import textwrap
import unittest

from runs import calls, own_lines, run

MAKE = """
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters

def make(kind):
    try:
        return interpreters.create(kind)
    except TypeError:
        return interpreters.create()

def execute(one, code):
    failed = interpreters.run_string(one, code)
    assert failed is None, failed
"""


class Interpreters(unittest.TestCase):
    def setUp(self):
        out, err = run(
            """
            for name in ("_interpreters", "_xxsubinterpreters"):
                try:
                    __import__(name)
                    print(name)
                except ImportError:
                    pass
            """
        )
        if not out:
            self.skipTest("this Python makes no interpreters")

    def test_calls_of_one_are_not_ended_by_another(self):
        out, _ = run(
            MAKE
            + textwrap.dedent(
                """
                import gnomon
                code = "\\n".join([
                    "import gnomon",
                    "def inner(): pass",
                    "with gnomon.calls():",
                    "    inner()",
                    "inner()",
                ])
                def outer(): pass
                gnomon.setup("regions")
                with gnomon.calls():
                    one = make("isolated")
                    execute(one, code)
                    outer()
                print(gnomon.summary("regions"))
                gnomon.configure("")
                """
            )
        )
        self.assertRegex(out, r"(?m)^outer +1 ")
        self.assertRegex(out, r"(?m)^inner +1 ")

    def test_all_share_one_run(self):
        for kind in ("legacy", "isolated"):
            with self.subTest(kind):
                out, err = run(
                    MAKE
                    + textwrap.dedent(
                        f"""
                        import threading, gnomon
                        code = '''
                        import gnomon
                        for _ in range(10):
                            with gnomon.scope("inside"):
                                gnomon.start("action")
                                gnomon.stop("action")
                        '''.replace("\\n" + " " * 24, "\\n")
                        def some():
                            for _ in range(3):
                                one = make({kind!r})
                                execute(one, code)
                                interpreters.destroy(one)
                        threads = [threading.Thread(target=some) for _ in range(3)]
                        for thread in threads: thread.start()
                        for thread in threads: thread.join()
                        with gnomon.scope("first"):
                            pass
                        """
                    ),
                    "simple",
                )
                self.assertEqual(own_lines(err), [])
                self.assertEqual(
                    calls(err), {"inside": 90, "action": 90, "first": 1}
                )


if __name__ == "__main__":
    unittest.main()
