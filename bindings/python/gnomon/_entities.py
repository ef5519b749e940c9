# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The entities of a profile as objects: a class for each kind, made of the fields that
the library names, and sequences of them."""
import json
from collections import namedtuple

from . import _gnomon
from ._stats import Anchor, Bin, Memory, SlowStep, Stats, Tensor, Work


def _kinds(of):
    return next(words for name, _, _, words in _gnomon._fields(of) if name == "kind")


REGION_KINDS, EVENT_KINDS = _kinds("regions"), _kinds("events")


class Entity:
    """One entity of a profile: its fields, and `id`, its number."""

    __slots__ = ("_profile", "id", "_values")

    def __init__(self, profile, number, values):
        self._profile = profile
        self.id = number
        self._values = values

    def __eq__(self, other):
        return (
            type(self) is type(other)
            and self._profile is other._profile
            and self.id == other.id
        )

    def __hash__(self):
        return hash((type(self), self.id))

    def _asdict(self):
        """As the fields are, but other entities by their numbers."""
        plain = zip(self._fields, self._values)
        return {n: self._shows[n](v) if n in self._shows else v for n, v in plain}

    def __repr__(self):
        fields = ", ".join(f"{n}={v!r}" for n, v in self._asdict().items())
        return f"{type(self).__name__}({fields})"


def _as(kind):
    return lambda value: None if value is None else kind(*value)


def _word(words):
    return lambda value: words[value] if value < len(words) else str(value)


def _entity(of, plural, shows=None, **more):
    """The class of a kind: each field is a property; one that is the number of another
    entity gives that, or None, and a kind its word."""
    described = _gnomon._fields(plural)
    fields = tuple(name for name, *_ in described)
    refers = {name: kind for name, _, kind, _ in described if kind}
    words = {n: _word(words) for n, _, _, words in described if words and n == "kind"}
    shows = dict(words, **shows or {})
    space = dict(more, __slots__=(), _fields=fields, _shows=shows)

    def plain(i):
        return lambda self: self._values[i]

    def shown(i, show):
        return lambda self: show(self._values[i])

    def entity(i, kind):
        def get(self):
            number = self._values[i]
            return getattr(self._profile, kind)._number(number) if number else None

        return get

    for i, field in enumerate(fields):
        if field in refers:
            getter = entity(i, refers[field])
        elif field in shows:
            getter = shown(i, shows[field])
        else:
            getter = plain(i)
        space.setdefault(field, property(getter))
    return type(of, (Entity,), space)


def _of_region(self):
    region = self.region
    return region.name if region else ""


def _path(self):
    path, node = [], self
    while node is not None:
        path.append(node.name)
        node = node.parent
    return tuple(reversed(path))


def _event_region(self):
    """None for memory: its `pool` is a track."""
    number = 0 if self.kind == "memory" else self._asdict()["region"]
    return self._profile.regions._number(number) if number else None


def _event_pool(self):
    number = self._asdict()["region"] if self.kind == "memory" else 0
    return self._profile.tracks._number(number) if number else None


def _event_name(self):
    of = self.pool or self.region or (self.node.region if self.node else None)
    return of.name if of else ""


def _op_of(self):
    return self.node.op if self.node else None


def _event_shapes(self):
    op = _op_of(self)
    return [list(tensor.dims) for tensor in op.inputs] if op else []


def _event_stack(self):
    op = _op_of(self)
    text = json.loads(op.attributes.get("Call stack", '""')) if op else ""
    return text.split(";")[:-1]


class TimeRange(namedtuple("TimeRange", "start end")):
    """When an event was, in us."""

    __slots__ = ()

    def elapsed_us(self):
        return self.end - self.start


_stats = _as(Stats)
_plain = {
    "runs": _entity("Run", "runs", {"anchors": lambda v: [Anchor(*a) for a in v]}),
    "stages": _entity("Stage", "stages", {"steps": _stats}),
    "steps": _entity("Step", "steps"),
    "tracks": _entity("Track", "tracks"),
    "regions": _entity("Region", "regions"),
    "nodes": _entity(
        "Node",
        "nodes",
        {
            "host": _stats,
            "device": _stats,
            "work": _as(Work),
            "memory": lambda v: [Memory(*m) for m in v],
        },
        name=property(_of_region),
        path=property(_path),
    ),
    "opens": _entity("Open", "opens"),
    "links": _entity(
        "Link",
        "links",
        cause=property(lambda self: getattr(self, "from")),
        effect=property(lambda self: self.to),
    ),
    "counters": _entity("Counter", "counters", name=property(_of_region)),
    "metadata": _entity("Metadata", "metadata"),
    "losses": _entity("Loss", "losses"),
    "views": _entity("View", "views"),
    "ops": _entity(
        "Op",
        "ops",
        {"inputs": lambda v: [Tensor(*t) for t in v], "attributes": dict},
    ),
    "events": _entity(
        "Event",
        "events",
        region=property(_event_region),
        pool=property(_event_pool),
        name=property(_event_name),
        input_shapes=property(_event_shapes),
        stack=property(_event_stack),
        thread=property(lambda self: self.track.index),
        time_range=property(
            lambda self: TimeRange(
                self.begin_ns / 1000, (self.begin_ns + self.duration_ns) / 1000
            )
        ),
    ),
    "step_times": _entity("StepTime", "step_times", {"time": _stats}),
    "view_times": _entity("ViewTime", "view_times"),
    "strips": _entity(
        "Strip",
        "strips",
        {
            "bins": lambda v: [Bin(*b) for b in v],
            "slow": lambda v: [SlowStep(*s) for s in v],
        },
    ),
}


class Entities:
    """All entities of one kind, in order. Item 0 is number 1."""

    __slots__ = ("_profile", "_raw", "_kind", "_type")

    def __init__(self, profile, kind):
        self._profile = profile
        self._raw = profile._raw
        self._kind = kind
        self._type = _plain[kind]

    def __len__(self):
        return self._raw.count(self._kind)

    def _number(self, number):
        values = self._raw.get(self._kind, number)
        return self._type(self._profile, number, values)

    def __getitem__(self, at):
        if isinstance(at, slice):
            return [self._number(i + 1) for i in range(*at.indices(len(self)))]
        at = at + len(self) if at < 0 else at
        if at < 0:
            raise IndexError(at)
        return self._number(at + 1)

    def __iter__(self):
        for number in range(1, len(self) + 1):
            yield self._number(number)

    def __arrow_c_stream__(self, requested_schema=None):
        """A table for whatever reads Arrow; Profile.columns says which columns."""
        return self._raw.arrow(self._kind)

    def __repr__(self):
        return f"<{len(self)} {self._kind}>"
