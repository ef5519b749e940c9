# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""check.py ROOT: the tables of docs/ordering.md are those of src/.

A word that threads share is whatever src/ gives to a macro of platform/atomic.h, or
to a builtin (__atomic_...), as its first argument: the field or variable that is
named last in it. A row names words, and the macros by which they are written and
read. Each word of src/ stands in a row; each macro that src/ uses on it stands in one
of its rows; and no row has a word, or a macro, that src/ does not use so. What a row
calls a program is one of tests/ordering_programs.h, and each of those is in a row.

ROOT may be the word "broken": then pages and sources with planted faults are looked
at, and each must show.
"""
import os
import re
import sys
import tempfile

MACRO_NAME = (r"(?:load|store|add|sub|and|swap|cas|bump)_"
              r"(?:relaxed|acquire|release|acq_rel|loose|pair)")
MACRO = re.compile(
    r"\b(" + MACRO_NAME +
    r"|__atomic_(?:load|store|exchange|compare_exchange|fetch_add|fetch_sub)_?n?)"
    r"\s*\(")
BUILTIN = {"load_n": "load", "store_n": "store", "exchange_n": "swap",
           "compare_exchange_n": "cas", "fetch_add": "add", "fetch_sub": "sub"}


def arguments(text, start):
    """The arguments of the call whose parenthesis opens before `start`."""
    depth, parts, begin = 1, [], start
    for i in range(start, len(text)):
        c = text[i]
        if c in "([{":
            depth += 1
        elif c in ")]}":
            depth -= 1
        if depth == 0 or (depth == 1 and c == ","):
            parts.append(text[begin:i])
            begin = i + 1
        if depth == 0:
            return parts
    return parts


def word_of(argument):
    """The field or variable named last, indices and casts aside."""
    text = argument.strip().lstrip("&").strip()
    while True:
        shorter = re.sub(r"\[[^\[\]]*\]", "", text)
        shorter = re.sub(r"\([^()]*\*\s*\)", "", shorter)  # a cast
        if shorter == text:
            break
        text = shorter
    fields = re.findall(r"(?:->|\.)\s*(\w+)\s*$", text)
    if fields:
        return fields[0]
    text = re.sub(r"\s[+-]\s.*$", "", text)
    names = re.findall(r"[A-Za-z_]\w*", text)
    return names[-1] if names else text


def uses(text):
    """(word, macro) of each access."""
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    for found in MACRO.finditer(text):
        name = found.group(1)
        parts = arguments(text, found.end())
        if name.startswith("__atomic_"):
            order = re.search(r"__ATOMIC_(\w+)", " ".join(parts[1:]))
            name = "%s_%s" % (BUILTIN[name[9:]], order.group(1).lower())
        yield word_of(parts[0]), name


def of_source(root):
    """{word: macros}, {word: files}."""
    macros, files = {}, {}
    for folder, _, names in os.walk(os.path.join(root, "src")):
        for name in names:
            if not name.endswith((".c", ".h")) or name == "atomic.h":
                continue
            with open(os.path.join(folder, name), encoding="utf-8") as f:
                for word, macro in uses(f.read()):
                    macros.setdefault(word, set()).add(macro)
                    files.setdefault(word, set()).add(name)
    return macros, files


def rows(page):
    """(words, macros, programs) of each row."""
    for line in page.split("\n"):
        cells = line.strip().strip("|").split("|")
        if not line.startswith("| `") or len(cells) != 4:
            continue
        named = re.findall(r"`(\w+)`", " ".join(cells[1:3]))
        yield (re.findall(r"`(\w+)`", cells[0]),
               [n for n in named if re.fullmatch(MACRO_NAME, n)],
               re.findall(r"\*(\w+)\*", cells[3]))


def differences(root):
    """The errors of the page, line by line."""
    with open(os.path.join(root, "docs/ordering.md"), encoding="utf-8") as f:
        table = list(rows(f.read()))
    with open(os.path.join(root, "tests/ordering_programs.h"),
              encoding="utf-8") as f:
        programs = set(re.findall(r'\.name = "(\w+)"', f.read()))
    macros, files = of_source(root)
    named, told = {}, set()
    for words, its, tried in table:
        for word in words:
            named.setdefault(word, set()).update(its)
        told.update(tried)
        used = set().union(*(macros.get(word, set()) for word in words))
        for macro in sorted(set(its) - used):
            yield "`%s`: src/ uses no %s on it" % ("`, `".join(words), macro)
    for word in sorted(set(named) - set(macros)):
        yield "`%s`: src/ shares no such word" % word
    for word in sorted(macros):
        where = ", ".join(sorted(files[word]))
        if word not in named:
            yield "`%s` (%s) stands in no row: %s" % (
                word, where, " ".join(sorted(macros[word])))
        elif macros[word] - named[word]:
            yield "`%s` (%s): no row of it has %s" % (
                word, where, " ".join(sorted(macros[word] - named[word])))
    for name in sorted(told ^ programs):
        yield "*%s*: not both a program and in a row" % name


GOOD = {
    "src/a.c": "int f(s *t) { store_release(&t->a[1], 1); /* load_loose(&t->z) */"
               " return load_acquire(\n&g(t)->a) + __atomic_load_n(&b, "
               "__ATOMIC_RELAXED); }",
    "docs/ordering.md": "| `a` | `store_release` | `load_acquire` | *p* |\n"
                        "| `b` | | `load_relaxed` | |\n",
    "tests/ordering_programs.h": '.name = "p",',
}
BROKEN = [
    ("docs/ordering.md", "| `b` | | `load_relaxed` | |\n", "", "`b` (a.c) stands"),
    ("docs/ordering.md", "`load_acquire`", "", "`a` (a.c): no row"),
    ("docs/ordering.md", "`load_relaxed`", "`load_relaxed`, `load_pair`",
     "`b`: src/ uses no load_pair"),
    ("docs/ordering.md", "`b`", "`b`, `c`", "`c`: src/ shares no"),
    ("docs/ordering.md", "*p*", "", "*p*: not both"),
    ("src/a.c", "store_release", "store_relaxed", "`a` (a.c): no row of it has st"),
    ("src/a.c", "/* ", "*/ /* */ ", "`z` (a.c) stands"),
]


def differences_of(files):
    with tempfile.TemporaryDirectory() as root:
        for name, text in files.items():
            path = os.path.join(root, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as f:
                f.write(text)
        return list(differences(root))


def main():
    if sys.argv[1] != "broken":
        found = list(differences(sys.argv[1]))
        print("\n".join("docs/ordering.md: " + line for line in found))
        sys.exit(bool(found))
    missed = differences_of(GOOD)
    for name, old, new, wanted in BROKEN:
        found = differences_of({**GOOD, name: GOOD[name].replace(old, new)})
        if not any(line.startswith(wanted) for line in found):
            missed.append("not found: %s: %s" % (wanted, found))
    print("\n".join(missed))
    sys.exit(bool(missed))


main()
