#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""check_pandas.py FOLDER DOC PROGRAM...: pandas reads csv with the types that
docs/exports.md gives, by the very words that it gives, and has what Python's csv has."""
import csv
import re
import sys

import pandas

from profiles import arguments, check


def reader_of(doc):
    """The function read() of the page's Python."""
    with open(doc, encoding="utf-8") as file:
        block = re.search(r"```text\n(# read_csv.py.*?)```", file.read(), re.S)
    check(block, f"{doc} has no read_csv.py")
    names = {}
    exec(block.group(1), names)
    return names


def main():
    doc = sys.argv.pop(2)
    names = reader_of(doc)
    folder, made = arguments()
    csv.field_size_limit(1 << 26)
    for name in made:
        path = f"{folder}/{name}.csv"
        table = names["read"](path)
        with open(path, encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file, strict=True))
        check(list(table.columns) == list(names["TYPES"]), f"{table.columns}")
        check(len(table) == len(rows), f"{name}: {len(table)} of {len(rows)}")
        for column, kind in names["TYPES"].items():
            if kind != "str":
                check(str(table[column].dtype) == kind,
                      f"{name}: {column} is {table[column].dtype}")
            for got, row in zip(table[column], rows):
                text = row[column]
                want = (text if kind == "str"
                        else float(text or "nan") if column == "value"
                        else int(text))
                check(got == want or (column == "value" and text == "" and
                                      got != got),
                      f"{name}: {column}: {got!r} is not {text!r}")
    # What the page promises one can do.
    table = names["read"](f"{folder}/world.csv")
    took = table[table["kind"] == "execution"].groupby(["rank", "name"])
    check(len(took["duration_ns"].sum()) > 5, "nothing was executed")
    print(f"pandas {pandas.__version__} reads {len(made)} files")


main()
