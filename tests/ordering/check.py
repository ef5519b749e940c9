# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""check.py ROOT: the tables of docs/inside/ordering.md are those of src/.

A word that threads share is whatever src/ gives to a macro of platform/atomic.h, or
to a builtin (__atomic_...), as its first argument: the field or variable that is
named last in it. A row names words, and the macros by which they are written and
read. Each word of src/ stands in a row; each macro that src/ uses on it stands in one
of its rows; and no row has a word, or a macro, that src/ does not use so. What a row
calls a program is one of tests/ordering_programs.h, and each of those is in a row.

A program is as good as its likeness to src/. Its operations quote their lines, which
tests/mark/test_ordering.c looks up. Here the other way is looked at: in a function that is
quoted, each access or fence with an order stands in a quote, or in UNTRIED.

Each lock of src/ stands in the table of locks, and no other.

ROOT may be the word "broken": then pages and sources with planted faults are looked
at, and each must show.
"""
import os
import re
import sys
import tempfile

MACRO_NAME = (r"(?:load|store|add|sub|and|or|swap|cas|bump)_"
              r"(?:relaxed|acquire|release|acq_rel|ordered|loose|pair)")
MACRO = re.compile(
    r"\b(" + MACRO_NAME +
    r"|__atomic_(?:load|store|exchange|compare_exchange|fetch_add|fetch_sub)_?n?)"
    r"\s*\(")
BUILTIN = {"load_n": "load", "store_n": "store", "exchange_n": "swap",
           "compare_exchange_n": "cas", "fetch_add": "add", "fetch_sub": "sub"}

ORDERED = re.compile(
    r"\b(?:(?:load|store|add|sub|and|or|swap|cas|bump)_(?:acquire|release|acq_rel|ordered)|"
    r"fence_(?:acquire|release|acq_rel|full)|gnomon__observer_barrier)\(")
# What stands in quoted functions and is in no program, and why.
UNTRIED = {
    "device/cuda_driver.c: gnomon__cuda_failed: cas_acq_rel(":
        "who sets the result sets the call, which is published",
    "device/reader.c: gnomon__timers_watch: store_release(":
        "only says whether there may be work",
    "device/timers.c: timer_send: fence_full()":
        "one store, then a load of the other's, with a full fence on both sides",
    "device/timers.c: take_returned_timers: store_release(&timers->back_tail":
        "no other thread reads it",
    "inject/nvtx_names.c: gnomon__inject_regions_make: load_acquire(&name->regions),":
        "as `head`, below it",
    "mark/callbacks.h: gnomon__hooks_enter: fence_full()":
        "in place of the barrier, where the system has none",
    "mark/leave.c: gnomon__observer_marks_over: load_acquire(&t->seq)==seen":
        "again what the line before loaded",
    "mark/leave.c: gnomon__observer_marks_over: load_acquire(&t->in_hook)&1":
        "as of a cut, which is tried",
    "mark/observer.c: publish: store_release(":
        "read under the lock",
    "run/copies.c: settle: store_release(&state,JOINED)":
        "as OWNER, which is published",
    "run/copies.c: settle: store_release(&gnomon__owner,NULL)":
        "back to what it was: nothing is published",
    "run/copies.c: settle: cas_acq_rel(&state":
        "as OWNER, which is published",
}


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


def without_comments(text):
    return re.sub(r"/\*.*?\*/", " ", text, flags=re.S)


def quotes(text):
    """(file, function, text) of each quote in a C file. A macro that is only strings
    stands for them."""
    text = without_comments(text).replace("\\\n", " ")
    text = re.sub(r"^#.*", r"\g<0>;", text, flags=re.M)  # where a directive ends
    string = r'"(?:[^"\\]|\\.)*"'
    for name, value in re.findall(r"#define (\w+)\s+(%s(?:\s*%s)*)" %
                                  (string, string), text):
        text = re.sub(r"\b%s\b" % name, lambda _, v=value: v, text)
    for found in re.finditer(r"%s(?:\s*%s)*" % (string, string), text):
        whole = "".join(s[1:-1] for s in re.findall(string, found.group()))
        parts = whole.split(": ", 2)
        if len(parts) == 3 and re.fullmatch(r"\w+/\w+\.[ch]", parts[0]):
            yield parts[0], parts[1], "".join(parts[2].split())


def body(text, name):
    """The function `name`, without blanks; the macro of that name has none."""
    for found in re.finditer(r"\b%s\(" % name, text):
        inside = arguments(text, found.end())
        end = found.end() + len(",".join(inside)) + 1
        if re.match(r"\s*\{", text[end:]):
            return "".join(text[end:text.index("\n}", end)].split())
    return ""


def untried(root):
    """The orders in quoted functions that are in no quote."""
    quoted = {}
    for name in ("ordering_programs.h", "mark/test_ordering.c"):
        with open(os.path.join(root, "tests", name), encoding="utf-8") as f:
            for file, function, text in quotes(f.read()):
                quoted.setdefault((file, function), set()).add(text)
    for (file, function), texts in sorted(quoted.items()):
        with open(os.path.join(root, "src", file), encoding="utf-8") as f:
            source = body(without_comments(f.read()), function)
        for found in ORDERED.finditer(source):
            at = found.start()
            if not any(begin <= at < begin + len(text) for text in texts
                       for begin in (m.start() for m in
                                     re.finditer(re.escape(text), source))):
                yield "%s: %s: %s" % (file, function, source[at:at + 60])


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


def locks(root):
    """"ROOM/FILE NAME" of each lock of the library."""
    for folder, _, names in os.walk(os.path.join(root, "src")):
        for name in names:
            with open(os.path.join(folder, name), encoding="utf-8") as f:
                for lock in re.findall(r"^(?:static )?gnomon__(?:os_lock|os_once|worker) "
                                       r"(\w+) = ", f.read(), flags=re.M):
                    yield "%s/%s %s" % (os.path.basename(folder), name, lock)


def differences(root, known_untried):
    """The errors of the page and the programs, line by line."""
    with open(os.path.join(root, "docs/inside/ordering.md"), encoding="utf-8") as f:
        page = f.read()
    table = list(rows(page))
    told = {" ".join(row) for row in
            re.findall(r"^\| `(\w+/\w+\.[ch])` (\w+) \|", page, flags=re.M)}
    for lock in sorted(told ^ set(locks(root))):
        yield lock + ": not both a lock and in the table of locks"
    with open(os.path.join(root, "tests/ordering_programs.h"),
              encoding="utf-8") as f:
        programs = set(re.findall(r'\.name = "(\w+)"', f.read()))
    macros, files = of_source(root)
    named, tried_there = {}, set()
    for words, its, tried in table:
        for word in words:
            named.setdefault(word, set()).update(its)
        tried_there.update(tried)
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
    for name in sorted(tried_there ^ programs):
        yield "*%s*: not both a program and in a row" % name
    found = list(untried(root))
    for line in found:
        if not any(line.startswith(known) for known in known_untried):
            yield line + ": in no program"
    for known in known_untried:
        if not any(line.startswith(known) for line in found):
            yield known + ": is tried, or gone"


GOOD = {
    "src/a.c": "int f(s *t) { store_release(&t->a[1], 1); /* load_loose(&t->z) */"
               " return load_acquire(\n&g(t)->a) + __atomic_load_n(&b, "
               "__ATOMIC_RELAXED); }",
    "docs/inside/ordering.md": "| `a` | `store_release` | `load_acquire` | *p* |\n"
                        "| `b` | | `load_relaxed` | |\n"
                        "| `q` | `store_release` | | |\n"
                        "| `m/c.c` door | all | a while | any |\n",
    "src/m/c.c": "static gnomon__os_lock door = GNOMON__OS_LOCK;\n",
    "src/m/b.c": "static int g(int x)\n{\n    store_release(&s->q, 1);\n}\n"
                 "#define G(x) g(x)\n",
    "tests/mark/test_ordering.c": "",
    "tests/ordering_programs.h": '.name = "p",\n#define Q "m/b.c: "\n'
                                 'Q "g: store_release(" \\\n "&s->q, 1);"',
}
BROKEN = [
    ("docs/inside/ordering.md", "| `b` | | `load_relaxed` | |\n", "", "`b` (a.c) stands"),
    ("docs/inside/ordering.md", "`load_acquire`", "", "`a` (a.c): no row"),
    ("docs/inside/ordering.md", "`load_relaxed`", "`load_relaxed`, `load_pair`",
     "`b`: src/ uses no load_pair"),
    ("docs/inside/ordering.md", "`b`", "`b`, `c`", "`c`: src/ shares no"),
    ("docs/inside/ordering.md", "*p*", "", "*p*: not both"),
    ("docs/inside/ordering.md", "door", "gate", "m/c.c door: not both"),
    ("src/m/c.c", "door", "gate", "m/c.c gate: not both"),
    ("src/a.c", "store_release", "store_relaxed", "`a` (a.c): no row of it has st"),
    ("src/a.c", "/* ", "*/ /* */ ", "`z` (a.c) stands"),
    ("src/m/b.c", "1);", "1); fence_acquire();", "m/b.c: g: fence_acquire()"),
    ("src/m/b.c", "store", "load_acquire(&s->q); store", "m/b.c: g: load_acq"),
]


def differences_of(files):
    with tempfile.TemporaryDirectory() as root:
        for name, text in files.items():
            path = os.path.join(root, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as f:
                f.write(text)
        return list(differences(root, []))


def main():
    if sys.argv[1] != "broken":
        found = list(differences(sys.argv[1], UNTRIED))
        print("\n".join("docs/inside/ordering.md and tests/ordering: " + line
                        for line in found))
        sys.exit(bool(found))
    missed = differences_of(GOOD)
    for name, old, new, wanted in BROKEN:
        found = differences_of({**GOOD, name: GOOD[name].replace(old, new)})
        if not any(line.startswith(wanted) for line in found):
            missed.append("not found: %s: %s" % (wanted, found))
    print("\n".join(missed))
    sys.exit(bool(missed))


main()
