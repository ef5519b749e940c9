# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""gnomon.profile: what torch.profiler.profile is, by its names, without torch.

    with gnomon.profile(
        schedule=gnomon.schedule(wait=1, warmup=1, active=3, repeat=2),
        on_trace_ready=gnomon.tensorboard_trace_handler("log"),
    ) as prof:
        for batch in loader:
            train(batch)
            prof.step()

Each cycle is a recording of its own: attached at its first active step, taken as a
gnomon.Profile and detached after its last one.
"""
import json
import os
import uuid
import warnings
import weakref

from . import _gnomon, _kineto
from ._arguments import (
    IGNORED,
    OF_TORCH,
    ProfilerActivity,
    activities_of,
    member_of,
    name_once,
)
from ._profiles import Profile
from ._schedule import NONE, RECORD, SAVE, WARMUP, ProfilerAction


def _always(step):
    return RECORD


# ---- The profiler -------------------------------------------------------------------

_DEVICE_WAIT_S = 10  # for what was launched in a cycle

_TIMES, _WORK = 1, 2  # of devices: of scopes on streams; kernels, copies and calls


def _record(devices, idle):
    try:
        return _gnomon._record(devices, idle)
    except _gnomon.Error as error:
        if error.code == _gnomon.EFULL and devices:
            name_once("ProfilerActivity.CUDA", str(error), 5)
            devices = 0
        elif error.code == _gnomon.ESTATE:
            # A child that was forked from one that records is off until it asks.
            _gnomon._setup(None, None, None, None, None)
        else:
            raise
    return _gnomon._record(devices, idle)


def _uses_cuda():
    """Whether the process has loaded CUDA's driver."""
    with open("/proc/self/maps", "rb") as maps:  # names are of any bytes
        return any(b"/libcuda.so" in line for line in maps)


def _has_work(profile):
    """Whether somebody told of work of devices."""
    return any(entry.key == "gnomon.cupti.version" for entry in profile.metadata) or any(
        track.kind == "stream" for track in profile.tracks
    )


_leader = None  # a weak reference: the profile whose steps are those of the run


class profile:
    """Records what is marked, by Python, C and others, on all threads, from start() to
    stop(), or as its schedule says, and calls `on_trace_ready` with itself after each
    cycle. It records beside what $GNOMON names, and beside other profiles.

    With record_shapes, profile_memory, with_stack, with_flops or with_modules, and where
    PyTorch is loaded, each cycle is a session of torch's own profiler too, whose events
    the profile then has. torch allows one: where another is open, there is none.

    Arguments and methods are those of torch.profiler.profile. What has no effect here
    is named once."""

    _calls = None

    def __init__(
        self,
        activities=None,
        *,
        schedule=None,
        on_trace_ready=None,
        record_shapes=False,
        profile_memory=False,
        with_stack=False,
        with_flops=False,
        with_modules=False,
        experimental_config=None,
        execution_trace_observer=None,
        acc_events=False,
        use_cuda=None,
        custom_trace_id_callback=None,
        post_processing_timeout_s=None,
    ):
        given = locals()
        self.activities = activities_of(activities, use_cuda)
        self._torch = {name: bool(given[name]) for name in _kineto.OPTIONS}
        self._config = experimental_config
        wants_torch = any(self._torch.values()) and _kineto.is_loaded()
        for name, why in IGNORED.items():
            if given[name] and not (wants_torch and name in OF_TORCH):
                name_once(name, why)
        self._wants_torch = wants_torch
        # torch's session: that of now, that of the last cycle, and until it was read.
        self._session = self._delivered = self._unread = self._label = None
        self.schedule = schedule or _always
        self._has_steps = schedule is not None
        self.on_trace_ready = on_trace_ready
        self.record_shapes, self.profile_memory = record_shapes, profile_memory
        self.with_stack, self.with_flops = with_stack, with_flops
        self.with_modules = with_modules
        self.custom_trace_id_callback = custom_trace_id_callback
        self.step_num = 0
        self.current_action = self._action(0)
        self._devices = _WORK if ProfilerActivity.CUDA in self.activities else 0
        self._asks_first = activities is None  # whether the process uses CUDA
        self._process = None  # the one in which it was started
        self._recording = self._idle = self._profile = None
        self._metadata = {}
        self._trace_id = None

    def __repr__(self):
        return f"<gnomon.profile: step {self.step_num}, {self.current_action.name}>"

    def _repr_html_(self):
        """A notebook shows the last cycle, or what there is of the first one."""
        return self.profile()._repr_html_() if self._has_profile() else None

    def _repr_pretty_(self, printer, cycle):
        printer.text(repr(self))
        if self._has_profile():
            printer.text("\n")
            self.profile()._repr_pretty_(printer, cycle)

    def _has_profile(self):
        return self._profile is not None or bool(self._recording and self._is_here())

    # ---- Steps

    def _action(self, step):
        return member_of(ProfilerAction, self.schedule(step))

    def _is_here(self):
        """A child that was forked has no part in what its parent records."""
        return self._process == os.getpid()

    def _leads(self):
        return _leader is not None and _leader() is self

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *error):
        self.stop()

    def start(self):
        """Begins with the action of the current step. A second time is ignored."""
        global _leader
        if self._is_here():
            return
        self._process = os.getpid()
        self._recording = self._idle = None
        self._end_calls()
        led = _leader and _leader()
        try:
            self._change(NONE, self.current_action)
        except BaseException:
            self._process = None
            raise
        if led is None or not led._is_here():
            _leader = weakref.ref(self)
            _gnomon._step_begin(self.step_num)

    def stop(self):
        """Ends it. A cycle that is being recorded ends with it, and is delivered."""
        global _leader
        if not self._is_here():
            return
        self._process = None
        if self._leads():
            _leader = None
        self._change(self.current_action, None)

    def step(self):
        """A step is over, and the next one begins. It is a gnomon.step() too: of two
        profiles at once those of the one that began first."""
        action = self._action(self.step_num + 1)  # may raise: nothing has changed then
        before, self.current_action = self.current_action, action
        self.step_num += 1
        if not self._is_here():
            return
        self._end_label()
        if self._leads():
            _gnomon.step(self.step_num)
        if before is action is not SAVE or (before, action) == (RECORD, SAVE):
            self._begin_label()
            return
        try:
            self._change(before, action)
        finally:
            if self._leads():
                _gnomon._step_begin(self.step_num)  # without what came in between

    def _change(self, before, after):
        """From the action of a step to another one, or after SAVE to a new cycle; None:
        there is no step any more."""
        if (before, after) in ((WARMUP, NONE), (RECORD, NONE), (RECORD, WARMUP)):
            warnings.warn(
                f"Incorrect schedule: {before.name} followed by {after.name}",
                stacklevel=3,
            )
        try:
            if before in (RECORD, SAVE) and self._end() and self.on_trace_ready:
                self.on_trace_ready(self)
        finally:
            if not self._is_here():  # it is stopped, perhaps by the handler
                self._drop_idle()
                self._drop_session()
            elif after in (RECORD, SAVE):
                self._begin()
            elif after is WARMUP and self._wants_torch:
                self._open_session()
            elif after is WARMUP and self._wanted_devices() == _WORK:
                self._idle = _record(_WORK, True)
            else:
                self._drop_idle()
                self._drop_session()

    # ---- Recording

    def _wanted_devices(self):
        if self._asks_first and _uses_cuda():
            self._asks_first = False
        return 0 if self._asks_first else self._devices

    def _begin(self):
        make = self.custom_trace_id_callback or (lambda: uuid.uuid4().hex.upper())
        self._trace_id = make()
        if self._wants_torch and self._session is None:
            self._open_session()
        # Of devices torch tells then; two that ask CUPTI would be one too many.
        self._recorded = 0 if self._session else self._wanted_devices()
        self._recording = _record(self._recorded, False)
        self._drop_idle()  # after the other came, so that devices stay on
        self._put("trace_id", json.dumps(self._trace_id))
        for key, text in self._metadata.items():
            self._put(key, text)
        if self._session:
            self._session.start()
            self._begin_label()
        elif self.with_stack:
            from ._calls import calls

            try:
                self._calls = calls()
                self._calls.__enter__()
            except _gnomon.Error as error:
                self._calls = None
                name_once("with_stack", str(error))

    def _end_calls(self):
        calls, self._calls = self._calls, None
        if calls:
            calls.__exit__()

    __del__ = _end_calls  # a recording ends with its object, too

    def _open_session(self):
        session = _kineto.Session(
            self._torch,
            self._config,
            ProfilerActivity.CUDA in self.activities,
            ProfilerActivity.CPU in self.activities,
        )
        if session.prepare():
            self._session = session
        else:
            name_once("a session of torch", "another profiler has torch's only one", 5)

    def _begin_label(self):
        """The step, as torch's profiler marks it, in its session."""
        if self._session and self._recording and self._has_steps:
            from torch.autograd.profiler import record_function

            self._label = record_function(f"ProfilerStep#{self.step_num}")
            self._label.__enter__()

    def _end_label(self):
        label, self._label = self._label, None
        if label:
            label.__exit__(None, None, None)

    def _drop_session(self):
        """One that was prepared, and not begun."""
        session, self._session = self._session, None
        if session:
            session.start()
            session.stop()

    def _drop_idle(self):
        idle, self._idle = self._idle, None
        if idle:
            idle.end()

    def _end(self):
        """False: there was none, as it could not be attached."""
        recording, self._recording = self._recording, None
        self._end_calls()
        self._end_label()
        session, self._session = self._session, None
        self._delivered = session if session and session.stop() else None
        self._unread = self._delivered
        if recording is None:
            return False
        try:
            if self._recorded:
                _gnomon._device_wait(_DEVICE_WAIT_S)
            self._profile = Profile(recording.take())
        finally:
            recording.end()
        if self._recorded == _WORK and not _has_work(self._profile):
            self._devices = _TIMES  # one line has said why, and none says it again
        missing = sum(
            loss.count
            for loss in self._profile.losses
            if loss.kind.startswith(("events_", "activities_"))
        )
        if missing:
            warnings.warn(
                f"gnomon.profile: {missing} events of this cycle are missing: say "
                "GNOMON=mem=1GiB for more room, or have shorter cycles",
                stacklevel=4,
            )
        return True

    def profile(self):
        """The last cycle as a gnomon.Profile; while the first one is recorded, what
        there is of it."""
        if self._unread is not None:
            session, self._unread = self._unread, None
            self._profile = _kineto.profile_of(session, self._profile)
        if self._profile is not None:
            return self._profile
        if self._recording is None or not self._is_here():
            raise AssertionError(
                "gnomon.profile: nothing was recorded yet: ask in on_trace_ready, or "
                "after the end of a cycle"
            )
        return Profile(self._recording.take())

    # ---- Results

    def export_chrome_trace(self, path, use_python_export=False):
        """Writes the last cycle as a trace; one whose name ends in .gz is compressed. Any
        number of times, also after the end."""
        self.profile().export("chrome", path)

    def export_stacks(self, path, metric="self_cpu_time_total"):
        """Writes a line for each path of the last cycle: its names, from the outermost
        one on, and its own time in us, for flamegraph.pl; "flops" and "allocated_bytes"
        are its own too. With torch's stacks and a time a line for each event, as torch."""
        if metric not in _METRICS:
            raise ValueError(f"{metric!r} is none of {', '.join(_METRICS)}")
        profile = self.profile()
        if self._delivered and self.with_stack and metric.startswith("self_"):
            lines = _stack_lines(profile, metric)
        else:
            lines = _path_lines(profile, metric)
        own = dict(encoding="utf-8", errors="replace", opener=_of_owner)
        with open(path, "w", **own) as file:
            file.writelines(lines)

    def export_memory_timeline(self, path, device=None):
        """torch's own, of the last cycle: with record_shapes, profile_memory and
        with_stack."""
        if self._delivered is None:
            raise NotImplementedError(
                "gnomon.profile: memory by category is torch's, and there was no session "
                "of its profiler; memory of marked pools is in the trace"
            )
        from torch.profiler.profiler import _KinetoProfile

        owner = _KinetoProfile(**self._torch)
        owner.profiler = self._delivered.torch
        owner.export_memory_timeline(path, device)

    def toggle_collection_dynamic(self, enable, activities):
        """torch's own, of the session that is open."""
        if self._session is None or not self._session.is_ours:
            raise NotImplementedError(
                "gnomon.profile: without a session of torch's profiler, choose by "
                "schedule=, or by stop() and start()"
            )
        self._session.torch.toggle_collection_dynamic(enable, activities)

    def events(self):
        """The executions of the last cycle, as events of its gnomon.Profile."""
        return [e for e in self.profile().events if e.kind == "execution"]

    def key_averages(
        self,
        group_by_input_shape=False,
        group_by_stack_n=0,
        group_by_overload_name=False,
    ):
        """torch's list of sums by name, and by shapes, by so many frames of the stack and
        by overload."""
        from ._averages import averages_of

        return averages_of(
            self.profile(), group_by_input_shape, group_by_stack_n, group_by_overload_name
        )

    def total_average(self):
        """The sums of all events, as one row."""
        return self.key_averages().total_average()

    @property
    def self_cpu_time_total(self):
        return self.key_averages().self_cpu_time_total

    @property
    def profiler(self):
        """torch's torch.autograd.profiler.profile of the last cycle; without one, this."""
        return self._delivered.torch if self._delivered else self

    def report(self, profiler="simple"):
        """A report of the last cycle, as gnomon.Profile.report."""
        return self.profile().report(profiler)

    # ---- Metadata

    def add_metadata(self, key, value):
        """Adds a text to this trace and later ones; it becomes an entry of the run."""
        self.add_metadata_json(key, json.dumps(value))

    def add_metadata_json(self, key, value):
        """The same of JSON text."""
        if not isinstance(key, str) or not _gnomon._is_json(value):
            raise ValueError(f"metadata is a text and JSON, not {key!r} and {value!r}")
        self._metadata[key] = value
        if self._recording is not None and self._is_here():
            self._put(key, value)
        elif self._profile is not None:
            name_once(
                f"add_metadata({key!r})", "its cycle is over; later ones have it"
            )

    preset_metadata_json = add_metadata_json

    def _put(self, key, text):
        _gnomon._metadata(key, text)

    def get_trace_id(self):
        return self._trace_id

    def set_custom_trace_id_callback(self, callback):
        self.custom_trace_id_callback = callback


def _of_owner(path, flags):
    return os.open(path, flags, 0o600)


_PART = 32  # GNOMON_NODE_PART: what its scope's node has already
_STACK_LETTERS = str.maketrans(" ;\t\n", "____")


def _self_us(stats):
    return stats.self_ns // 1000 if stats else 0


_METRICS = {  # what a node has of its own, but for flops, which those below it have too
    "self_cpu_time_total": lambda node: _self_us(node.host),
    "self_cuda_time_total": lambda node: _self_us(node.device),
    "self_xpu_time_total": lambda node: 0,
    "self_privateuse1_time_total": lambda node: 0,
    "flops": lambda node: node.work.flops if node.work else 0,
    "allocated_bytes": lambda node: sum(m.allocated_bytes for m in node.memory),
}


def _path_lines(profile, metric):
    lines, below = [], {}
    for node in reversed(list(profile.nodes)):  # those below a node come before it
        own = 0 if node.flags & _PART else _METRICS[metric](node)
        if metric == "flops":
            inner, outer = below.get(node.id, 0), node.parent and node.parent.id
            below[outer] = below.get(outer, 0) + max(own, inner)
            own -= inner
        if own > 0:
            path_of = (name.translate(_STACK_LETTERS) for name in node.path)
            lines.append(f"{';'.join(path_of)} {own}\n")
    return reversed(lines)


def _stack_lines(profile, metric):
    from ._averages import averages_of

    for row in averages_of(profile, False, 1 << 30, False, True):
        us = int(getattr(row, metric)) if "cpu" in metric or "cuda" in metric else 0
        if us > 0 and row.stack:
            frames = (f.translate(_STACK_LETTERS) for f in reversed(row.stack))
            yield f"{';'.join(frames)} {us}\n"
