# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch's own session for a window of gnomon.profile, and a profile of what it recorded:
operations with shapes, types, flops and stacks, memory, Python's calls and the work of
devices, and beside them what gnomon recorded meanwhile. For PyTorch 2.4 or later.

torch allows one session in a process, and tells nobody whose it is: a second one takes
the first one's place. So while ours is open, torch's two calls that open one are
replaced."""
import gc
import json
import marshal
import sys
import threading
from array import array

from . import _gnomon
from ._arguments import name_once
from ._entities import EVENT_KINDS, REGION_KINDS
from ._profiles import Profile

_THREAD, _STREAM, _POOL = 0, 1, 3  # gnomon_track_kind
_EXECUTION, _MARK, _COUNTER, _MEMORY = range(4)  # gnomon_event_kind
_BACKWARD, _LAUNCH = 1, 2  # gnomon_link_kind
_FLOPS_GIVEN = 2  # GNOMON_OP_FLOPS_GIVEN

OPTIONS = (
    "record_shapes",
    "profile_memory",
    "with_stack",
    "with_flops",
    "with_modules",
)


def is_loaded():
    return "torch" in sys.modules and hasattr(sys.modules["torch"], "autograd")


# ---- The session --------------------------------------------------------------------

_open = None  # ours, of any gnomon.profile of the process


def is_open():
    """Whether torch records its own marks for us."""
    return _open is not None


class Session:
    """torch's session of one window; `torch` is its torch.autograd.profiler.profile."""

    def __init__(self, options, config, use_cuda, use_cpu=True):
        import torch
        from torch.autograd import profiler

        if options.get("with_stack") and config is None:
            config = torch._C._profiler._ExperimentalConfig(verbose=True)
        use_cuda = use_cuda and torch.cuda.is_available()
        self._module = profiler
        self.is_ours = False
        self.torch = profiler.profile(
            use_kineto=True,
            use_cpu=use_cpu,
            use_device="cuda" if use_cuda else None,
            experimental_config=config,
            **options,
        )

    def prepare(self):
        """What takes long. False: another session is open."""
        global _open
        import torch

        if torch.autograd._profiler_enabled() or _open is not None:
            return False
        self.torch._prepare_trace()
        _open, self.is_ours = self, True
        _gnomon._operators_rest(True)
        self._calls = {
            name: getattr(self._module, name)
            for name in ("_prepare_profiler", "_enable_profiler")
        }
        for name, call in self._calls.items():
            setattr(self._module, name, self._taking(call))
        return True

    def _taking(self, call):
        def taken(*args, **keywords):
            if self._is_starting:
                return call(*args, **keywords)
            self._leave()
            name_once("torch's session", "another profiler took it in this window")
            return call(*args, **keywords)

        return taken

    _is_starting = False

    def start(self):
        if self.is_ours:
            self._is_starting = True
            self.torch._start_trace()
            self._is_starting = False

    def _leave(self):
        global _open
        if self.is_ours:
            self.is_ours, _open = False, None
            _gnomon._operators_rest(False)
            for name, call in self._calls.items():
                setattr(self._module, name, call)

    def stop(self):
        """False: another session took its place, and has what was recorded."""
        if not self.is_ours:
            return False
        self._leave()
        self.torch.__exit__(None, None, None)
        return True


# ---- Its events ---------------------------------------------------------------------


class _Numbers(dict):
    """Numbers things from 1, in the order in which they come."""

    def __missing__(self, key):
        self[key] = number = len(self) + 1
        return number


class _Columns:
    """The columns of torch's events; newer releases have more of them."""

    def __init__(self, events):
        self.events, self.kind = events, type(events[0]) if events else object

    def __call__(self, name, otherwise=None):
        method = getattr(self.kind, name, None)
        if method is None:
            return [otherwise] * len(self.events)
        try:
            return list(map(method, self.events))
        except UnicodeDecodeError:  # one that torch did not write as a text
            return [self._one(method, event) for event in self.events]

    @staticmethod
    def _one(method, event):
        try:
            return method(event)
        except UnicodeDecodeError as error:
            return error.object.decode(errors="replace")


_KINDS = {  # of regions, by torch's type of activity
    "python_function": REGION_KINDS.index("python"),
    "kernel": REGION_KINDS.index("kernel"),
    "gpu_memcpy": REGION_KINDS.index("copy"),
    "gpu_memset": REGION_KINDS.index("set"),
    "cuda_runtime": REGION_KINDS.index("api"),
    "cuda_driver": REGION_KINDS.index("api"),
}


def _activities(columns, names, on_host):
    """What each event is, also of torch before it said so."""
    if hasattr(columns.kind, "activity_type"):
        return columns("activity_type")
    labels = columns("is_user_annotation", False)
    calls = columns("is_python_function", False)
    found = []
    for name, is_host, label, call in zip(names, on_host, labels, calls):
        if label:
            found.append("user_annotation" if is_host else "gpu_user_annotation")
        elif not is_host:
            copy = "gpu_memcpy" if name.startswith("Memcpy") else "kernel"
            found.append("gpu_memset" if name.startswith("Memset") else copy)
        elif name.startswith(("cuda", "cu")) and "::" not in name:
            found.append("cuda_runtime")
        else:
            found.append("python_function" if call else "cpu_op")
    return found


_LEFT_OUT = (  # of stacks, as torch does
    ("autograd/__init__", "_make_grads"),
    ("autograd/__init__", "backward"),
    ("torch/tensor", "backward"),
    ("_internal/common_utils", "prof_callable"),
    ("_internal/common_utils", "prof_func_call"),
    ("_internal/common_utils", "prof_meth_call"),
)


_FRAME_LETTERS = str.maketrans(";\t\n", "___")  # as export_stacks has them


class _Shown(dict):
    """Of a frame: whether stacks have it."""

    def __missing__(self, frame):
        shown = not any(file in frame and name in frame for file, name in _LEFT_OUT)
        self[frame] = shown
        return shown


_MOMENTS = ("[memory]", "[OutOfMemory]")
_DROPPED = {  # by torch from its lists
    *_MOMENTS,
    "profiler::_record_function_enter",
    "profiler::_record_function_enter_new",
    "profiler::_record_function_exit",
    "aten::is_leaf",
    "aten::output_nr",
    "aten::_version",
}


class _Backward:
    """Which operation of forward made each of backward, by torch's numbers: of one number
    and thread the first one has the stack, and the last one is what ran."""

    def __init__(self, reader):
        starts, ends, threads = reader.starts, reader.ends, reader.threads
        self.numbers = reader.columns("sequence_nr", -1)
        self.forward_threads = reader.columns("fwd_thread_id", 0)
        self.of = [None] * len(starts)  # the one of backward that is around each
        self.firsts, self.lasts = {}, {}
        opened = {}
        scopes = reader.scopes
        for i in sorted(range(len(starts)), key=lambda i: (starts[i], -ends[i])):
            if reader.names[i] in _DROPPED:
                continue
            stack = opened.setdefault(threads[i], [])
            outer = None
            if reader.on_host[i] and not reader.is_async[i]:
                while stack and (
                    starts[i] >= ends[stack[-1]] or ends[i] > ends[stack[-1]]
                ):
                    stack.pop()
                outer = self.of[stack[-1]] if stack else None
                stack.append(i)
            self.of[i] = i if scopes[i] == 1 else outer
            if self.of[i] is None:
                key = self.numbers[i], threads[i]
                self.firsts.setdefault(key, i)
                if not self.forward_threads[i]:  # else it runs one of backward
                    self.lasts[key] = i

    def made_by(self, i, among):
        return among.get((self.numbers[i], self.forward_threads[i]))


class _Reader:
    """Makes a profile of the events of a session."""

    def __init__(self, session, meanwhile):
        import torch

        results = session.torch.kineto_results
        self.session, self.meanwhile = session, meanwhile
        self.zero = results.trace_start_ns()
        self.columns = columns = _Columns(results.events())
        hidden = columns("is_hidden_event", False)
        if any(hidden):
            columns.events = [e for e, h in zip(columns.events, hidden) if not h]
        self.names = columns("name")
        self.starts = columns("start_ns")
        self.ends = self._ends()
        self.has_devices = torch.cuda.is_available()
        self.on_host = [True] * len(self.names)
        if self.has_devices:
            self.on_host = [kind == 0 for kind in map(int, columns("device_type"))]
        self.threads = columns("start_thread_id")
        self.tracks, self.track_rows = _Numbers(), []
        self.regions, self.ops, self.op_rows = _Numbers(), _Numbers(), []
        self.links = array("q")

    def _ends(self):
        if hasattr(self.columns.kind, "end_ns"):
            return self.columns("end_ns")
        return [a + b for a, b in zip(self.starts, self.columns("duration_ns"))]

    def _track(self, kind, key, name, os_id, index, device):
        number = self.tracks[kind, key]
        if number > len(self.track_rows):
            self.track_rows.append((kind, name, os_id, index, device))
        return number

    def _host_tracks(self):
        """By torch's number of a thread and the system's."""
        known = {t.native_id: t.name for t in threading.enumerate()}
        known.update((t.os_id, t.name) for t in self.meanwhile.tracks if t.os_id > 0)

        def track(index, os_id):
            name = known.get(os_id) or f"thread {os_id}"
            return self._track(_THREAD, os_id or -index, name, os_id, index, -1)

        return track

    def _event_tracks(self):
        firsts = {}
        for i, thread in enumerate(self.threads):
            if thread not in firsts and self.on_host[i]:
                firsts[thread] = self._thread(self.columns.events[i])
        if not self.has_devices:
            return list(map(firsts.get, self.threads))
        columns = self.columns("device_index", 0), self.columns("device_resource_id", 0)
        tracks = []
        for host, thread, device, stream in zip(self.on_host, self.threads, *columns):
            key = device, stream
            name = f"cuda:{device} stream {stream}"
            tracks.append(
                firsts[thread]
                if host
                else self._track(_STREAM, key, name, stream, stream, device)
            )
        return tracks

    def _pool(self, device):
        name = "host" if device < 0 else f"cuda:{device}"
        return self._track(_POOL, name, name, -1, 0, device)

    def _stacks(self):
        """As torch has them: of backward that of the operation that made it."""
        shown, of, stacks = _Shown(), {}, []
        for stack in map(tuple, self.columns("stack", ())):
            if stack not in of:
                of[stack] = tuple(frame for frame in stack if shown[frame])
            stacks.append(of[stack])
        made = list(stacks)
        for i, outer in enumerate(self.backward.of if self.backward else ()):
            if outer is not None:
                first = self.backward.made_by(outer, self.backward.firsts)
                made[i] = () if first is None else stacks[first]
        return made

    # ---- Operations

    def _add_op(self, key, name, flops, shapes, types, strides, stack, overload):
        number = self.ops[key]
        if number > len(self.op_rows):
            attributes = []
            if overload:
                attributes.append(("Overload name", json.dumps(overload)))
            if stack:
                text = "".join(f.translate(_FRAME_LETTERS) + ";" for f in stack)
                attributes.append(
                    ("Call stack", json.dumps(text, ensure_ascii=False))
                )
            inputs = []
            if len(types) == len(shapes) == len(strides):
                inputs = list(zip(types, shapes, strides))
            elif len(types) == len(shapes):  # an older torch
                inputs = [(*of, []) for of in zip(types, shapes)]
            sizes = 2 * sum(map(len, shapes))
            self.op_rows.append(
                (name, _FLOPS_GIVEN, flops, sizes, inputs, attributes)
            )
        return number

    def _operations(self, activities):
        """By event; 0: none, as of what has neither inputs nor a stack."""
        options = self.session.torch
        count = len(self.names)
        empty, nothing = [[]] * count, [()] * count
        shapes = self.columns("shapes", []) if options.record_shapes else empty
        types = self.columns("dtypes", []) if options.record_shapes else empty
        strides = empty
        if options.record_shapes:
            strides = self.columns("structured_input_strides", [])
        stacks = self._stacks() if options.with_stack else nothing
        flops = self.columns("flops", 0) if options.with_flops else [0] * count
        overloads = self.columns("overload_name", "")
        texts = nothing  # what two operations are compared by
        if options.record_shapes:
            texts = [marshal.dumps(of, 2) for of in zip(shapes, types, strides)]
        columns = zip(self.names, flops, shapes, types, strides, stacks, overloads)
        numbers = []
        for activity, text, row in zip(activities, texts, columns):
            if activity != "cpu_op" and not row[5]:
                numbers.append(0)
                continue
            name, work, _, _, _, stack, overload = row
            if activity != "cpu_op":
                row = ("", *row[1:])
            key = name, activity, work, text, stack, overload
            numbers.append(self._add_op(key, *row))
        return numbers

    # ---- The columns

    def _link(self):
        """Work of devices with what launched it, and backward with forward."""
        columns, backward = self.columns, self.backward
        links = columns("linked_correlation_id", 0) if self.has_devices else []
        if any(links):
            ids = {
                own: i
                for i, (own, link) in enumerate(
                    zip(columns("correlation_id", 0), links)
                )
                if own and not link and self.on_host[i]
            }
            for i, link in enumerate(links):
                if link in ids and not self.on_host[i]:
                    self.links.extend((ids[link], i, _LAUNCH))
        for i in range(len(self.names)) if backward else ():
            if backward.of[i] == i and backward.numbers[i] >= 0:
                forward = backward.made_by(i, backward.lasts)
                if forward is not None:
                    self.links.extend((forward, i, _BACKWARD))

    def _addresses(self):
        """Of allocations and frees, by time and bytes: only torch's tree has them."""
        found = {}
        nodes = self.session.torch.kineto_results.experimental_event_tree()
        while nodes:
            node = nodes.pop()
            nodes.extend(node.children)
            if node.name == "[memory]":
                fields = node.extra_fields
                key = node.start_time_ns, fields.alloc_size
                found.setdefault(key, []).append(fields.ptr or 0)
        return found

    def _moments(self, kinds, regions, ops, values):
        """Allocations, whose operation is the address, and marks that there was no
        memory."""
        addresses = self._addresses() if "[memory]" in self.names else {}
        for i, name in enumerate(self.names):
            if name not in _MOMENTS:
                continue
            event = self.columns.events[i]
            device = -1 if self.on_host[i] else event.device_index()
            pool = self._pool(device)
            values[i] = float(event.nbytes())
            if name == "[memory]":
                kinds[i], regions[i] = _MEMORY, pool
                of = addresses.get((self.starts[i], event.nbytes()))
                ops[i] = of.pop(0) if of else 0
            else:
                key = REGION_KINDS.index("mark"), name, self.track_rows[pool - 1][1]
                kinds[i], regions[i] = _MARK, self.regions[key]
            self.ends[i] = self.starts[i]
            if device >= 0:  # on the thread that asked for it
                self.tracks_of[i] = self._thread(event)

    def _thread(self, event):
        return self.host_track(
            event.start_thread_id(), getattr(event, "device_resource_id", int)()
        )

    def _add_meanwhile(self, rows):
        """What gnomon recorded: its own scopes, marks and counters."""
        profile = self.meanwhile
        shift = profile.runs[0].zero_unix_ns - self.zero if profile.runs else 0
        threads = {}
        for event in profile.events:
            kind = EVENT_KINDS.index(event.kind)
            region = event.node.region if kind == _EXECUTION else event.region
            if kind == _MEMORY or region is None or event.track.kind != "thread":
                continue
            os_id = event.track.os_id
            if os_id not in threads:
                threads[os_id] = self.host_track(-len(threads) - 1, os_id)
            key = REGION_KINDS.index(region.kind), region.name, region.category
            begin = max(event.begin_ns + shift, 0)
            rows.append(
                (
                    kind,
                    threads[os_id],
                    self.regions[key],
                    0,
                    begin,
                    begin + event.duration_ns,
                    kind == _EXECUTION and event.node.flags & _RANGE,
                    event.value,
                )
            )

    def read(self):
        columns, zero = self.columns, self.zero
        self.scopes = columns("scope", 0)
        self.is_async = self._asyncs()
        self.backward = _Backward(self) if 1 in self.scopes else None
        self.host_track = self._host_tracks()
        self.tracks_of = self._event_tracks()
        activities = _activities(columns, self.names, self.on_host)
        kinds = [_EXECUTION] * len(self.names)
        values = [0.0] * len(self.names)
        ops = self._operations(activities)
        regions = [
            self.regions[_KINDS.get(activity, 0), name, activity]
            for activity, name in zip(activities, self.names)
        ]
        self._moments(kinds, regions, ops, values)
        self._link()
        starts = [start - zero if start > zero else 0 for start in self.starts]
        ends = [max(end - zero, start) for end, start in zip(self.ends, starts)]
        rows = []
        self._add_meanwhile(rows)
        packed = [kinds, self.tracks_of, regions, ops, starts, ends, self.is_async]
        for column, more in zip([*packed, values], zip(*rows)):
            column.extend(more)
        packed = [array("q", column).tobytes() for column in packed]
        packed.append(array("d", values).tobytes())
        options = [
            (name, "1") for name in OPTIONS if getattr(self.session.torch, name, False)
        ]
        return Profile(
            _gnomon._profile_of(
                self.meanwhile._raw,
                zero,
                max(ends, default=0),
                options,
                self.track_rows,
                [key for key in self.regions],
                self.op_rows,
                packed,
                self.links.tobytes(),
            )
        )

    def _asyncs(self):
        threads = zip(self.threads, self.columns("end_thread_id"), self.on_host)
        moved = [a != b and host for a, b, host in threads]
        said = self.columns("is_async", False)
        return [a or (b and host) for a, b, host in zip(moved, said, self.on_host)]


_RANGE = 2  # GNOMON_NODE_RANGE


def profile_of(session, meanwhile):
    """The gnomon.Profile of a session that is over, and of what gnomon recorded."""
    collects = gc.isenabled()
    gc.disable()  # of what is made here nothing is garbage
    try:
        return _Reader(session, meanwhile).read()
    finally:
        if collects:
            gc.enable()
