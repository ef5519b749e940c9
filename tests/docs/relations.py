# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What must hold between the numbers of a report, whatever they are.

check.py compares what a page shows with what a run writes, numbers apart, for
those differ from run to run. Their relations do not: `wrong(text)` gives a line
for each that does not hold in `text`, of these:

  a row's min <= p50 <= p90 <= p99 <= max, and min <= mean <= max
  self <= total, and a row's calls * mean = total
  a percentage is at most 100, and is the part of the total that it says
  parts are not more than their sum: rows and Total, children and parent,
  what was longer in a step and the step, steps and their stage
  the footer's time is marks * ns each, and its % of the whole
  a change in % is that from the first value to the second
"""
import re

UNITS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "%": 1.0,
         "": 1.0}
VALUE = re.compile(r"([-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?) ?(ns|us|ms|s|m|%)?$")
ORDER = ("min", "p50", "p90", "p99", "max")
NAMES = {"median": "p50", "tottime": "self", "cumtime": "total",
         "total time (s)": "total", "device (s)": "total", "self (s)": "self",
         "mean duration (s)": "mean", "num calls": "calls", "count": "calls",
         "percentage %": "%", "sum": "total", "steps": "calls",
         "mean (ms)": "mean_ms", "min (ms)": "min", "max (ms)": "max"}
WORDS = ORDER + ("self", "total", "mean", "calls", "%", "mean_ms", "change",
                 "mean a", "mean b", "calls a", "calls b")


class Number:
    """A number, and the error that its shown digits allow."""

    def __init__(self, digits, unit):
        decimals = len(digits.partition(".")[2])
        self.value = float(digits) * UNITS[unit]
        self.slack = 0.51 * 10.0 ** -decimals * UNITS[unit]


def number(text):
    match = VALUE.match(text.strip())
    return Number(match.group(1), match.group(2) or "") if match else None


def cells(line):
    if line.startswith("|"):
        return [cell.strip() for cell in line.strip().strip("|").split("|")]
    if re.match(r"\w*,.*,", line):
        return line.split(",")
    return [cell.strip() for cell in re.split(r"  +|\t+", line.strip())]


def header(line):
    """The names of columns, where the line has at least two that are known."""
    names = [re.sub(r"^percall .*", "", cell.lower()) for cell in cells(line)]
    names = [NAMES.get(name, name) for name in names]
    return names if sum(name in WORDS for name in names) >= 2 else None


def at_most(low, high):
    """Rounding keeps the order of numbers that are shown with the same digits."""
    slack = 0 if low.slack == high.slack else max(low.slack, high.slack)
    return low.value <= high.value + slack


def near(a, b, slack):
    return abs(a - b) <= slack + 1e-12


def row_faults(row):
    """`row`: numbers by the names of their columns."""
    met = [name for name in ORDER if name in row]
    pairs = list(zip(met, met[1:]))
    pairs += [pair for pair in (("min", "mean"), ("mean", "max"),
                                ("min", "mean_ms"), ("mean_ms", "max"),
                                ("self", "total")) if pair[0] in row and
              pair[1] in row]
    for low, high in pairs:
        if not at_most(row[low], row[high]):
            yield "%s is above %s" % (low, high)
    if "%" in row and row["%"].value > 100.05:
        yield "more than 100 %"
    scale = 1e-3 if "mean_ms" in row else 1.0
    mean = row.get("mean_ms", row.get("mean"))
    if mean and "calls" in row and "total" in row:
        calls = row["calls"].value
        if not near(calls * mean.value * scale, row["total"].value,
                    calls * mean.slack * scale + row["total"].slack):
            yield "calls * mean is not total"
    if "change" in row and "mean a" in row and row["mean a"].value:
        a, b = row["mean a"], row["mean b"]
        change = 100 * (b.value / a.value - 1)
        if not near(change, row["change"].value, row["change"].slack +
                    100 * (a.slack + b.slack) / a.value):
            yield "change is not that from mean A to mean B"


def total_faults(rows):
    """The row Total: its calls are the sum of the rows, % is of its total."""
    whole = [row for name, row in rows if name == "Total"]
    parts = [row for name, row in rows if name != "Total"]
    if len(whole) != 1 or "total" not in whole[0]:
        return
    whole = whole[0]
    calls = sum(row["calls"].value for row in parts if "calls" in row)
    if "calls" in whole and calls > whole["calls"].value:
        yield "rows have more calls than Total"
    for row in parts:
        if "%" in row and "total" in row and not near(
                row["%"].value,
                100 * row["total"].value / whole["total"].value,
                row["%"].slack + 100 * (row["total"].slack +
                                        whole["total"].slack) /
                whole["total"].value):
            yield "% is not the part of Total"


def tree_faults(rows):
    """Rows as (depth, numbers): children together, and their parent."""
    for i, (depth, row) in enumerate(rows):
        if "total" not in row or "self" not in row:
            continue
        children = []
        for deeper, child in rows[i + 1:]:
            if deeper <= depth:
                break
            if deeper == depth + 2 and "total" in child:
                children.append(child["total"])
        parts = sum(c.value for c in children) + row["self"].value
        slack = sum(c.slack for c in children) + row["self"].slack + \
            row["total"].slack
        if children and parts > row["total"].value + slack:
            yield "self and children are more than total"


def tables(text):
    """(lines, rows) of each table: rows as (depth, name, numbers, line)."""
    names, rows, is_tree = None, [], False
    for line in text.split("\n") + ["  Min  Max"]:
        new = header(line)
        if new:
            if rows:
                yield rows, is_tree
            names, rows = new, []
            is_tree = new[0] == "path"
            continue
        row = cells(line)
        if not names or len(row) != len(names):
            continue
        if row[0].startswith("~ "):  # a link: another thread's time
            continue
        numbers = {}
        for name, cell in zip(names, row):
            value = number(cell)
            if name in WORDS and value:
                numbers[name] = value
        depth = len(line) - len(line.lstrip())
        rows.append((depth, row[0], numbers, line.strip()))


def steps_faults(text):
    """"step 81   303 ms  name 300 ms, usually 3.1 ms"."""
    longest = None
    for match in re.finditer(
            r"^step \d+ +([\d.]+) (\w+)(?: .*?([\d.]+) (\w+), usually "
            r"([\d.]+) (\w+))?$", text, re.M):
        whole = Number(match.group(1), match.group(2))
        if longest and not at_most(whole, longest):
            yield "a longer step comes later: " + match.group(0)
        longest = whole
        if match.group(3):
            part = Number(match.group(3), match.group(4))
            usual = Number(match.group(5), match.group(6))
            if not at_most(part, whole) or not at_most(usual, part):
                yield "a part is more than its step: " + match.group(0)


def sentence_faults(text):
    for match in re.finditer(r"about ([\d.]+) ms of ([\d.]+) s \(([\d.]+) %\) "
                             r"went into (\d+) marks at (\d+) ns each", text):
        took, whole, part = (number(match.group(i)) for i in (1, 2, 3))
        marks, each = float(match.group(4)), number(match.group(5))
        if not near(1e-6 * marks * each.value, took.value,
                    took.slack + 1e-6 * marks * each.slack):
            yield "marks * ns is not the time: " + match.group(0)
        if whole.value and not near(
                100e-9 * marks * each.value / whole.value, part.value,
                part.slack + 100e-9 * marks *
                (each.slack + each.value * whole.slack / whole.value) /
                max(whole.value - whole.slack, 1e-4)):
            yield "the % is not that of the time: " + match.group(0)
    for match in re.finditer(r"([\d.]+) (\w+) -> ([\d.]+) (\w+), "
                             r"([-+]?[\d.]+) %", text):
        a = Number(match.group(1), match.group(2))
        b = Number(match.group(3), match.group(4))
        change = number(match.group(5))
        if a.value and not near(
                100 * (b.value / a.value - 1), change.value,
                change.slack + 100 * (a.slack + b.slack) / a.value):
            yield "the change is another one: " + match.group(0)
    for match in re.finditer(r"([\d.]+) (\w+), (\d+) steps? of ([\d.]+) (\w+)",
                             text):
        whole = Number(match.group(1), match.group(2))
        step = Number(match.group(4), match.group(5))
        if int(match.group(3)) * (step.value - step.slack) > \
                whole.value + whole.slack:
            yield "steps are more than their stage: " + match.group(0)
    for match in re.finditer(r"(\d+) function calls \((\d+) primitive", text):
        if int(match.group(2)) > int(match.group(1)):
            yield "more primitive calls than calls: " + match.group(0)


def wrong(text):
    faults = []
    for rows, is_tree in tables(text):
        for _, _, numbers, line in rows:
            faults += ["%s: %s" % (fault, line)
                       for fault in row_faults(numbers)]
        faults += total_faults([(name, n) for _, name, n, _ in rows])
        if is_tree:
            faults += tree_faults([(depth, n) for depth, _, n, _ in rows])
    faults += steps_faults(text)
    faults += sentence_faults(text)
    return faults
