# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
from typing import Any, Dict, Generic, Iterator, List, NamedTuple, Optional
from typing import Sequence, Tuple, TypeVar, overload

_Entity = TypeVar("_Entity", bound="Entity")

class Stats(NamedTuple):
    count: int
    total_ns: int
    self_ns: int
    min_ns: int
    max_ns: int
    cells: Tuple[Tuple[int, int], ...]
    @property
    def mean_ns(self) -> float: ...
    def quantile_ns(self, fraction: float) -> float: ...

class Work(NamedTuple):
    flops: int
    bytes: int

class Memory(NamedTuple):
    pool: int
    allocations: int
    frees: int
    allocated_bytes: int
    freed_bytes: int
    live_bytes: int
    peak_bytes: int
    held_bytes: int
    at_peak_bytes: int
    reserved_bytes: int
    failures: int
    unknown: int

class Bin(NamedTuple):
    count: int
    min: float
    max: float
    sum: float

class SlowStep(NamedTuple):
    at: int
    number: int
    ns: int

class Anchor(NamedTuple):
    ns: int
    unix_ns: int
    error_ns: int

class Tensor(NamedTuple):
    dtype: str
    dims: Tuple[int, ...]
    strides: Tuple[int, ...]

class Row(NamedTuple):
    name: str
    category: str
    host: Stats
    device: Optional[Stats]

class Entity:
    id: int

class Run(Entity): ...
class Stage(Entity): ...
class Step(Entity): ...
class Track(Entity): ...
class Region(Entity): ...

class Node(Entity):
    name: str
    path: Tuple[str, ...]

class Open(Entity): ...

class Link(Entity):
    cause: Optional[Node]
    effect: Optional[Node]

class Counter(Entity):
    name: str

class Metadata(Entity): ...
class Loss(Entity): ...
class View(Entity): ...

class Op(Entity):
    inputs: List[Tensor]
    attributes: Dict[str, str]

class Event(Entity):
    region: Optional[Region]
    pool: Optional[Track]
    name: str
    input_shapes: List[List[int]]
    stack: List[str]
    thread: int
    time_range: TimeRange

class TimeRange(NamedTuple):
    start: float
    end: float
    def elapsed_us(self) -> float: ...

class StepTime(Entity): ...
class ViewTime(Entity): ...

class Strip(Entity):
    slow: List[SlowStep]

class Entities(Generic[_Entity]):
    def __len__(self) -> int: ...
    @overload
    def __getitem__(self, at: int) -> _Entity: ...
    @overload
    def __getitem__(self, at: slice) -> List[_Entity]: ...
    def __arrow_c_stream__(self, requested_schema: Optional[Any] = None) -> Any: ...
    def __iter__(self) -> Iterator[_Entity]: ...

class Profile:
    runs: Entities[Run]
    stages: Entities[Stage]
    steps: Entities[Step]
    tracks: Entities[Track]
    regions: Entities[Region]
    nodes: Entities[Node]
    opens: Entities[Open]
    links: Entities[Link]
    counters: Entities[Counter]
    metadata: Entities[Metadata]
    losses: Entities[Loss]
    views: Entities[View]
    ops: Entities[Op]
    events: Entities[Event]
    step_times: Entities[StepTime]
    view_times: Entities[ViewTime]
    strips: Entities[Strip]
    def rows(
        self,
        stage: Optional[str] = None,
        view: Optional[int] = None,
        kinds: Optional[Sequence[str]] = None,
    ) -> List[Row]: ...
    def report(self, profiler: str = "simple") -> str: ...
    def export(self, form: str, path: Any, modules: bool = False) -> None: ...
    def show(self, path: Any = None) -> str: ...
    def columns(self, kind: str = "nodes") -> Dict[str, Sequence[Any]]: ...
    def to_pandas(self, kind: Optional[str] = None) -> Any: ...
    def to_arrow(self, kind: Optional[str] = None) -> Any: ...
    def __arrow_c_stream__(self, requested_schema: Optional[Any] = None) -> Any: ...
    def write(self, path: Any) -> None: ...

def load(path: Any) -> Profile: ...
def read(data: bytes) -> Profile: ...
def snapshot(profiler: str, all_stages: bool = False) -> Profile: ...
