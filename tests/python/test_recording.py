# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""gnomon.profile, by the names of torch.profiler.profile, without torch."""
import gc
import gzip
import io
import json
import mmap
import os
import re
import shutil
import tempfile
import threading
import unittest
import warnings

import gnomon
from gnomon import ProfilerAction, ProfilerActivity, _arguments, profile, schedule
from runs import own_lines, run


def plan(letters):
    """A schedule of N, W, R and S; after the last letter N."""
    words = dict(zip("NWRS", ProfilerAction))
    return lambda step: words[letters[step] if step < len(letters) else "N"]


def names_of(trace):
    return [row["name"] for row in trace["traceEvents"] if row["ph"] == "X"]


class Recording(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        _arguments.named.clear()
        caught = warnings.catch_warnings()
        caught.__enter__()
        self.addCleanup(caught.__exit__, None, None, None)
        warnings.simplefilter("error")
        self.addCleanup(self.check_is_off)

    def check_is_off(self):
        gc.collect()
        self.assertFalse(gnomon.enabled())

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def test_mapped_files_have_any_name(self):
        path = os.fsencode(self.path()) + b"data-\xe9"
        with open(path, "wb+") as file:
            file.write(b"1")
            file.flush()
            with mmap.mmap(file.fileno(), 1), gnomon.profile():
                pass

    def test_a_notebook_shows_it(self):
        text = io.StringIO()
        text.text = text.write
        prof = gnomon.profile()
        self.assertIsNone(prof._repr_html_())
        prof._repr_pretty_(text, False)
        self.assertEqual(text.getvalue(), repr(prof))
        with prof:
            with gnomon.scope("work"):
                pass
            self.assertIn(">work</td><td>1</td>", prof._repr_html_())
        prof._repr_pretty_(text, False)
        self.assertIn("\nwork ", text.getvalue())

    def trace(self, prof):
        prof.export_chrome_trace(self.path("trace.json"))
        with open(self.path("trace.json")) as file:
            return json.load(file)

    def steps(self, prof, count, work=None):
        for i in range(count):
            with gnomon.record_function(f"work{prof.step_num}"):
                if work:
                    work(i)
            prof.step()


class Cycles(Recording):
    def test_each_trace_has_the_events_of_its_cycle(self):
        seen = []

        def ready(prof):
            self.assertEqual(names_of(self.trace(prof)), names_of(self.trace(prof)))
            seen.append((prof.step_num, names_of(self.trace(prof))))

        with profile(
            schedule=schedule(wait=1, warmup=1, active=2, repeat=2), on_trace_ready=ready
        ) as prof:
            self.steps(prof, 9)
        steps = ["ProfilerStep#2", "ProfilerStep#3", "work2", "work3"]
        later = ["ProfilerStep#6", "ProfilerStep#7", "work6", "work7"]
        self.assertEqual(seen, [(4, steps), (8, later)])
        self.assertEqual(names_of(self.trace(prof)), later)
        self.assertEqual(prof.step_num, 9)

    def test_cycles_that_follow_each_other_share_nothing(self):
        seen = []
        with profile(
            schedule=plan("SSS"),
            on_trace_ready=lambda p: seen.append(names_of(self.trace(p))),
        ) as prof:
            self.steps(prof, 5)
        self.assertEqual(seen, [[f"ProfilerStep#{i}", f"work{i}"] for i in range(3)])

    def test_without_a_schedule_all_is_recorded(self):
        with profile() as prof:
            self.steps(prof, 3)
            self.assertIs(prof.current_action, ProfilerAction.RECORD)
            seen = [e.name for e in prof.events()]
            self.assertEqual(seen, ["work0", "work1", "work2"])
        self.assertEqual(len(prof.events()), 3)

    def test_a_step_begins_after_the_handler(self):
        """What on_trace_ready takes is in no step."""
        numbers = {}

        def ready(prof):
            self.assertTrue(self.trace(prof))
            numbers.update((s.number, s) for s in prof.profile().steps)

        with profile(schedule=plan("RSRS"), on_trace_ready=ready) as prof:
            gnomon.scope("before").__enter__().__exit__(None, None, None)
            self.steps(prof, 4)
        first = min(e.begin_ns for e in prof.events())
        self.assertLessEqual(numbers[2].begin_ns, first)
        self.assertGreater(numbers[2].begin_ns, numbers[1].end_ns)
        self.assertEqual(numbers[3].begin_ns, numbers[2].end_ns)

    def test_each_cycle_has_its_own_steps(self):
        """In a process of its own, for a report is of one stage."""
        out, err = run(
            """
            import re
            import gnomon
            from gnomon import profile, schedule

            def ready(prof):
                numbers = sorted(step.number for step in prof.profile().steps)
                (stage,) = prof.profile().stages
                listed = re.findall(r"^step (\\d+) ", prof.report("steps"), re.M)
                print(numbers, stage.steps.count, sorted(map(int, listed)))

            with profile(
                schedule=schedule(wait=0, warmup=1, active=2, repeat=2),
                on_trace_ready=ready,
            ) as prof:
                for i in range(7):
                    with gnomon.scope("work"):
                        sum(range(1000))
                    prof.step()
            """
        )
        self.assertEqual(out, "[1, 2] 2 [1, 2]\n[4, 5] 2 [4, 5]\n")
        self.assertEqual(own_lines(err), [])

    def test_a_cycle_that_is_cut_short_is_delivered(self):
        seen = []
        with profile(
            schedule=schedule(wait=0, warmup=1, active=5),
            on_trace_ready=lambda p: seen.append([e.name for e in p.events()]),
        ) as prof:
            self.steps(prof, 3)
        self.assertEqual(seen, [["work1", "work2"]])

    def test_a_schedule_that_ends_a_recording_early_is_delivered_and_named(self):
        for after, word in (("N", "NONE"), ("W", "WARMUP")):
            seen = []
            with self.assertWarnsRegex(UserWarning, f"RECORD followed by {word}"):
                with profile(
                    schedule=plan("R" + after + "N"),
                    on_trace_ready=lambda p: seen.append([e.name for e in p.events()]),
                ) as prof:
                    self.steps(prof, 1)
            self.assertEqual(seen, [["work0"]])
        with self.assertWarnsRegex(UserWarning, "WARMUP followed by NONE"):
            with profile(schedule=plan("WN"), on_trace_ready=seen.append) as prof:
                prof.step()
        self.assertEqual(len(seen), 1)

    def test_it_starts_again(self):
        seen = []
        prof = profile(on_trace_ready=lambda p: seen.append([e.name for e in p.events()]))
        for i in range(3):
            prof.start()
            prof.start()  # ignored
            self.steps(prof, 1)
            prof.stop()
            prof.stop()
            with gnomon.scope("between"):
                pass
        self.assertEqual(seen, [["work0"], ["work1"], ["work2"]])
        prof.step()
        self.assertEqual(prof.step_num, 4)

    def test_a_profile_that_is_dropped_records_no_more(self):
        prof = profile()
        prof.start()
        self.assertTrue(gnomon.enabled())
        del prof

    def test_hundreds_of_cycles_take_no_more(self):
        counts = []
        with profile(
            schedule=lambda step: ProfilerAction.RECORD_AND_SAVE,
            on_trace_ready=lambda p: self.assertEqual(len(p.events()), 1),
        ) as prof:
            for i in range(2):
                for _ in range(150):
                    with gnomon.scope("work"):
                        prof.custom_trace_id_callback = lambda: "one"
                    prof.step()
                counts.append(gnomon.health())
            prof.on_trace_ready = None
        self.assertEqual(*counts)

    def test_a_stage_that_ends_inside_loses_nothing(self):
        with profile() as prof:
            for stage in ("fit", "test"):
                with gnomon.stage(stage), gnomon.scope("in " + stage):
                    pass
            with gnomon.scope("after"):
                pass
        self.assertEqual(
            [e.name for e in prof.events()], ["in fit", "in test", "after"]
        )

    def test_more_steps_than_a_run_lists(self):
        with profile(schedule=plan("N" + 199 * "R" + "S")) as prof:
            self.steps(prof, 201)
        names = names_of(self.trace(prof))
        numbers = [n for n in names if n.startswith("ProfilerStep#")]
        self.assertEqual(sorted(numbers), sorted(f"ProfilerStep#{i + 1}" for i in range(200)))


class Trouble(Recording):
    def test_an_exception_inside_loses_nothing(self):
        for error in (ValueError, KeyboardInterrupt):
            seen = []
            with self.assertRaises(error):
                with profile(on_trace_ready=seen.append) as prof:
                    with gnomon.scope("open"), gnomon.scope("before"):
                        pass
                    raise error
            self.assertEqual([e.name for e in prof.events()], ["open", "before"])
            self.assertEqual(seen, [prof])

    def test_a_handler_that_raises_stops_no_cycle(self):
        seen = []

        def ready(prof):
            seen.append([e.name for e in prof.events()])
            raise ValueError("planted")

        with self.assertRaisesRegex(ValueError, "planted"):
            with profile(schedule=plan("SRS"), on_trace_ready=ready) as prof:
                for i in range(3):
                    with gnomon.scope(f"work{i}"):
                        pass
                    if i == 0:
                        with self.assertRaisesRegex(ValueError, "planted"):
                            prof.step()
                    else:
                        prof.step()
        self.assertEqual(seen, [["work0"], ["work1", "work2"]])

    def test_a_handler_may_stop_it(self):
        seen = []

        def ready(prof):
            seen.append(prof.step_num)
            prof.stop()
            self.assertFalse(gnomon.enabled())

        with profile(schedule=plan("SSSSS"), on_trace_ready=ready) as prof:
            self.steps(prof, 4)
        self.assertFalse(gnomon.enabled())
        self.assertEqual(seen, [1])
        self.assertEqual([e.name for e in prof.events()], ["work0"])

    def test_a_schedule_that_raises_changes_nothing(self):
        def odd(step):
            if step == 2:
                raise KeyError("planted")
            return ProfilerAction.RECORD

        with profile(schedule=odd) as prof:
            self.steps(prof, 1)
            for _ in range(2):
                with self.assertRaises(KeyError):
                    prof.step()
            self.assertEqual((prof.step_num, prof.current_action.name), (1, "RECORD"))
            with gnomon.scope("last"):
                pass
        self.assertEqual([e.name for e in prof.events()], ["work0", "last"])
        for wrong in (lambda step: 3, lambda step: None):
            with self.assertRaisesRegex(ValueError, "ProfilerAction"):
                profile(schedule=wrong)

    def test_before_the_first_cycle_there_is_nothing(self):
        prof = profile(schedule=plan("NR"))
        for call in (
            prof.profile,
            prof.events,
            prof.report,
            lambda: prof.export_chrome_trace(self.path("x")),
            lambda: prof.export_stacks(self.path("x")),
        ):
            with self.assertRaisesRegex(AssertionError, "nothing was recorded yet"):
                call()
            with prof, self.assertRaises(AssertionError):
                call()
        self.assertEqual(os.listdir(self.folder), [])

    def test_files_that_cannot_be_written(self):
        with profile() as prof:
            self.steps(prof, 1)
        with open(self.path("file"), "w"):
            pass
        for name in ("file/x.json", "file/x.json.gz"):
            with self.assertRaisesRegex(gnomon.Error, "cannot write"):
                prof.export_chrome_trace(self.path(name))
        with self.assertRaisesRegex(gnomon.Error, "cannot write"):
            prof.export_chrome_trace("/dev/full")
        with self.assertRaises(OSError):
            prof.export_stacks(self.path("file", "x"))
        with self.assertRaises(ValueError):
            prof.export_stacks(self.path("x"), "cpu")
        self.assertEqual(os.listdir(self.folder), ["file"])

    def test_where_no_more_can_be_attached(self):
        many, ready = [], []
        with self.assertRaisesRegex(gnomon.Error, "GNOMON_EFULL"):
            for _ in range(40):
                prof = profile(on_trace_ready=ready.append)
                prof.start()
                many.append(prof)
        prof.stop()  # was never started
        self.assertEqual(ready, [])
        for prof in many:
            prof.stop()
        self.assertEqual(ready, many)

    def test_wrong_arguments(self):
        with self.assertRaises(TypeError):
            profile([ProfilerActivity.CPU], None)
        with self.assertRaises(TypeError):
            profile(record_shape=True)
        with self.assertRaises(AssertionError):
            profile(activities=[])
        with self.assertRaisesRegex(ValueError, "ProfilerActivity"):
            profile(activities=["cpu"])
        for wrong in ({"wait": -1}, {"active": 0}, {"repeat": -1}, {"skip_first": -1}):
            with self.assertRaisesRegex(AssertionError, next(iter(wrong))):
                schedule(**dict(wait=1, warmup=1, active=1, **{}) | wrong)
        with self.assertRaises(AssertionError):
            schedule(wait=1, warmup=1, active=1)(-1)
        with self.assertWarnsRegex(UserWarning, "warmup=0"):
            schedule(wait=1, warmup=0, active=1)

    def test_what_has_no_effect_is_named_once(self):
        for name, value in (
            ("record_shapes", True),
            ("profile_memory", True),
            ("with_flops", True),
            ("with_modules", True),
            ("experimental_config", object()),
            ("execution_trace_observer", object()),
            ("acc_events", True),
            ("post_processing_timeout_s", 3.0),
        ):
            with self.assertWarnsRegex(UserWarning, f"{name} has no effect: ") as caught:
                profile(**{name: value})
            self.assertEqual(caught.filename, __file__)
            profile(**{name: value})  # a second warning would be an error
            profile(**{name: type(value)() if value is True else None})
        with self.assertWarnsRegex(UserWarning, "ProfilerActivity.XPU has no") as caught:
            profile(activities=[ProfilerActivity.CPU, ProfilerActivity.XPU])
        self.assertEqual(caught.filename, __file__)
        with self.assertWarnsRegex(FutureWarning, "use_cuda"):
            prof = profile(activities=[ProfilerActivity.CPU], use_cuda=True)
        self.assertIn(ProfilerActivity.CUDA, prof.activities)

    def test_what_only_torch_has_says_so(self):
        with profile() as prof:
            pass
        with self.assertRaisesRegex(NotImplementedError, "no session"):
            prof.export_memory_timeline("timeline.json")
        with self.assertRaisesRegex(NotImplementedError, "schedule="):
            prof.toggle_collection_dynamic(False, [ProfilerActivity.CPU])


class Averages(Recording):
    def test_marks_have_torchs_table(self):
        with profile([ProfilerActivity.CPU]) as prof:
            for _ in range(3):
                with gnomon.record_function("outer"):
                    with gnomon.scope("inner"):
                        pass
        rows = prof.key_averages()
        self.assertEqual([(row.key, row.count) for row in rows], [("outer", 3), ("inner", 3)])
        outer, inner = rows
        self.assertAlmostEqual(
            outer.self_cpu_time_total, outer.cpu_time_total - inner.cpu_time_total
        )
        self.assertEqual(outer.cpu_time, outer.cpu_time_total / 3)
        self.assertEqual((outer.stack, outer.input_shapes, outer.flops), ([], "", 0))
        self.assertFalse(hasattr(outer, "nothing"))
        lines = rows.table(sort_by="cpu_time_total").splitlines()
        self.assertEqual([line.split()[0] for line in lines[3:5]], ["outer", "inner"])
        self.assertEqual(str(rows), rows.table())
        self.assertIn("Self CPU time total:", lines[-1])
        self.assertIs(prof.profiler, prof)
        total = rows.total_average()
        self.assertEqual((total.key, total.count), ("Total", 6))
        self.assertEqual(prof.self_cpu_time_total, rows.self_cpu_time_total)
        with self.assertRaises(AttributeError):
            rows.table(sort_by="size")

    def test_lists_are_printed_as_they_are(self):
        with profile() as prof:
            for name in "abc":
                with gnomon.scope(name):
                    pass
        rows = prof.key_averages()
        rows.reverse()
        del rows[0]
        lines = rows.table(header="h", time_unit="s", row_limit=1).splitlines()
        self.assertEqual(lines[1], "h")
        self.assertEqual(lines[5].split()[0], "b")
        self.assertTrue(lines[6].startswith("---"))
        empty = type(rows)()
        self.assertEqual(empty.table(), "")
        self.assertEqual(empty.total_average().count, 0)

    def test_events_have_torchs_attributes(self):
        with profile() as prof:
            with gnomon.scope("work"):
                pass
        (event,) = prof.events()
        self.assertEqual((event.input_shapes, event.stack), ([], []))
        self.assertEqual(event.thread, event.track.index)
        us = event.time_range.elapsed_us()
        self.assertAlmostEqual(us, event.duration_ns / 1000)


class Together(Recording):
    def test_two_at_once_have_each_their_own(self):
        outer = profile(schedule=plan("NRRS"))
        inner = profile(schedule=plan("NNS"))
        with outer, inner:
            for i in range(4):
                with gnomon.scope(f"work{i}"):
                    pass
                inner.step()
                inner.step()
                outer.step()
        self.assertEqual([e.name for e in inner.events()], ["work1"])
        self.assertEqual([e.name for e in outer.events()], ["work1", "work2", "work3"])
        steps = [n for n in names_of(self.trace(outer)) if n.startswith("Prof")]
        self.assertEqual(steps, ["ProfilerStep#1", "ProfilerStep#2", "ProfilerStep#3"])

    def test_it_is_of_all_threads(self):
        def work():
            with gnomon.scope("thread"):
                pass

        def loop(prof):
            with prof:
                self.steps(prof, 3)

        with profile() as prof:
            threads = [threading.Thread(target=work) for _ in range(3)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        self.assertEqual([e.name for e in prof.events()], ["thread"] * 3)
        others = [profile(schedule=plan("WRS")) for _ in range(4)]
        threads = [threading.Thread(target=loop, args=(p,)) for p in others]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for other in others:
            self.assertTrue({"work1", "work2"} <= {e.name for e in other.events()})

    def test_marks_while_cycles_come_and_go(self):
        ends = threading.Event()

        def work():
            while not ends.wait(1e-5):  # else each cycle lists more than the last
                with gnomon.scope("other"):
                    pass

        thread = threading.Thread(target=work)
        thread.start()
        try:
            with profile(
                schedule=lambda step: ProfilerAction.RECORD_AND_SAVE,
                on_trace_ready=lambda p: self.assertEqual(
                    [e.name for e in p.events() if e.name != "other"],
                    [f"work{p.step_num - 1}"],
                ),
            ) as prof:
                self.steps(prof, 50)
                prof.on_trace_ready = None
        finally:
            ends.set()
            thread.join()

    def test_the_last_cycle_is_kept(self):
        kept = []
        with profile(schedule=plan("SNN"), on_trace_ready=kept.append) as prof:
            self.steps(prof, 3)
        self.assertEqual(names_of(self.trace(kept[0])), ["ProfilerStep#0", "work0"])
        first = prof.profile()
        with prof:
            pass
        self.assertEqual([e.name for e in first.events if e.kind == "execution"], ["work0"])


class Results(Recording):
    def test_metadata_is_in_the_trace(self):
        prof = profile(custom_trace_id_callback=lambda: "my id")
        prof.preset_metadata_json("preset", '{"a": [1, 2]}')
        with prof:
            prof.add_metadata("text", 'a "quoted"\n\\ text')
            prof.add_metadata_json("number", "3.5")
            with self.assertRaises(ValueError):
                prof.add_metadata_json("broken", "{")
        trace = self.trace(prof)
        self.assertEqual(trace["preset"], {"a": [1, 2]})
        self.assertEqual(trace["text"], 'a "quoted"\n\\ text')
        self.assertEqual(trace["number"], 3.5)
        self.assertEqual(trace["trace_id"], "my id")
        self.assertEqual(prof.get_trace_id(), "my id")
        with self.assertWarnsRegex(UserWarning, "its cycle is over"):
            prof.add_metadata("late", "x")
        prof.set_custom_trace_id_callback(None)
        with prof:
            pass
        self.assertEqual(self.trace(prof)["late"], "x")
        self.assertRegex(prof.get_trace_id(), "^[0-9A-F]{32}$")

    def test_metadata_that_is_refused_ends_no_later_cycle(self):
        prof = profile()
        for key, value in ("loss", float("nan")), ("file", "\udce9"), (1, "x"):
            with self.assertRaises(ValueError):
                prof.add_metadata(key, value)
        for cycle in range(2):
            with prof, self.assertRaises(ValueError):
                prof.add_metadata("loss", float("nan"))

    def test_stacks(self):
        with profile() as prof:
            with gnomon.scope("a b;c"):
                for _ in range(2):
                    with gnomon.scope("inner"):
                        sum(range(20000))
                sum(range(20000))
        prof.export_stacks(self.path("stacks"))
        self.assertEqual(os.stat(self.path("stacks")).st_mode & 0o777, 0o600)
        with open(self.path("stacks")) as file:
            lines = dict(line.rsplit(" ", 1) for line in file.read().splitlines())
        self.assertEqual(list(lines), ["a_b_c", "a_b_c;inner"])
        for node in prof.profile().nodes:
            path = ";".join(node.path).replace("a b;c", "a_b_c")
            self.assertEqual(int(lines[path]), node.host.self_ns // 1000)
        prof.export_stacks(self.path("stacks"), "self_cuda_time_total")
        self.assertEqual(os.path.getsize(self.path("stacks")), 0)

    def test_calls_of_python_with_with_stack(self):
        def called():
            return abs(-3)

        with profile(with_stack=True, schedule=plan("RSN")) as prof:
            called()
            prof.step()
            called()
            prof.step()
            called()
        names = [e.name for e in prof.events()]
        self.assertEqual(names.count("called"), 2)
        self.assertEqual(names.count("<built-in method builtins.abs>"), 2)
        categories = {r["cat"] for r in self.trace(prof)["traceEvents"] if "cat" in r}
        self.assertIn("python_function", categories)

    def test_calls_end_with_what_recorded_them(self):
        out, err = run(
            """
            import gc, gnomon, os
            def names():
                with gnomon.profile() as prof:
                    abs(-3)
                return [e.name for e in prof.events()]
            def forget():
                gnomon.profile(with_stack=True).start()
            forget()
            gc.collect()
            print(names(), flush=True)
            prof = gnomon.profile(with_stack=True)
            prof.start()
            if os.fork() == 0:
                prof.start()
                prof.stop()
                print(names(), flush=True)
                os._exit(0)
            os.wait()
            """
        )
        self.assertEqual((out, err), ("[]\n[]\n", ""))

    def test_the_handler_for_tensorboard(self):
        for packed in (False, True):
            folder = self.path("log", str(packed))
            with profile(
                schedule=plan("SS"),
                on_trace_ready=gnomon.tensorboard_trace_handler(folder, use_gzip=packed),
            ) as prof:
                self.steps(prof, 2)
            import socket

            worker = re.escape(f"{socket.gethostname()}_{os.getpid()}")
            names = sorted(os.listdir(folder))
            self.assertEqual(len(names), 2)
            ending = r"\.pt\.trace\.json" + (r"\.gz" if packed else "")
            for i, name in enumerate(names):
                self.assertRegex(name, rf"^{worker}\.\d+{ending}$")
                path = os.path.join(folder, name)
                with gzip.open(path) if packed else open(path) as file:
                    rows = json.load(file)
                self.assertEqual(names_of(rows), [f"ProfilerStep#{i}", f"work{i}"])
        with profile(
            on_trace_ready=gnomon.tensorboard_trace_handler(self.path("x"), "me", False)
        ):
            pass
        self.assertRegex(os.listdir(self.path("x"))[0], r"^me\.\d+\.pt\.trace\.json$")

    def test_torchs_own_words_are_taken(self):
        """Those of torch are other enums with the same names."""
        import enum

        activity = enum.Enum("Activity", "CPU CUDA")
        action = enum.Enum("Action", "NONE WARMUP RECORD RECORD_AND_SAVE DEVICE_STOPPED")
        prof = profile(
            activities=[activity.CPU, {activity.CUDA: []}],
            schedule=lambda step: action.NONE,
        )
        self.assertEqual(
            prof.activities, {ProfilerActivity.CPU, ProfilerActivity.CUDA}
        )
        self.assertIs(prof.current_action, ProfilerAction.NONE)
        with self.assertRaises(ValueError):
            profile(schedule=lambda step: action.DEVICE_STOPPED)


class Processes(unittest.TestCase):
    def test_the_variable_records_beside_it(self):
        out, err = run(
            """
            import gnomon
            with gnomon.profile(schedule=gnomon.schedule(wait=1, warmup=1, active=1,
                                                         repeat=1)) as prof:
                for i in range(4):
                    with gnomon.scope("work"):
                        pass
                    prof.step()
            print(len(prof.events()))
            """,
            "simple,steps",
        )
        self.assertEqual(out, "1\n")
        self.assertRegex(err, r"\|  work *\t\|  \S+ *\t\|  4 ")
        self.assertRegex(err, r"Steps +Mean .*\n +4 ")

    def test_without_the_variable_nothing_is_printed(self):
        out, err = run(
            """
            import gnomon
            with gnomon.profile() as prof:
                with gnomon.scope("work"):
                    pass
            forgotten = gnomon.profile()
            forgotten.start()
            with gnomon.scope("work"):
                pass
            """
        )
        self.assertEqual((out, err), ("", ""))

    def test_events_that_found_no_room_are_named(self):
        out, err = run(
            """
            import gnomon, warnings
            with gnomon.profile() as prof:
                for _ in range(300000):
                    with gnomon.scope("work"):
                        pass
                with warnings.catch_warnings(record=True) as caught:
                    warnings.simplefilter("always")
                    prof.stop()
            count = int(str(caught[0].message).split()[1])
            print(caught[0].filename, len(caught), count + len(prof.events()))
            """,
            "mem=2MiB",
        )
        self.assertEqual((out, err), ("<string> 1 300000\n", ""))

    def test_a_forked_child_has_no_part_in_it(self):
        out, err = run(
            """
            import gnomon, os, sys
            ready = lambda prof: print("ready", os.getpid() == parent, len(prof.events()),
                                       flush=True)
            parent = os.getpid()
            with gnomon.profile(on_trace_ready=ready) as prof:
                with gnomon.scope("work"):
                    pass
                child = os.fork()
                if not child:
                    with gnomon.scope("work"):
                        prof.step()
                        prof.add_metadata("child", "x")
                    prof.stop()  # as at the end of the block
                    try:
                        prof.profile()
                    except AssertionError:
                        pass
                    with gnomon.profile() as own:  # it asks for one of its own
                        with gnomon.scope("own"):
                            pass
                    print([e.name for e in own.events()], flush=True)
                    prof.start()
                    prof.stop()
                    del prof, own
                    os._exit(0)
                assert os.waitpid(child, 0)[1] == 0
                with gnomon.scope("work"):
                    pass
            """
        )
        self.assertEqual(
            out.splitlines(), ["['own']", "ready False 0", "ready True 2"]
        )
        self.assertEqual(err, "")

    def test_workers_of_multiprocessing_inside(self):
        for method in ("fork", "spawn"):
            out, err = run(
                f"""
                import gnomon, multiprocessing
                def work(i):
                    with gnomon.scope("in a worker"):
                        return i
                if __name__ == "__main__":
                    context = multiprocessing.get_context({method!r})
                    with gnomon.profile() as prof:
                        with gnomon.scope("work"):
                            pass
                        if {method!r} == "fork":
                            with context.Pool(2) as pool:
                                assert sum(pool.map(work, range(4))) == 6
                    print([e.name for e in prof.events()])
                """
            )
            self.assertEqual((out, err), ("['work']\n", ""))

    def test_marks_of_c_are_in_it(self):
        """Of another copy of the library, by ctypes."""
        library = os.environ.get("GNOMON_LIBRARY", "")
        if ".so" not in library:
            self.skipTest("no shared library in this build")
        out, err = run(
            """
            import ctypes, gnomon, os
            c = ctypes.CDLL(os.environ["GNOMON_LIBRARY"])
            with gnomon.profile() as prof:
                c.gnomon_start_n_slow(b"from C", ctypes.c_size_t(6))
                c.gnomon_stop_n_slow(b"from C", ctypes.c_size_t(6))
            print([e.name for e in prof.events()])
            """
        )
        self.assertEqual((out, err), ("['from C']\n", ""))

    def test_work_of_cuda_is_in_its_cycle(self):
        """Also what was launched last and is not over, and from the first step on."""
        fakes = os.path.join(os.environ.get("GNOMON_TESTS", ""), "fake_cuda")
        if not os.path.exists(os.path.join(fakes, "libcudart.so")):
            self.skipTest("no simulated CUDA in this build")
        out, err = run(
            """
            import ctypes, gnomon, os, sys
            from gnomon import ProfilerActivity as A
            cuda = ctypes.CDLL(os.path.join(sys.argv[1], "libcudart.so"))
            cuda.cudaMemsetAsync.argtypes = [ctypes.c_void_p, ctypes.c_int,
                                             ctypes.c_size_t, ctypes.c_void_p]
            stream = ctypes.c_void_p()
            cuda.cudaStreamCreate(ctypes.byref(stream))
            def ready(prof):
                sets = [e.node for e in prof.events() if "Memset (" in e.name]
                print([n.path for n in sets], flush=True)  # another writes too
                prof.export_stacks("/dev/stdout", "self_cuda_time_total")
            with gnomon.profile(activities=[A.CPU, A.CUDA], on_trace_ready=ready,
                                schedule=gnomon.schedule(wait=1, warmup=1, active=1)
                                ) as prof:
                for i in range(6):
                    with gnomon.scope(f"step {i}"):
                        cuda.cudaMemsetAsync(None, 0, 11000000, stream)
                    if i < 2:
                        print("CUPTI:", "fake_cupti" in open("/proc/self/maps").read(),
                              flush=True)
                    prof.step()
            """,
            argv=(fakes,),
            GNOMON_CUDA_LIBRARY=os.path.join(fakes, "driver.so"),
            FAKE_CUDA_DRIVER=os.path.join(fakes, "driver.so"),
            GNOMON_CUPTI_LIBRARY=os.path.join(fakes, "..", "fake_cupti", "cupti.so"),
        )
        self.assertEqual(own_lines(err), [], err)
        wanted = ["CUPTI: False", "CUPTI: True"]  # since the warm-up
        for i in (2, 5):
            wanted.append(f"[('step {i}', 'Memset (Device)')]")
            wanted.append(f"step_{i};Memset_(Device) 100")
        self.assertEqual(out.splitlines(), wanted)

    def test_cuda_is_recorded_from_its_first_use_on(self):
        """Where no activities are given: also if it is loaded during a cycle."""
        fakes = os.path.join(os.environ.get("GNOMON_TESTS", ""), "fake_cuda")
        if not os.path.exists(os.path.join(fakes, "libcudart.so")):
            self.skipTest("no simulated CUDA in this build")
        with tempfile.TemporaryDirectory() as folder:
            driver = os.path.join(folder, "libcuda.so.1")
            shutil.copy(os.path.join(fakes, "driver.so"), driver)
            out, err = run(
                """
                import ctypes, gnomon, os, sys
                from gnomon import ProfilerAction as A
                def ready(prof):
                    print([e.name for e in prof.events()])
                with gnomon.profile(on_trace_ready=ready,
                                    schedule=lambda step: A.RECORD_AND_SAVE) as prof:
                    cuda = ctypes.CDLL(os.path.join(sys.argv[1], "libcudart.so"))
                    cuda.cudaMemsetAsync.argtypes = [ctypes.c_void_p, ctypes.c_int,
                                                     ctypes.c_size_t, ctypes.c_void_p]
                    stream = ctypes.c_void_p()
                    cuda.cudaStreamCreate(ctypes.byref(stream))
                    for i in range(3):
                        cuda.cudaMemsetAsync(None, 0, 11000000, stream)
                        prof.step()
                    prof.on_trace_ready = None
                """,
                argv=(fakes,),
                GNOMON_CUDA_LIBRARY=driver,
                FAKE_CUDA_DRIVER=driver,
                GNOMON_CUPTI_LIBRARY=os.path.join(fakes, "..", "fake_cupti", "cupti.so"),
            )
        work = "['cudaMemsetAsync', 'Memset (Device)']"
        self.assertEqual((out.splitlines(), err), (["[]", work, work], ""))

    def test_where_there_is_no_cupti_one_line_says_so(self):
        driver = os.path.join(os.environ.get("GNOMON_TESTS", ""), "fake_cuda", "driver.so")
        if not os.path.exists(driver):
            self.skipTest("no fake driver")
        out, err = run(
            """
            import gnomon
            from gnomon import ProfilerActivity as A
            with gnomon.profile(activities=[A.CPU, A.CUDA], schedule=gnomon.schedule(
                    wait=0, warmup=1, active=1)) as prof:
                for i in range(6):
                    with gnomon.scope("work"):
                        pass
                    prof.step()
            print(len(prof.events()))
            """,
            GNOMON_CUPTI_LIBRARY="/none",
            GNOMON_CUDA_LIBRARY=driver,
            FAKE_CUDA_DRIVER=driver,
        )
        self.assertEqual(out, "1\n")
        said = {re.sub(r"profile \d+", "profile", line) for line in own_lines(err)}
        self.assertEqual(len(said), 1, err)
        self.assertIn("no kernels and copies", said.pop())
        self.assertLessEqual(len(own_lines(err)), 2)


if __name__ == "__main__":
    unittest.main()
