# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""stub.py ENTITY.C IN OUT: a type stub, in which classes of entities get the fields that
the library's description has, besides those that they name themselves."""
import re
import sys

TYPES = dict(DOUBLE="float", TEXT="str", JSON="str", MAYBE="Optional[str]")
ROW = re.compile(r"^    (FIELD|ELSE|OF|PARTS?)\((.*?)\),", re.M)


def class_of(name):
    return name.title().replace("_", "")


def type_of(macro, words, classes):
    """`words` are those of a row: [its type,] its name, what it is of."""
    if macro.startswith("PART"):
        kind = class_of(words[1].replace("GNOMON__", ""))
        return words[0], f"List[{kind}]" if macro == "PARTS" else f"Optional[{kind}]"
    kind, name, of = words[:3]
    if kind == "NUMBER":
        return name, f"Optional[{classes.get(of)}]"
    is_word = kind == "WORD" and name == "kind"
    return name, "str" if is_word else TYPES.get(kind, "int")


def main(description, stub, out):
    with open(description, encoding="utf-8") as file:
        text = file.read()
    with open(stub, encoding="utf-8") as file:
        made = file.read()
    kinds = re.findall(r"^    ENTITY\((\w+), (\w+),", text, re.M)
    classes = {"GNOMON_" + many: class_of(one) for many, one in kinds}
    for _, one in kinds:
        rows = re.search(rf"\b{one}_fields\[\] = {{\n(.*?)^}};", text, re.M | re.S)[1]
        head = rf"^class {class_of(one)}\(Entity\):( \.\.\.)?\n((?:    .*\n)*)"
        own = re.search(head, made, re.M)
        fields = [type_of(m, w.split(", "), classes) for m, w in ROW.findall(rows)]
        lines = [
            f"    {name}: {kind}\n"
            for name, kind in fields
            if name != "from" and f" {name}:" not in own[2]
        ]
        body = f"class {class_of(one)}(Entity):\n{''.join(lines)}{own[2]}"
        made = made[: own.start()] + body + made[own.end() :]
    with open(out, "w", encoding="utf-8") as file:
        file.write(made)


main(*sys.argv[1:])
