# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The type stubs name what the package has."""
import ast
import os
import subprocess
import sys
import unittest

import gnomon
import gnomon._profiles

FOLDER = os.path.dirname(gnomon.__file__)
OF_OBJECTS = {  # attributes of a gnomon.profile, which the class has not
    "activities",
    "current_action",
    "custom_trace_id_callback",
    "on_trace_ready",
    "profile_memory",
    "record_shapes",
    "schedule",
    "step_num",
    "with_flops",
    "with_modules",
    "with_stack",
}
EVENTS = {"Frame", "StepEvent", "CounterEvent", "MarkEvent", "ThreadEvent"}


def stub(name):
    with open(os.path.join(FOLDER, name + ".pyi")) as file:
        tree = ast.parse(file.read())
    return {
        node.name: node
        for node in tree.body
        if isinstance(node, (ast.ClassDef, ast.FunctionDef))
    }


def members(node):
    names = set()
    for item in node.body:
        if isinstance(item, ast.FunctionDef):
            names.add(item.name)
        elif isinstance(item, ast.AnnAssign):
            names.add(item.target.id)
    return names


class Stubs(unittest.TestCase):
    def test_they_name_all_that_is_public(self):
        stubbed = set(stub("__init__")) - EVENTS | {"Profile"}
        self.assertEqual(stubbed, {*gnomon.__all__, "range"})  # which hides Python's
        self.assertLessEqual(set(gnomon.__all__), set(dir(gnomon)))
        self.assertTrue(os.path.exists(os.path.join(FOLDER, "py.typed")))

    def test_classes_have_what_they_say(self):
        for name, node in stub("__init__").items():
            if isinstance(node, ast.ClassDef) and name not in EVENTS | {"Error"}:
                for member in members(node) - OF_OBJECTS:
                    self.assertTrue(
                        hasattr(getattr(gnomon, name), member), (name, member)
                    )

    def test_averages_have_what_they_say(self):
        from gnomon import _averages

        for name, node in stub("_averages").items():
            for member in members(node):
                self.assertTrue(hasattr(getattr(_averages, name), member), member)

    def test_entities_have_their_fields(self):
        stubs = stub("_profiles")
        for kind, plain in gnomon._profiles._plain.items():
            fields = members(stubs[plain.__name__])
            self.assertLessEqual(set(plain._fields) - {"from"}, fields, kind)
            for field in fields:
                self.assertTrue(hasattr(plain, field), (kind, field))

    def test_functions_have_the_arguments_that_they_say(self):
        import inspect

        for name, node in stub("__init__").items():
            if not isinstance(node, ast.FunctionDef):
                continue
            said = [a.arg for a in node.args.posonlyargs + node.args.args]
            said += [a.arg for a in node.args.kwonlyargs]
            given = inspect.signature(getattr(gnomon, name)).parameters
            self.assertEqual(list(given), said, name)

    def test_torchs_stub_has_what_its_source_has(self):
        with open(os.path.join(FOLDER, "torch.py")) as file:
            source = ast.parse(file.read())
        (said,) = [
            ast.literal_eval(node.value)
            for node in source.body
            if isinstance(node, ast.Assign) and node.targets[0].id == "__all__"
        ]
        stubs = stub("torch")
        self.assertEqual(sorted(stubs), said)
        for node in source.body:
            if getattr(node, "name", None) == "watch":
                arguments = [a.arg for a in node.args.args + node.args.kwonlyargs]
            if getattr(node, "name", None) == "Watch":
                self.assertLessEqual(members(stubs["Watch"]), members(node))
        node = stubs["watch"].args
        self.assertEqual([a.arg for a in node.args + node.kwonlyargs], arguments)

    def test_it_has_no_more_attributes_than_it_says(self):
        with self.assertRaisesRegex(AttributeError, "'gnomon' has no attribute 'tensor'"):
            gnomon.tensor

    def test_profile_has_what_its_stub_says(self):
        import inspect

        stubs = stub("__init__")["profile"]
        self.assertLessEqual(OF_OBJECTS, members(stubs))
        for member in members(stubs):
            self.assertIn(member, dir(gnomon.profile()))  # some need a cycle
        for node in stubs.body:
            if not isinstance(node, ast.FunctionDef) or node.name.startswith("__e"):
                continue
            if node.args.vararg or node.decorator_list:
                continue
            said = [a.arg for a in node.args.args + node.args.kwonlyargs]
            given = inspect.signature(getattr(gnomon.profile, node.name)).parameters
            self.assertEqual(list(given), said, node.name)
        public = {name for name in vars(gnomon.profile) if not name.startswith("_")}
        self.assertLessEqual(public, members(stubs))

    def test_importing_it_loads_nothing_large(self):
        loaded = subprocess.run(
            [
                sys.executable,
                "-S",
                "-c",
                "import sys, os; before = set(sys.modules); import gnomon;"
                "print(*sorted(set(sys.modules) - before))",
            ],
            env=dict(os.environ, PYTHONPATH=os.path.dirname(FOLDER)),
            capture_output=True,
            text=True,
        )
        self.assertEqual(loaded.stdout, "atexit gnomon gnomon._gnomon\n", loaded)


if __name__ == "__main__":
    unittest.main()
