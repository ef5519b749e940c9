# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""gnomon as a profiler of Lightning 2: `lightning` or `pytorch_lightning`.

    from gnomon.lightning import GnomonProfiler
    trainer = Trainer(profiler=GnomonProfiler("simple,advanced"))

Lightning's actions become actions of gnomon, so marks of the program, of C and of other
packages are inside them. If $GNOMON is set, it is used instead of the argument, and
Lightning's own report is empty.
"""
import atexit
import collections
import contextlib
import itertools
import os
import re
import shutil
import sys
import time
import warnings
import weakref

import gnomon


def _base():
    """Lightning's Profiler: of the package that is imported already, or else can be."""
    for name in ("lightning.pytorch", "pytorch_lightning"):
        if name in sys.modules:
            return __import__(name + ".profilers", fromlist=["Profiler"]).Profiler
    try:
        from lightning.pytorch.profilers import Profiler
    except ImportError:
        from pytorch_lightning.profilers import Profiler
    return Profiler


_BARE = ("dump_stats", "extended", "dir")  # options that need no value


def _is_setting(item):
    return "=" in item.partition("(")[0] or item in _BARE


def _without_output(spec, folder=None):
    """(spec, names): the spec in which profilers that name no file write no report, and
    the names of these: Lightning writes what they say. Their other files, as traces, go
    to the folder, if it is one of this machine."""
    items, names = [], []
    output = ["file=/dev/null"]
    if folder and "://" not in str(folder):
        output.append(f"dir={gnomon._quoted(folder)}")
    settings = [item for item in gnomon._items(spec) if _is_setting(item)]
    own = any(s.startswith(("file=", "dir=", "dir")) for s in settings)
    for item in gnomon._items(spec):
        name, bracket, options = item.partition("(")
        if not own and not _is_setting(item):
            words = gnomon._items(options.rstrip(")")) if bracket else []
            if not any(w.split("=")[0].strip() in ("file", "dir") for w in words):
                names.append(name)
                item = f"{name}({','.join([*words, *output])})"
        items.append(item)
    return ",".join(items), names


_FILE = re.compile(r'file=("[^"]*"|[^,)]*)')


def _own_name(found):
    name = found[1].strip('"')
    folder, base = os.path.split(name)
    stem, dot, suffix = base.partition(".")
    return f'file="{os.path.join(folder, stem)}-%w{dot}{suffix}"'


def _for_workers(spec):
    """Of a spec what writes files, for the workers of data loaders, where %w is what
    tells them apart. "": nothing writes files."""
    items = [item for item in gnomon._items(spec) if "file=/dev/" not in item]
    text = ",".join(items)
    return _FILE.sub(_own_name, text) if _FILE.search(text) else ""


class _Action:
    """What profile() returns: an action, as a with block."""

    __slots__ = ("profiler", "name")

    def __init__(self, profiler, name):
        self.profiler, self.name = profiler, name

    def __enter__(self):
        self.profiler.start(self.name)
        return self.name

    def __exit__(self, *error):
        self.profiler.stop(self.name)


# How the name of the action ends whose end is a step, by stage. Validations inside of
# fit are none, as those of its sanity check.
_STEPS = {
    "fit": "run_training_batch",
    "validate": ".validation_step",
    "test": ".test_step",
    "predict": ".predict_step",
}

# ---- What is attached ----------------------------------------------------------------
#
# Each profiler attaches items of its own, under names of their own, beside what others
# attached, and they go with it.

_numbers = itertools.count(1)

_process = None  # where profilers of this kind began the run
_is_ending = False
_live = weakref.WeakSet()
_gone = []  # names of profilers whose items are to go
_opened = lambda: None  # a weak reference: the profiler whose stage is open


def _begin_run():
    global _process, _opened
    if _process != os.getpid():
        _process, _opened = os.getpid(), lambda: None
        _gone.clear()
        gnomon.setup()
        gnomon.metadata("cpus", len(os.sched_getaffinity(0)))
        atexit.register(_report_all)


def _take_away(name):
    """All items of a profiler. False: not now, as inside a callback."""
    try:
        gnomon.configure(f"-{name}-*")
    except gnomon.Error as error:
        return error.code != gnomon._gnomon.EBUSY  # else the program replaced them
    return True


def _clear():
    """Not in a stage: the last reports of what goes would be about a part of it."""
    while _gone and _opened() is None and _take_away(_gone[-1]):
        _gone.pop()


def _make_room():
    """Those that wait for their next stage take no part in another one's."""
    _clear()
    for profiler in list(_live):
        if profiler._waits():
            profiler._rest()


def _attach(name, words):
    try:
        gnomon.configure("+" + words)
    except BaseException:
        _take_away(name)  # what was right in it
        raise


_ranked = None  # the process that was told its rank


def _tell_rank(rank):
    """Lightning's launchers tell it only when a stage begins; the first call counts."""
    global _ranked
    if _ranked != os.getpid():
        _ranked = os.getpid()
        gnomon.setup(**rank)
        gnomon.teardown()  # of this setup: that of _attach goes on


def _report_all():
    """At the end of Python: what an exception or Ctrl-C kept from being reported. Then
    the run's end writes what is left."""
    global _is_ending
    _is_ending = True
    for profiler in list(_live):
        profiler._report_late()
        if profiler._dumps:
            profiler._rest()


def _loaders_of(names):
    """The report of data loaders from the profile of one that has their counters."""
    for name in names:
        with contextlib.suppress(gnomon.Error):
            profile = gnomon.snapshot(name)
            if any(c.region.category == "loaders" for c in profile.counters):
                return profile.report("loaders")
    return ""


class GnomonProfiler(_base()):
    """`profilers` are words of $GNOMON, or a list of them: "simple",
    "simple(extended=false),advanced", "trace(file=fit.json)". The reports go where those
    of Lightning's profilers go: to a file in `dirpath` if there is a `filename`, else to
    Lightning's log. Profilers that name a file of their own write it themselves.

    The report of a stage comes when Lightning describes it, and also where an exception
    or Ctrl-C ends it: at the next stage, or when Python ends.

    Each batch is a step, unless `steps` is False, or `step=` says what is one: for
    programs that call gnomon.step themselves.

    "pytorch" alone is PyTorchProfiler, with its arguments.

    With "simple", `recorded_durations`, `current_actions` and `start_time` are as of
    Lightning's SimpleProfiler; of each action the first `durations` are kept."""

    _open = _attached = _is_used = False
    _loaders = None

    def __new__(cls, profilers="simple", *args, **keywords):
        if profilers == "pytorch":
            return __getattr__("PyTorchProfiler")(*args, **keywords)
        return super().__new__(cls)

    def __init__(
        self, profilers="simple", dirpath=None, filename=None, steps=True, durations=10000
    ):
        super().__init__(dirpath=dirpath, filename=filename)
        if not isinstance(profilers, str):
            profilers = ",".join(profilers)
        self._words = profilers
        self._spec, self._names = _without_output(profilers, dirpath)
        items = gnomon._items(self._spec)
        for_all = any(_is_setting(i) and i.startswith("dump_stats") for i in items)
        self._dumps = any(
            i.startswith("advanced")
            and (for_all or "dump_stats" in i)
            and "file=/dev/null" in i
            for i in items
        )
        self._folder = None if "://" in str(dirpath) else dirpath
        self._described = ""
        self._steps, self._step = steps, ()
        self._process = self._rank_on_node = None
        self._durations = durations
        self._keeps = durations and re.search(r"(^|,)\s*simple\b", profilers) is not None
        self.recorded_durations = collections.defaultdict(list)
        self.current_actions = {}
        self.start_time = time.perf_counter()
        self._number_items()
        self._begin()

    def _number_items(self):
        self._name = f"lightning-{next(_numbers)}"
        self._items = {}  # by their names, whether Lightning writes what they say
        words = []
        for item in gnomon._items(self._spec):
            if not _is_setting(item):
                name, bracket, options = item.partition("(")
                own = f"{self._name}-{len(self._items)}"
                self._items[own] = "file=/dev/null" in options
                item = f"{name}(as={own}{',' if bracket else ''}{options or ')'}"
            words.append(item)
        self._named = ",".join(words)

    def _begin(self):
        """Attaches what is not there: in each process that the profiler comes to, and
        where it rested, or the program attached other things."""
        _begin_run()
        if self._process != os.getpid():
            self._process, self._open = os.getpid(), False
        _live.add(self)
        present = re.findall(r"\bas=(lightning-[-0-9]+)", gnomon.spec())
        if not os.environ.get("GNOMON") and not set(self._items) <= set(present):
            _make_room()
            try:
                _attach(self._name, self._named)
            except gnomon.Error as error:
                if error.code != gnomon._gnomon.EFULL:
                    raise
                warnings.warn(f"{error}: this profiler records nothing")
        self._attached = True

    def __del__(self):
        """Its items go with it, and what nobody described is written."""
        if self._attached and self._process == os.getpid() and not _is_ending:
            with contextlib.suppress(gnomon.Error):  # inside a callback
                self._report_late()
            self._rest()
        super().__del__()

    def _waits(self):
        """Whether its stage is over, and another one may come, or its first one."""
        is_here = self._attached and self._process == os.getpid()
        is_between = self._stage is not None or not self._is_used
        return is_here and is_between and not self._open

    def _rest(self):
        self._attached = False
        _gone.append(self._name)
        _clear()
        self._name_dumps()

    def __getstate__(self):
        state = dict(self.__dict__, _process=None, _open=False, _loaders=None)
        state["_attached"] = False
        state["_output_file"] = state["_write_stream"] = None
        state.pop("_lightning_module", None)  # a weak proxy, which cannot be pickled
        return state

    def __setstate__(self, state):
        self.__dict__.update(state)
        self._number_items()

    # ---- Actions

    def start(self, action_name):
        if not self._open:
            self._mark_outside()
        gnomon.start(action_name)
        if self._keeps:
            self.current_actions[action_name] = time.perf_counter()

    def stop(self, action_name):
        if self._keeps:
            self._keep_duration(action_name, time.perf_counter())
        gnomon.stop(action_name)
        if action_name.endswith(self._step):
            gnomon.step()

    def profile(self, action_name):
        return _Action(self, action_name)

    def _mark_outside(self):
        """Before a mark outside of its own stages, as `configure_callbacks` is."""
        self._is_used = True
        if not self._attached:
            self._begin()
        opened = _opened()
        if opened and opened._was_left():
            opened._report_late()  # else this mark would be in that stage

    def _keep_duration(self, action_name, now):
        begin = self.current_actions.pop(action_name, None)
        kept = self.recorded_durations[action_name] if begin is not None else ()
        if begin is not None and len(kept) < self._durations:
            kept.append(now - begin)
            if len(kept) == self._durations:
                warnings.warn(
                    f"recorded_durations keeps the first {len(kept)} of {action_name!r}: "
                    "GnomonProfiler(durations=...) says how many"
                )

    # ---- Stages

    @property
    def local_rank(self):
        return self._rank_on_node or 0

    def _trainer(self):
        try:
            return self._lightning_module.trainer  # which the trainer sets before setup
        except (AttributeError, ReferenceError, RuntimeError):
            return None

    def _was_left(self):
        """Whether an exception ended its stage: nobody will describe it."""
        state = getattr(self._trainer(), "state", None)
        status = getattr(state, "status", None)
        return getattr(status, "value", status) == "interrupted"

    def _rank(self):
        """The rank among all nodes, as arguments of gnomon.setup; {}: not known."""
        trainer = self._trainer()
        if self._rank_on_node is None or trainer is None:
            return {}
        return {
            "rank": trainer.global_rank,
            "local_rank": self._rank_on_node,
            "world_size": trainer.world_size,
        }

    def setup(self, stage, local_rank=None, log_dir=None):
        global _opened
        self._begin()
        if _opened():
            _opened()._report_late()
        super().setup(stage=stage, local_rank=local_rank, log_dir=log_dir)
        self._rank_on_node = local_rank
        rank = self._rank()
        if rank:
            # In names, and for whose report is printed: nodes may share a folder.
            self._local_rank = rank["rank"]
            _tell_rank(rank)
        gnomon.stage_begin(stage)
        self._open, _opened = True, weakref.ref(self)
        said = any(i.startswith("step=") for i in gnomon._items(gnomon.spec()))
        if self._steps and not said:
            self._step = _STEPS.get(getattr(stage, "value", stage), ())
        if "torch" in sys.modules and gnomon.enabled():
            from . import _loader

            loads_for = weakref.WeakMethod(self._loads_for)
            self._loaders = _loader.Stage(
                lambda: loads_for()(), self._run_of_workers(rank)
            )
            _loader.begin(self._loaders)

    def _loads_for(self):
        """What a data loader that starts now is for: "train", "val", ..."""
        state = getattr(self._trainer(), "state", None)
        stage = getattr(state, "stage", None)
        return getattr(stage, "dataloader_prefix", None) or self._stage

    def _run_of_workers(self, rank):
        """What workers record, if that goes to files: their own reports on stderr, a
        table for each worker and epoch, would bury the report."""
        is_ours = not os.environ.get("GNOMON")
        spec = _for_workers(self._spec if is_ours else gnomon.spec())
        if not spec:
            return None
        return {"spec": spec if is_ours else "", "rank": rank, "stage": self._stage}

    def summary(self):
        # Without a trainer there may be no stage at all.
        if self._open or (self._stage is None and self._process == os.getpid()):
            has_loaders = self._loaders and self._loaders.sample()
            texts = [gnomon.summary(name) for name in self._asked()]
            self._name_dumps()
            if has_loaders:
                texts.append(_loaders_of(gnomon._attached()))
            self._described = "\n".join(filter(None, texts))
        return self._described

    def _asked(self):
        """Whose reports Lightning writes: of $GNOMON those of the same names."""
        if os.environ.get("GNOMON"):
            attached = gnomon._attached()
            return [name for name in self._names if name in attached]
        attached = gnomon.spec()
        return [
            own
            for own, is_asked in self._items.items()
            if is_asked and re.search(rf"\bas={own}\b", attached)
        ]

    def _name_dumps(self):
        """The .prof files of actions get Lightning's names, and go where its go: after
        each report, and there is one where its items go."""
        if not self._dumps or os.environ.get("GNOMON"):
            return
        world, rank = self._rank().get("world_size", 1), self._local_rank
        stage = f"{getattr(self._stage, 'value', self._stage)}-" if self._stage else ""
        ours = f"{stage}advanced-" + (f"{rank}-" if world > 1 else "")
        folder = self._folder or "."  # of which there is none before the first file
        for name in os.listdir(folder) if os.path.isdir(folder) else ():
            if name.startswith(ours) and name.endswith(".prof"):
                action = name[len(ours) : -len(".prof")]
                theirs = self._prepare_filename(action_name=action, extension=".prof")
                to = os.path.join(self.dirpath or ".", theirs)
                os.makedirs(os.path.dirname(to), exist_ok=True)
                shutil.move(os.path.join(folder, name), to)

    def teardown(self, stage):
        global _opened
        self._step = ()
        if self._open:
            self._open, _opened = False, lambda: None
            with contextlib.suppress(gnomon.Error):  # the program ended it
                gnomon.stage_end()
            self._name_dumps()
        if self._loaders:
            from . import _loader

            _loader.end(self._loaders)
            self._loaders = None
        super().teardown(stage=stage)
        if _gone:
            _clear()

    def _report_late(self):
        if self._open and self._process == os.getpid():
            self.describe()


class _Adopted(gnomon.Profiler):
    def __init__(self, profiler):
        self.profiler = profiler

    def setup(self, stage):
        self.profiler.setup(stage=stage or None)

    def start(self, frame):
        self.profiler.start(frame.name)

    def stop(self, frame):
        if frame.finished:
            self.profiler.stop(frame.name)

    def summary(self, profile):
        return self.profiler.summary()

    def teardown(self, stage):
        self.profiler.teardown(stage=stage or None)


def adopt(profiler, options=""):
    """Attaches a profiler that was written for Lightning, an object of a subclass of its
    Profiler: it gets all scopes and actions of the program, on every thread, under its
    own rules. Returns what gnomon.detach takes."""
    adopted = _Adopted(profiler)
    gnomon.attach(adopted, options, name=type(profiler).__name__.lower())
    return adopted


def __getattr__(name):
    if name == "PyTorchProfiler":  # which needs torch's profiler
        from ._lightning_torch import PyTorchProfiler

        return PyTorchProfiler
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
