# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""gnomon.lightning.PyTorchProfiler: Lightning's profiler of that name."""
import inspect
import os
import sys
import warnings

import torch
from torch.autograd.profiler import record_function

from ._arguments import member_of, tensorboard_trace_handler
from ._averages import Averages
from ._recording import profile
from ._schedule import NONE, RECORD, SAVE, ProfilerAction, schedule as _schedule
from .lightning import _base

_STEPS = "training_step", "validation_step", "test_step", "predict_step"
_BATCHES = {  # how many there are, as the trainer calls it
    "training_step": "num_training_batches",
    "validation_step": "num_val_batches",
    "test_step": "num_test_batches",
    "predict_step": "num_predict_batches",
}
_SORT_KEYS = (
    *("cpu_time", "cuda_time", "cpu_time_total", "cuda_time_total"),
    *("cpu_memory_usage", "cuda_memory_usage"),
    *("self_cpu_memory_usage", "self_cuda_memory_usage", "count"),
)
_OF_PROFILE = set(inspect.signature(profile.__init__).parameters) - {"self"}
_OF_TABLE = set(inspect.signature(Averages.table).parameters) - {"self"}


def _wrong_use(text):
    """Lightning's exception for that, of the package that is in use."""
    package = Base.__module__.partition(".profilers")[0]
    exceptions = __import__(package + ".utilities.exceptions", fromlist=["x"])
    return exceptions.MisconfigurationException(text)


Base = _base()


class _ModuleNames:
    """Labels for the forward of each module inside a model, by Lightning's names. They
    end also where it raises."""

    def __init__(self, model):
        self._hooks = []
        for name, module in model.named_modules():
            if name:
                kind = type(module)
                label = f"[pl][module]{kind.__module__}.{kind.__name__}: {name}"
                self._add(module, label)

    def _add(self, module, label):
        opened = []

        def begin(module, args):
            opened.append(record_function(label))
            opened[-1].__enter__()

        def end(module, args, output):
            if opened:
                opened.pop().__exit__(None, None, None)

        self._hooks.append(module.register_forward_pre_hook(begin))
        self._hooks.append(module.register_forward_hook(end, always_call=True))

    def remove(self):
        for hook in self._hooks:
            hook.remove()


class PyTorchProfiler(Base):
    """Arguments are those of Lightning's PyTorchProfiler and of gnomon.profile; any other
    is an error. `record_functions`: of actions that end in one of these there are labels;
    of all of them without it.

    Each phase has steps of its own, which its schedule counts: a window ends where another
    phase begins. All windows are in the report, not only the last one."""

    STEP_FUNCTIONS = set(_STEPS)
    AVAILABLE_SORT_KEYS = set(_SORT_KEYS)
    profiler = _nvtx = _names = None
    _labels = ()  # Lightning ends one, too, whose arguments are wrong

    def __init__(
        self,
        dirpath=None,
        filename=None,
        group_by_input_shapes=False,
        emit_nvtx=False,
        export_to_chrome=True,
        row_limit=20,
        sort_by_key=None,
        record_module_names=True,
        table_kwargs=None,
        *,
        record_functions=None,
        export_to_flame_graph=False,
        metric="self_cpu_time_total",
        schedule=None,
        on_trace_ready=None,
        **options,
    ):
        super().__init__(dirpath=dirpath, filename=filename)
        unknown = ", ".join(sorted(set(options) - _OF_PROFILE))
        if unknown:
            raise TypeError(f"PyTorchProfiler and gnomon.profile have no {unknown}")
        if export_to_flame_graph:
            options["with_stack"] = True
        by_shapes = group_by_input_shapes and options.get("record_shapes", False)
        self._group_by_input_shapes, self._row_limit = by_shapes, row_limit
        self._emit_nvtx, self._export_to_chrome = emit_nvtx, export_to_chrome
        self._export_to_flame_graph, self._metric = export_to_flame_graph, metric
        self._record_module_names = record_module_names
        functions = None if record_functions is None else tuple(record_functions)
        self._record_functions = functions
        self._on_trace_ready, self._options = on_trace_ready, options
        self._is_default = schedule is None
        self._schedule = self._checked(schedule)
        self._sort_by_key = sort_by_key or self._default_key(options.get("activities"))
        if self._sort_by_key not in _SORT_KEYS:
            known = ", ".join(_SORT_KEYS)
            raise _wrong_use(f"sort_by_key={self._sort_by_key!r}: it is one of {known}")
        self._table_kwargs = dict(table_kwargs or {})
        wrong = set(self._table_kwargs) & {"sort_by", "row_limit"}
        wrong |= set(self._table_kwargs) - _OF_TABLE
        if wrong:
            raise KeyError(f"table_kwargs has {', '.join(sorted(wrong))}")
        self._clear()

    def _clear(self):
        self._labels, self._steps, self._windows = {}, {}, []
        self._short = {}  # how many steps a phase has that is recorded as a whole
        self._phase = self._action = None
        self._next = member_of(ProfilerAction, self._schedule(0))

    @staticmethod
    def _checked(schedule):
        if schedule is None:
            return _schedule(wait=1, warmup=1, active=3, repeat=1)
        if not callable(schedule):
            raise _wrong_use(f"schedule={schedule!r} cannot be called")
        try:
            member_of(ProfilerAction, schedule(0))
        except ValueError:
            raise _wrong_use(f"schedule(0) is {schedule(0)!r}, and no action") from None
        return schedule

    @staticmethod
    def _default_key(activities):
        names = [getattr(activity, "name", "") for activity in activities or ()]
        cuda = "CUDA" in names or not names and torch.cuda.is_available()
        return f"{'cuda' if cuda else 'cpu'}_time_total"

    def __getstate__(self):
        gone = ("profiler", "_nvtx", "_names", "_output_file", "_write_stream")
        state = dict(self.__dict__, _labels={}, **dict.fromkeys(gone))
        state.pop("_lightning_module", None)  # a weak proxy, which cannot be pickled
        return state

    # ---- Actions

    def start(self, action_name):
        if self._emit_nvtx:
            self._begin_nvtx()
        elif self.profiler is None:
            self._begin()
        phase = self._phase_of(action_name)
        if phase not in (None, self._phase) and self._counts():
            self._enter(phase)
        model = getattr(self, "_lightning_module", None)
        if model is not None and self._names is None and self._record_module_names:
            self._names = _ModuleNames(model)
        wanted = self._record_functions
        if action_name not in self._labels and (
            wanted is None or action_name.endswith(wanted)
        ):
            label = record_function("[pl][profile]" + action_name)
            label.__enter__()
            self._labels[action_name] = label

    def stop(self, action_name):
        label = self._labels.pop(action_name, None)
        if label:
            label.__exit__(None, None, None)
        phase = self._phase_of(action_name)
        if phase and self.profiler is not None and self._counts():
            self._steps[phase] = self._steps.get(phase, 0) + 1
            self._action = action_name
            self._go_on(phase)

    @staticmethod
    def _phase_of(action_name):
        return next((step for step in _STEPS if action_name.endswith(step)), None)

    def _trainer(self):
        try:
            return self._lightning_module.trainer
        except (AttributeError, ReferenceError, RuntimeError):
            return None

    def _counts(self):
        """Steps of the sanity check do not."""
        is_check = getattr(self._trainer(), "sanity_checking", False)
        return self.profiler is not None and not is_check

    def _enter(self, phase):
        """Another phase goes on with its own schedule: a window of the one before ends."""
        if self._phase and self._next is RECORD:
            self.profiler.current_action = SAVE
        self._choose_whole(phase)
        self._phase = phase
        self._go_on(phase)

    def _go_on(self, phase):
        """The next step of a phase begins."""
        number = self._steps.get(phase, 0)
        if phase in self._short:
            left = self._short[phase] - number
            self._next = RECORD if left > 1 else SAVE if left == 1 else NONE
        else:
            self._next = member_of(ProfilerAction, self._schedule(number))
        self.profiler.step()

    def _choose_whole(self, phase):
        """All of a phase, where the default schedule would come to no window of it."""
        batches = getattr(self._trainer(), _BATCHES[phase], 5)
        batches = sum(batches) if isinstance(batches, list) else batches
        if self._is_default and batches < 5 and phase not in self._steps:
            warnings.warn(
                f"PyTorchProfiler: {batches} of {phase} come to no window of the default "
                "schedule: all of them are recorded"
            )
            self._short[phase] = batches

    # ---- Windows

    def _begin(self):
        self._clear()
        self.profiler = profile(
            schedule=lambda step: self._next,
            on_trace_ready=self._keep_window,
            **self._options,
        )
        self.profiler._wants_torch = True
        self.profiler._has_steps = True
        self.profiler.start()

    def _keep_window(self, prof):
        rows = prof.key_averages(group_by_input_shape=self._group_by_input_shapes)
        table = rows.table(
            sort_by=self._sort_by_key, row_limit=self._row_limit, **self._table_kwargs
        )
        self._windows.append((self._action, table))
        prof.add_metadata("Framework", "pytorch-lightning")
        if self._on_trace_ready:
            self._on_trace_ready(prof)
        elif self.dirpath is None:
            if self._export_to_chrome or self._export_to_flame_graph:
                warnings.warn("PyTorchProfiler: no dirpath, so no trace is written")
        else:
            self._write_window(prof)

    def _write_window(self, prof):
        folder = str(self.dirpath)
        if self._export_to_chrome:
            name = self._prepare_filename(action_name=self._action, extension="")
            tensorboard_trace_handler(folder, name)(prof)
        if self._export_to_flame_graph:
            number = len(self._windows)
            extension = ".stack" if number == 1 else f"-{number}.stack"
            name = self._prepare_filename(
                action_name=self._action, extension=extension
            )
            os.makedirs(folder, exist_ok=True)
            prof.export_stacks(os.path.join(folder, name), self._metric)

    def _end(self):
        for name in list(self._labels):
            self._labels.pop(name).__exit__(None, None, None)
        profiler, self.profiler = self.profiler, None
        if profiler is not None:
            profiler.stop()
        names, self._names = self._names, None
        if names:
            names.remove()
        nvtx, self._nvtx = self._nvtx, None
        if nvtx:
            nvtx.__exit__(None, None, None)
            torch.cuda.profiler.stop()

    def _begin_nvtx(self):
        if self._nvtx is not None:
            return
        self._nvtx = False
        if torch.cuda.is_available():
            torch.cuda.profiler.start()
            self._nvtx = torch.autograd.profiler.emit_nvtx()
            self._nvtx.__enter__()
        else:
            print("gnomon: emit_nvtx: no CUDA here, so no ranges", file=sys.stderr)

    # ---- Stages

    def setup(self, stage, local_rank=None, log_dir=None):
        super().setup(stage=stage, local_rank=local_rank, log_dir=log_dir)
        trainer = self._trainer()
        if local_rank is not None and trainer is not None:
            self._local_rank = trainer.global_rank  # nodes may share a folder

    def summary(self):
        self._end()
        windows, self._windows = self._windows, []
        if not windows:
            return ""
        many = len(windows) > 1
        return self._stats_to_str(
            {
                f"records {i} ({action})" if many else "records": table
                for i, (action, table) in enumerate(windows, 1)
            }
        )

    def teardown(self, stage):
        self._end()
        super().teardown(stage=stage)
