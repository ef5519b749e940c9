# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Small mutations of C: one token or one condition, in bodies of functions.

Comments, texts, directives and tables are left as they are, and so is what only
handles missing memory: failing allocations have tests of their own, and a size that
is one too large changes nothing."""
import collections
import re

# `line` counts from 1. `before` and `after` are all lines that the change touches,
# without indentation. With `begin`, `end` and `new` the text is made.
Mutation = collections.namedtuple(
    "Mutation", "line function kind before after begin end new")

TOKEN = re.compile(r"[A-Za-z_]\w*|\d[\w.]*|->|\+\+|--|<<=|>>=|<<|>>|<=|>=|==|!=|&&|\|\|"
                   r"|[-+*/%&|^]=|\S")
HIDDEN = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\''
                    r"|^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.S | re.M)
SWAPS = {"relational": {"<": "<=", "<=": "<", ">": ">=", ">=": ">"},
         "equality": {"==": "!=", "!=": "=="},
         "logical": {"&&": "||", "||": "&&"},
         "arithmetic": {"+": "-", "-": "+", "*": "/", "/": "*", "%": "/", "|": "&",
                        "&": "|", "<<": ">>", ">>": "<<", "+=": "-=", "-=": "+=",
                        "|=": "&="},
         "constant": {"0": "1", "1": "0", "0u": "1u", "1u": "0u"}}
# With one operand these are something else. clang-format has spaces on both sides
# where there are two.
UNARY_TOO = {"+", "-", "*", "&"}
MEMORY = re.compile(r"alloc\w*\(|ENOMEM|_(?:grow|room|reserve)\(|\b(?:room|size)_?\w* =")


def hide(text):
    """The same length, with blanks for all that is no code."""
    return HIDDEN.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), text)


def bodies(code):
    """(name, begin, end) of each function's body: braces after a parenthesis."""
    depth, begin, last, head = 0, None, "", 0
    for m in re.finditer(r"\S", code):
        if m.group() == "{":
            if depth == 0 and last == ")":
                begin = m.end()
            depth += 1
        elif m.group() == "}":
            depth -= 1
            if depth == 0 and begin is not None:
                yield name_of(code[head:begin]), begin, m.start()
                begin = None
        if depth == 0 and m.group() in "};":
            head = m.end()
        last = m.group()


def name_of(head):
    """That of the function whose `head` ends with its parameters: a macro's call may
    come before it."""
    depth = 0
    for i in range(head.rindex(")"), -1, -1):
        depth += (head[i] == ")") - (head[i] == "(")
        if depth == 0:
            return re.search(r"(\w*)\s*$", head[:i]).group(1)
    return ""


def closing(tokens, i):
    """Where the parenthesis that `tokens[i]` opens is closed."""
    depth = 0
    for k in range(i, len(tokens)):
        depth += (tokens[k].group() in "([{") - (tokens[k].group() in ")]}")
        if depth == 0:
            return k
    return None


def arms(tokens, i):
    """The indexes of the `:` and of the end of the conditional with `?` at i."""
    depth, nested, colon = 0, 0, None
    for k in range(i + 1, len(tokens)):
        t = tokens[k].group()
        if depth == 0 and (t in (";", ",") and colon or t in ")]}" or
                           t == ":" and colon and not nested):
            return (colon, k) if colon else None
        depth += (t in "([{") - (t in ")]}")
        if depth == 0 and t == "?":
            nested += 1
        elif depth == 0 and t == ":" and nested:
            nested -= 1
        elif depth == 0 and t == ":":
            colon = k
    return None


def only_for_memory(code, at):
    """Whether the statement at `at`, or what it decides, deals with memory alone."""
    begin = max(code.rfind(c, 0, at) for c in ";{}") + 1
    end = min(e for e in (code.find(c, at) for c in ";{}") if e >= 0)
    if MEMORY.search(code[begin:end]):
        return True
    if code[end] == "{":
        rest = code[end + 1:]
        return bool(re.match(r"[^;{}]*ENOMEM", rest))
    return False


def changes(code, text, begin, end):
    """(kind, begin, end, new) for each change of one body."""
    tokens = list(TOKEN.finditer(code, begin, end))
    for i, m in enumerate(tokens):
        t = m.group()
        spaced = code[m.start() - 1].isspace() and code[m.end()].isspace()
        for kind, swap in SWAPS.items():
            if t in swap and (spaced or t not in UNARY_TOO):
                yield kind, m.start(), m.end(), swap[t]
        if t in ("++", "--") and not re.match(r"\s*for\b", line_of(code, m.start())):
            yield "dropped " + t, m.start(), m.end(), ""
        if t == "!":
            yield "dropped !", m.start(), m.end(), ""
        if t in ("if", "while") and i + 1 < len(tokens) and tokens[i + 1].group() == "(":
            k = closing(tokens, i + 1)
            if k:
                a, b = tokens[i + 1].end(), tokens[k].start()
                yield "negated condition", a, b, f"!({text[a:b]})"
        if t == "?" and arms(tokens, i):
            colon, last = arms(tokens, i)
            a, b, c = m.end(), tokens[colon].start(), tokens[colon].end()
            d = tokens[last - 1].end()
            yield ("swapped arms", a, d,
                   f" {text[c:d].strip()} : {text[a:b].strip()}")


def line_of(text, at):
    return text[text.rfind("\n", 0, at) + 1:text.find("\n", at)]


def lines(text, begin, end):
    """The lines from `begin` to `end`, as one."""
    last = text.find("\n", end)
    whole = text[text.rfind("\n", 0, begin) + 1:last if last >= 0 else len(text)]
    return " ".join(whole.split())


def mutations(text):
    """All of a file, in its order."""
    code = hide(text)
    found = []
    for name, begin, end in bodies(code):
        for kind, a, b, new in changes(code, text, begin, end):
            if only_for_memory(code, a):
                continue
            after = text[:a] + new + text[b:]
            found.append(Mutation(text.count("\n", 0, a) + 1, name, kind,
                                  lines(text, a, b), lines(after, a, a + len(new)),
                                  a, b, new))
    return found
