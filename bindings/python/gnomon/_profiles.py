# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Profiles: what was recorded, as objects and as tables.

    profile = gnomon.load("run.gnomon")
    for node in profile.nodes:
        print(node.path, node.host.count, node.host.total_ns)
    profile.to_pandas()                 # the rows, one for each name
    profile.to_pandas("events")         # any kind of entity

Numbers of entities begin at 1, as everywhere in gnomon. Moments are ns since the run's
zero, durations ns.
"""
import os
from collections import namedtuple

from . import _gnomon
from ._entities import Entities, REGION_KINDS, _plain
from ._stats import Stats, add, shown_time

__all__ = ["Profile", "Row", "Stats", "load", "read", "snapshot"]

Row = namedtuple("Row", "name category host device")


class Profile:
    """What was recorded: runs, stages, steps, tracks, regions, nodes, opens, links,
    counters, metadata, losses, views, ops, events, step_times, view_times, each as a
    sequence. It never changes; any thread may read it."""

    __slots__ = ("_raw", "__weakref__")

    def __init__(self, raw):
        self._raw = raw

    def __repr__(self):
        return (
            f"<gnomon.Profile: {len(self.runs)} runs, {len(self.tracks)} tracks, "
            f"{len(self.nodes)} nodes, {len(self.events)} events>"
        )

    def rows(self, stage=None, view=None, kinds=None):
        """The sums of each name and category over all paths and threads, by total time;
        marks and counters have none. They are of all stages, or of those of one name;
        and of one view, as profilers with filters of their own record the same marks:
        `view` is its number, and the first one if it is not given."""
        sums = {}
        for node in self.nodes:
            region, host = node.region, node.host
            if host is None or not host.count and node.device is None:
                continue
            if node._values[_NODE_VIEW] not in (0, view or 1):
                continue
            if stage is not None and node.stage.name != stage:
                continue
            if region.kind in (kinds or _WITH_ROWS):
                sums.setdefault((region.name, region.category), []).append(node)
        rows = [
            Row(
                name,
                category,
                add(node.host for node in nodes),
                add(node.device for node in nodes),
            )
            for (name, category), nodes in sums.items()
        ]
        return sorted(rows, key=lambda row: -row.host.total_ns)

    def report(self, profiler="simple"):
        """The report that a profiler makes of this, as a text: Lightning's table for
        "simple"; others, as "tree" or "advanced(limit=5)". Of several runs, stages or
        views it comes from the program gnomon, which must be in $PATH, and so do
        reports that only the program has, as "ranks"."""
        from . import _forms

        return _forms.report(self, profiler)

    def export(self, form, path, modules=False):
        """Writes it in the format of another tool: "chrome" (for Perfetto, TensorBoard,
        chrome://tracing), "json" or "gnomon"; and, by the program gnomon, which must be
        in $PATH, "perfetto", "stacks", "speedscope", "csv" or "prof". A file of a name
        that ends in .gz is compressed. `modules`: in "chrome", layers are modules of
        torch, for TensorBoard's view of them; by the program."""
        from . import _forms

        _forms.export(self, form, path, modules)

    def show(self, path=None):
        """Makes a page of it for a browser at `path`, or in a temporary folder, by the
        program gnomon, which must be in $PATH; opens it, where there is a display and
        xdg-open, or prints its path. Returns the path."""
        from . import _forms

        return _forms.show(self, path)

    def columns(self, kind="nodes"):
        """The entities of a kind by column: a dict of lists of texts and of arrays of
        numbers. Statistics are five columns each, as host_count; kinds are words. What
        they refer to follows: name, category, path, thread, stage_name and rank, -1 where
        it is not known."""
        from array import array

        columns = {}
        for name, (form, values) in self._raw.columns(kind).items():
            columns[name] = values if form == "U" else array(form, values)
        return columns

    def _table(self, kind):
        if kind is not None:
            return self.columns(kind)
        rows = self.rows()
        columns = {
            "name": [row.name for row in rows],
            "category": [row.category for row in rows],
        }
        for field in Stats._fields[:5]:
            columns[field] = [getattr(row.host, field) for row in rows]
        return columns

    def to_pandas(self, kind=None):
        """A DataFrame of the rows, or of the entities of a kind ("nodes", ...)."""
        import pandas

        return pandas.DataFrame(
            {name: _numbers(values) for name, values in self._table(kind).items()}
        )

    def to_arrow(self, kind=None):
        """The same as a table of pyarrow."""
        import pyarrow

        if kind is not None:
            return pyarrow.table(getattr(self, kind))
        return pyarrow.table(self._table(None))

    def __arrow_c_stream__(self, requested_schema=None):
        """The nodes for whatever reads Arrow: duckdb.sql("FROM profile") and
        polars.DataFrame(profile). `profile.events` and all others have it as well: the
        columns as in `columns`, with null where there is nothing."""
        return self._raw.arrow("nodes")

    def write(self, path):
        """Writes all of it to a file: binary, or JSON for a name ending in .json."""
        is_json = os.fsdecode(path).endswith(".json")
        self._raw.export("json" if is_json else "gnomon", path)

    def _cells(self, most):
        """Of the rows that took longest, the heads first."""
        cells = [["name", "calls", "total", "self", "mean", "max"]]
        for row in self.rows()[:most]:
            s = row.host
            times = s.total_ns, s.self_ns, s.mean_ns, s.max_ns
            cells.append([row.name, str(s.count), *map(shown_time, times)])
        return cells

    def _repr_html_(self):
        from html import escape

        heads, *rows = self._cells(50)
        cells = "".join(
            "<tr><td style='text-align:left'>"
            + "</td><td>".join(map(escape, row))
            + "</td></tr>"
            for row in rows
        )
        heads = "".join(f"<th>{head}</th>" for head in heads)
        return (
            f"<p>{escape(repr(self))}</p><table><thead><tr>{heads}"
            f"</tr></thead><tbody>{cells}</tbody></table>"
        )

    def _repr_pretty_(self, printer, cycle):
        """As IPython shows it where there is no HTML."""
        rows = self._cells(10)
        widths = [max(map(len, column)) for column in zip(*rows)]
        lines = [
            "  ".join([r[0].ljust(widths[0]), *map(str.rjust, r[1:], widths[1:])])
            for r in rows
        ]
        printer.text("\n".join([repr(self), *lines]))


def _kind_property(kind):
    return property(lambda self: Entities(self, kind))


for _kind in _plain:
    setattr(Profile, _kind, _kind_property(_kind))


_NODE_VIEW = _plain["nodes"]._fields.index("view")
_WITH_ROWS = tuple(k for k in REGION_KINDS if k not in ("mark", "counter"))


def _numbers(values):
    """An array without a copy, where numpy is there."""
    if not hasattr(values, "typecode"):
        return values
    try:
        import numpy
    except ImportError:
        return list(values)
    return numpy.frombuffer(values, dtype=values.typecode) if len(values) else []


def load(path):
    """The profile in a .gnomon file."""
    return Profile(_gnomon._load(path))


def read(data):
    """The profile in the bytes of a .gnomon file."""
    return Profile(_gnomon._read(data))


def snapshot(profiler, all_stages=False):
    """What an attached profiler has recorded up to now."""
    return Profile(_gnomon._snapshot(profiler, all_stages))
