# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch's lists of averages: rows with the attributes of torch's FunctionEventAvg, and
its table, which is printed as `gnomon report --as averages` prints it."""
import ast

from . import _gnomon

_CELLS = _gnomon._averages_names()
_WHOLE = {"node_id", "count", "flops", *(n for n in _CELLS if n.endswith("_usage"))}
_SUMS = _CELLS[_CELLS.index("cpu_time_total") : _CELLS.index("flops") + 1]


def _time(us):
    if us >= 1e6:
        return f"{us / 1e6:.3f}s"
    return f"{us / 1e3:.3f}ms" if us >= 1e3 else f"{us:.3f}us"


class Average:
    """Sums of the events of one key. Times are us, memory bytes."""

    __slots__ = _CELLS + ("input_shapes", "stack")

    def __init__(self, cells, has_shapes):
        for name, value in zip(_CELLS, cells):
            setattr(self, name, int(value) if name in _WHOLE else value)
        has_shapes = has_shapes and self._shapes
        self.input_shapes = ast.literal_eval(self._shapes) if has_shapes else ""
        self.stack = self._stack.split("\n") if self._stack else []

    is_legacy = is_remote = False

    @property
    def is_user_annotation(self):
        return bool(self._kind & 1)

    @property
    def is_async(self):
        return bool(self._order & 2)

    @property
    def device_type(self):
        """torch's own, where torch is there."""
        import sys

        name = "CUDA" if self._kind & 2 else "CPU"
        torch = sys.modules.get("torch")
        return getattr(torch.autograd.DeviceType, name) if torch else name

    @property
    def use_device(self):
        has_device = self._kind & 2 or self.device_time_total or self.device_memory_usage
        return "cuda" if has_device else None

    def _cells(self):
        cells = [getattr(self, name) for name in _CELLS]
        cells[3] = str(self.input_shapes)
        cells[5] = "\n".join(self.stack)
        return tuple(cells)

    def __repr__(self):
        return (
            f"<Average key={self.key} self_cpu_time={_time(self.self_cpu_time_total)} "
            f"cpu_time={_time(self.cpu_time)} count={self.count} "
            f"input_shapes={self.input_shapes} cpu_memory_usage={self.cpu_memory_usage}>"
        )


def _named(cuda, name):
    return property(lambda self: getattr(self, name), doc=f"{name}, by its old name.")


def _shown(name):
    return property(lambda self: _time(getattr(self, name)))


for _name in _CELLS:
    if "device" in _name:
        _cuda = _name.replace("device", "cuda")
        setattr(Average, _cuda, _named(_cuda, _name))
    if "_time" in _name:
        setattr(Average, _name + "_str", _shown(_name))


class Averages(list):
    """What key_averages() returns: a list of Average."""

    def __init__(self, rows=(), has_memory=False):
        super().__init__(rows)
        self._has_memory = has_memory

    def __str__(self):
        return self.table()

    @property
    def self_cpu_time_total(self):
        return sum(row.self_cpu_time_total for row in self)

    def total_average(self):
        """The sums of all rows, as one of the key "Total"."""
        total = Average(self[0]._cells() if self else _NO_CELLS, False)
        for name in _SUMS:
            setattr(total, name, sum(getattr(row, name) for row in self))
        total.key, count = "Total", total.count or 1
        total.cpu_time = total.cpu_time_total / count
        total.device_time = total.device_time_total / count
        return total

    def table(
        self,
        sort_by=None,
        row_limit=100,
        max_src_column_width=75,
        max_name_column_width=55,
        max_shapes_column_width=80,
        header=None,
        top_level_events_only=False,
        time_unit=None,
    ):
        """torch's table of the rows, by any attribute of theirs, the largest first."""
        rows = list(self)
        if sort_by is not None:
            for device in ("cuda", "xpu", "privateuse1"):
                sort_by = sort_by.replace(device, "device")
            rows.sort(key=lambda row: getattr(row, sort_by), reverse=True)
        widths = max_name_column_width, max_shapes_column_width, max_src_column_width
        has_device = any(row.use_device for row in rows)
        return _gnomon._averages_table(
            [row._cells() for row in rows],
            None,
            header,
            time_unit,
            "CUDA" if has_device else None,
            row_limit,
            *(-1 if width is None else width for width in widths),
            top_level_events_only,
            self._has_memory,
        )


_NO_CELLS = ("", 0, "", "", "", "", -1.0) + (0.0,) * 12 + (0,)


def averages_of(profile, by_shapes=False, frames=0, by_overloads=False, apart=False):
    """The averages of a gnomon.Profile; or a row for each event, in the order of their
    begins."""
    rows, has_memory = _gnomon._averages(
        profile._raw, by_shapes, frames, by_overloads, apart
    )
    return Averages([Average(row, by_shapes) for row in rows], has_memory)
