# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""gnomon.profile beside torch.profiler.profile: the same programs, on the CPU, and what
each did. Run in a virtual environment that has torch."""
import collections
import json
import os
import random
import tempfile
import unittest
import warnings

import gnomon

os.environ["KINETO_LOG_LEVEL"] = "9"  # else a line for each start and stop
import torch  # noqa: E402
import torch.profiler  # noqa: E402

SEED = 20261126
ACTIONS = "NONE WARMUP RECORD RECORD_AND_SAVE".split()


def random_arguments(choose):
    """Of schedule(); some are refused."""
    return {
        "wait": choose.randint(-1 if choose.random() < 0.05 else 0, 4),
        "warmup": choose.randint(-1 if choose.random() < 0.05 else 0, 3),
        "active": choose.randint(0 if choose.random() < 0.05 else 1, 4),
        "repeat": choose.randint(-1 if choose.random() < 0.05 else 0, 3),
        "skip_first": choose.choice((0, 0, 1, 5)),
        "skip_first_wait": choose.choice((0, 0, 1, 2, -1, True)),
    }


def actions_of(schedule, arguments):
    """Its first actions by name; or the error's type and the warnings that came."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            made = schedule(**arguments)
        except Exception as error:
            return type(error).__name__, len(caught)
    return [made(step).name for step in range(50)], len(caught)


def random_words(choose):
    """Actions as a program's own schedule might have them. Not a recording that is
    followed by a warm-up: there the next start of torch's crashes the process."""
    words, count = [], choose.randint(1, 14)
    while len(words) < count:
        word = choose.choice(ACTIONS)
        if words and words[-1] == "RECORD" and word == "WARMUP":
            continue
        words.append(word)
    if words[-1] == "RECORD":
        words.append("RECORD_AND_SAVE")
    return words


def random_program(choose):
    """Steps, stops and starts. It is over where it stops."""
    program, is_on = [], False
    for _ in range(choose.randint(1, 25)):
        if not is_on:
            program.append("start")
        elif choose.random() < 0.12:
            program.append("stop")
        else:
            program.append("step")
            continue
        is_on = not is_on
    return program + ["stop"] * is_on


class Observed:
    """One of both, what it said, and what its handler found."""

    def __init__(self, kind, function, action, schedule):
        self.seen, self.texts, self.function = [], [], function
        if isinstance(schedule, list):
            words = [getattr(action, word) for word in schedule]
            none = action.NONE
            chosen = lambda step: words[step] if step < len(words) else none
        elif schedule:
            chosen = (torch.profiler if kind is not gnomon.profile else gnomon).schedule(
                **schedule
            )
        else:
            chosen = None
        activity = torch.profiler.ProfilerActivity
        self.profile = kind(
            activities=[activity.CPU], schedule=chosen, on_trace_ready=self.on_ready
        )

    def on_ready(self, profile):
        assert profile is self.profile
        names = [e.name for e in profile.events() if e.name.startswith("work")]
        self.seen.append(
            ("ready", profile.step_num, profile.current_action.name, sorted(names))
        )

    def obey(self, word, number):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            getattr(self.profile, word)()
        self.texts += [
            str(w.message) for w in caught if "Incorrect schedule" in str(w.message)
        ]
        self.seen.append(
            (word, self.profile.step_num, self.profile.current_action.name)
        )
        with self.function(f"work{number}"):
            torch.add(torch.ones(2), 1)


class Torch(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def test_schedules_are_torchs(self):
        choose = random.Random(SEED)
        refused = 0
        for _ in range(2000):
            arguments = random_arguments(choose)
            theirs = actions_of(torch.profiler.schedule, arguments)
            ours = actions_of(gnomon.schedule, arguments)
            self.assertEqual(ours, theirs, arguments)
            refused += theirs[0] == "AssertionError"
        self.assertGreater(refused, 50)

    def both(self, schedule, program):
        pair = (
            Observed(
                torch.profiler.profile,
                torch.profiler.record_function,
                torch.profiler.ProfilerAction,
                schedule,
            ),
            Observed(
                gnomon.profile, gnomon.record_function, gnomon.ProfilerAction, schedule
            ),
        )
        for one in pair:
            for number, word in enumerate(program):
                one.obey(word, number)
        return pair

    def test_programs_do_what_torchs_do(self):
        """Actions, numbers of steps, when the handler is called, and what it finds."""
        choose = random.Random(SEED + 1)
        delivered = collections.Counter()
        for _ in range(90):
            program = random_program(choose)
            arguments = random_arguments(choose)
            if isinstance(actions_of(gnomon.schedule, arguments)[0], str):
                arguments = None  # none at all
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                theirs, ours = self.both(arguments, program)
            self.assertEqual(ours.seen, theirs.seen, (arguments, program))
            self.assertEqual(ours.texts, theirs.texts)
            for entry in ours.seen:
                delivered[entry[0]] += 1
        self.assertGreater(delivered["ready"], 60)
        self.assertGreater(delivered["stop"], 60)

    def test_schedules_of_the_program_do_what_torchs_do(self):
        """But where a recording is broken off: it is delivered here, and dropped there."""
        choose = random.Random(SEED + 2)
        broken = 0
        for _ in range(60):
            words, program = random_words(choose), random_program(choose)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                theirs, ours = self.both(words, program)
            self.assertEqual(ours.texts, theirs.texts, (words, program))
            wanted = list(ours.seen)
            for i in range(len(wanted) - 1, 0, -1):
                if (
                    wanted[i][0] == "step"
                    and wanted[i - 1][0] == "ready"
                    and wanted[i][2] == "NONE"
                    and words[wanted[i][1] - 1 :][:1] == ["RECORD"]
                ):
                    del wanted[i - 1]
                    broken += 1
            self.assertEqual(wanted, theirs.seen, (words, program))
        self.assertGreater(broken, 5)

    def test_traces_have_torchs_steps_and_labels(self):
        """The step that stop() cuts short has a row in torch's trace alone."""
        found = []
        for kind, function in (
            (torch.profiler.profile, torch.profiler.record_function),
            (gnomon.profile, gnomon.record_function),
        ):
            traces = []

            def ready(prof):
                path = os.path.join(self.folder, "trace.json")
                prof.export_chrome_trace(path)
                with open(path) as file:
                    rows = json.load(file)["traceEvents"]
                traces.append(
                    sorted(
                        row["name"]
                        for row in rows
                        if row.get("cat") == "user_annotation" and row["ph"] == "X"
                    )
                )

            with kind(
                activities=[torch.profiler.ProfilerActivity.CPU],
                schedule=torch.profiler.schedule(wait=1, warmup=1, active=3),
                on_trace_ready=ready,
            ) as prof:
                for i in range(9):
                    with function(f"work{i}"):
                        pass
                    prof.step()
            found.append(traces)
        self.assertEqual(found[0][0], found[1][0])
        self.assertEqual(len(found[0][0]), 6)
        self.assertEqual(set(found[0][1]) - set(found[1][1]), {"ProfilerStep#9"})
        self.assertLessEqual(set(found[1][1]), set(found[0][1]))

    def test_layers_of_a_watched_model_are_in_it(self):
        import gnomon.torch

        model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU())
        with gnomon.torch.watch(model):
            with gnomon.profile(schedule=gnomon.schedule(wait=1, warmup=1, active=1)) as p:
                for _ in range(3):
                    model(torch.ones(2, 4)).sum().backward()
                    p.step()
        names = collections.Counter(e.name for e in p.events())
        for name in ("model", "model.0", "model.1", "model.0 backward", "backward"):
            self.assertEqual(names[name], 1, names)


if __name__ == "__main__":
    unittest.main()
