# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""gnomon as a profiler of Lightning 2: `lightning` or `pytorch_lightning`.

    from gnomon.lightning import GnomonProfiler
    trainer = Trainer(profiler=GnomonProfiler("simple,advanced"))

Lightning's actions become actions of gnomon, so marks of the program, of C and of other
packages are inside them. $GNOMON goes before what is written here: where it is set,
gnomon reports as it says, and Lightning's own report is empty.
"""
import atexit
import os
import re
import sys
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


def _is_setting(item):
    return "=" in item.partition("(")[0]


def _without_output(spec, folder=None):
    """(spec, names): the spec in which profilers that name no file write no report, and
    the names of these: Lightning writes what they say. Their other files, as traces, go
    to the folder, if it is one of this machine."""
    items, names = [], []
    output = ["file=/dev/null"]
    if folder and "://" not in str(folder):
        quoted = os.fspath(folder).replace("\\", "\\\\").replace('"', '\\"')
        output.append(f'dir="{quoted}"')
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

    __slots__ = ("name",)

    def __init__(self, name):
        self.name = name

    def __enter__(self):
        gnomon.start(self.name)
        return self.name

    def __exit__(self, *error):
        gnomon.stop(self.name)


class _Batch(_Action):
    """The same of an action whose end is a step."""

    __slots__ = ()

    def __exit__(self, *error):
        gnomon.stop(self.name)
        gnomon.step()


# How the name of the action ends whose end is a step, by stage. Validations inside of
# fit are none, as those of its sanity check.
_STEPS = {
    "fit": "run_training_batch",
    "validate": ".validation_step",
    "test": ".test_step",
    "predict": ".predict_step",
}

_attached = None  # the process, and what profilers of this kind attached there


def _attach(spec):
    """The first one in a process begins the run, and a later one adds what it names
    besides. Where the program or $GNOMON attached something, that stays as it is."""
    global _attached
    process = os.getpid()
    if _attached is None or _attached[0] != process:
        gnomon.setup(spec)
        if not gnomon._attached() and not os.environ.get("GNOMON"):
            gnomon.configure(spec)  # a mark, or somebody else, began the run before
        names = [i.partition("(")[0] for i in gnomon._items(spec) if not _is_setting(i)]
        is_ours = not os.environ.get("GNOMON") and gnomon._attached() == names
        _attached = (process, spec if is_ours else None)
        return
    before = _attached[1]
    if before is None or spec == before:
        return
    items = gnomon._items(before)
    more = [item for item in gnomon._items(spec) if item not in items]
    if more:
        _attached = (process, ",".join(items + more))
        gnomon.configure(_attached[1])


_ranked = None  # the process that was told its rank


def _tell_rank(rank):
    """Lightning's launchers tell it only when a stage begins; the first call counts."""
    global _ranked
    if _ranked != os.getpid():
        _ranked = os.getpid()
        gnomon.setup(**rank)
        gnomon.teardown()  # of this setup: that of _attach goes on


_reporting = weakref.WeakSet()


def _report_all():
    """At the end of Python: what an exception or Ctrl-C kept from being reported."""
    for profiler in list(_reporting):
        profiler._report_late()


class GnomonProfiler(_base()):
    """`profilers` are words of $GNOMON, or a list of them: "simple",
    "simple(extended=false),advanced", "trace(file=fit.json)". The reports go where those
    of Lightning's profilers go: to a file in `dirpath` if there is a `filename`, else to
    Lightning's log. Profilers that name a file of their own write it themselves.

    The report of a stage comes when Lightning describes it, and also where an exception
    or Ctrl-C ends it: at the next stage, or when Python ends.

    Each batch is a step, unless `steps` is False, or `step=` says what is one: for
    programs that call gnomon.step themselves."""

    def __init__(self, profilers="simple", dirpath=None, filename=None, steps=True):
        super().__init__(dirpath=dirpath, filename=filename)
        if not isinstance(profilers, str):
            profilers = ",".join(profilers)
        self._words = profilers
        self._spec, self._names = _without_output(profilers, dirpath)
        self._described = ""
        self._open = False
        self._steps, self._step = steps, ()
        self._loaders = None
        self._process = self._rank_on_node = None
        self._begin()

    def _begin(self):
        """In each process that the profiler comes to."""
        if self._process == os.getpid():
            return
        self._process = os.getpid()
        self._open = False
        _attach(self._spec)
        if not _reporting:
            atexit.register(_report_all)
        _reporting.add(self)

    def __getstate__(self):
        state = dict(self.__dict__, _process=None, _open=False, _loaders=None)
        state["_output_file"] = state["_write_stream"] = None
        state.pop("_lightning_module", None)  # a weak proxy, which cannot be pickled
        return state

    def start(self, action_name):
        gnomon.start(action_name)

    def stop(self, action_name):
        gnomon.stop(action_name)
        if action_name.endswith(self._step):
            gnomon.step()

    def profile(self, action_name):
        if action_name.endswith(self._step):
            return _Batch(action_name)
        return _Action(action_name)

    @property
    def local_rank(self):
        return self._rank_on_node or 0

    def _trainer(self):
        try:
            return self._lightning_module.trainer  # which the trainer sets before setup
        except (AttributeError, ReferenceError, RuntimeError):
            return None

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
        self._begin()
        self._report_late()
        super().setup(stage=stage, local_rank=local_rank, log_dir=log_dir)
        self._rank_on_node = local_rank
        rank = self._rank()
        if rank:
            # In names, and for whose report is printed: nodes may share a folder.
            self._local_rank = rank["rank"]
            _tell_rank(rank)
        gnomon.stage_begin(stage)
        self._open = True
        said = any(i.startswith("step=") for i in gnomon._items(gnomon.spec()))
        if self._steps and not said:
            self._step = _STEPS.get(getattr(stage, "value", stage), ())
        if "torch" in sys.modules and gnomon.enabled():
            from . import _loader

            self._loaders = _loader.Stage(self._loads_for, self._run_of_workers(rank))
            _loader.begin(self._loaders)

    def _loads_for(self):
        """What a data loader that starts now is for: "train", "val", ..."""
        state = getattr(self._trainer(), "state", None)
        stage = getattr(state, "stage", None)
        return getattr(stage, "dataloader_prefix", None) or self._stage

    def _run_of_workers(self, rank):
        """What workers record, if that goes to files: their own reports on stderr, a
        table for each worker and epoch, would bury the report."""
        is_ours = _attached[1] is not None
        spec = _for_workers(_attached[1] if is_ours else gnomon.spec())
        if not spec:
            return None
        return {"spec": spec if is_ours else "", "rank": rank, "stage": self._stage}

    def summary(self):
        # Without a trainer there may be no stage at all.
        if self._open or (self._stage is None and self._process == os.getpid()):
            attached = gnomon._attached()
            texts = [gnomon.summary(n) for n in self._names if n in attached]
            if self._loaders:
                texts.append(self._loaders.report(self._stage))
            self._described = "\n".join(filter(None, texts))
        return self._described

    def teardown(self, stage):
        self._step = ()
        if self._open:
            self._open = False
            gnomon.stage_end()
        if self._loaders:
            from . import _loader

            _loader.end(self._loaders)
            self._loaders = None
        super().teardown(stage=stage)

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
