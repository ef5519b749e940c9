# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The headers and the pages describe entities as the library does (gnomon/profile.h)."""
import os
import re
import unittest

from gnomon import _gnomon
from gnomon._entities import _plain

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
STRUCTS = {"losses": "loss", "metadata": "metadata"}
FLAGS = {"nodes": "NODE", "ops": "OP"}


def text(*path):
    with open(os.path.join(SOURCE, *path), encoding="utf-8") as file:
        return file.read()


def names(kind):
    return {name for name, *_ in _gnomon._fields(kind)}


def one(kind):
    return STRUCTS.get(kind, kind[:-1])


class Described(unittest.TestCase):
    def setUp(self):
        self.headers = text("include", "gnomon.h") + text("include", "gnomon", "profile.h")
        self.page = text("docs", "file-format.md")

    def members(self, kind):
        body = re.search(
            rf"typedef struct gnomon_{one(kind)}_info {{(.*?)\n}}", self.headers, re.S
        )
        code = re.sub(r"/\*.*?\*/", "", body[1], flags=re.S)
        return set(re.findall(r"(\w+);", code)) - {"struct_size", "reserved"}

    def table(self, kind):
        rows = re.search(rf"\n\| `{kind}` \| type \| else \|\n\|.*?\n(.*?)\n\n", self.page, re.S)
        return [row.split(" | ") for row in rows[1].split("\n")]

    def test_by_the_headers(self):
        for kind in _plain:
            fields = names(kind)
            lists = {"anchor_count", "input_count", "attribute_count", "memory_count",
                     "bin_count", "slow_count"}
            self.assertEqual(self.members(kind) - lists, fields, kind)

    def test_by_the_tables_of_json(self):
        for kind in _plain:
            rows = self.table(kind)
            said = {n for row in rows for n in re.findall(r"`(\w+)`", row[0])}
            if kind in ("metadata", "attributes"):
                said.discard("value")
            self.assertEqual(said, names(kind), kind)
            words = {n: w for n, _, _, w in _gnomon._fields(kind) if w}
            for row in rows:
                name = re.search(r"`(\w+)`", row[0])[1]
                if name in words:
                    numbered = re.findall(r"`(\w+)` (\d+)", row[1])
                    of_page = [(w, int(n)) for w, n in numbered]
                    flags = name == "flags"
                    want = [
                        (w, 1 << i if flags else i) for i, w in enumerate(words[name])
                    ]
                    self.assertEqual(of_page, want, (kind, name))

    def test_by_the_table_of_sections(self):
        rows = {
            row[1]: row[2]
            for row in re.findall(r"\| `(.{4})` \| ([\w ]+) \| (.*) \|", self.page)
        }
        shown = {
            "opens": "open scope",
            "step_times": "time in steps",
            "view_times": "time of a view",
            "strips": "strip",
        }
        for kind in _plain:
            listed = rows[shown.get(kind, one(kind))].split(", ")
            self.assertEqual({item.split(" ")[-1] for item in listed}, names(kind), kind)

    def test_by_the_classes_of_cpp(self):
        classes = text("bindings", "cpp", "gnomon", "cpp", "recorded.hpp")
        for kind in _plain:
            body = re.search(
                rf"class \w+ : public entity<gnomon_{one(kind)}_info,(.*?)\n}};", classes, re.S
            )[1]
            for name, _, of, _ in _gnomon._fields(kind):
                if of:
                    leads = rf"LEADS_TO\({STRUCTS.get(of, of[:-1])}, {name}\)"
                    self.assertRegex(body, rf"{leads}|recorded::\w+ {name}\(\) const", kind)
            lists = re.findall(r"(\w+)_count\)", body)
            members = re.search(
                rf"typedef struct gnomon_{one(kind)}_info {{(.*?)\n}}", self.headers, re.S
            )[1]
            self.assertEqual(lists, re.findall(r"size_t (\w+)_count;", members), kind)

    def test_each_flag_has_a_word(self):
        for kind, prefix in FLAGS.items():
            values = re.findall(rf"GNOMON_{prefix}_[A-Z_]+ = (\d+)", self.headers)
            words = next(w for n, _, _, w in _gnomon._fields(kind) if n == "flags")
            self.assertEqual(sorted(map(int, values)), [1 << i for i in range(len(words))])

    def test_units_are_known_by_the_names(self):
        for kind in _plain:
            for name, unit, _, _ in _gnomon._fields(kind):
                self.assertEqual(unit == "ns", name.endswith("_ns"), (kind, name))


if __name__ == "__main__":
    unittest.main()
