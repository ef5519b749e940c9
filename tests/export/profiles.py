# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the checks of exports share: the files of tests/programs/exported.c, and the
profiles that they are of, as their JSON form has them."""
import glob
import json
import os
import shutil
import subprocess
import sys


def fail(text):
    sys.exit("check: " + text)


def check(condition, text):
    if not condition:
        fail(text)


def once(pairs):
    """A JSON object in which no key comes twice."""
    result = dict(pairs)
    check(len(result) == len(pairs), f"a key comes twice: {pairs[:4]}")
    return result


def no_constant(word):
    fail(f"{word} is no JSON")


def strict_json(path):
    with open(path, "rb") as file:
        text = file.read().decode("utf-8", errors="strict")
    check("\x00" not in text, f"{path}: a NUL")
    return json.loads(text, object_pairs_hook=once, parse_constant=no_constant)


def one_mark(text):
    """A character that is cut off is one U+FFFD or one for each of its bytes."""
    return text.replace("cut\ufffd\ufffd", "cut\ufffd")


def track_name(track):
    """What all formats call it, as JSON has it."""
    kind = track.get("kind", "thread")
    os_id = int(track.get("os_id", 0)) if kind == "thread" else 0
    return track.get("name") or "%s %d" % (
        kind, os_id if os_id > 0 else track.get("index", 0))


def number(value):
    """From 2^63 on the JSON form has integers as texts."""
    return int(value) if isinstance(value, str) else value


class Profile:
    """One profile; entities are counted from 1."""

    def __init__(self, form):
        self.form = form

    def all(self, kind):
        return self.form.get(kind, [])

    def at(self, kind, which):
        return self.all(kind)[which - 1] if which else {}

    def track_run(self, track):
        if not track:
            return 0
        return self.at("tracks", track).get("run", 1)

    def path(self, node):
        names = []
        while node:
            n = self.at("nodes", node)
            names.insert(0, self.at("regions", n["region"]).get("name", ""))
            node = n.get("parent", 0)
        return names

    def self_ns(self, node):
        """What stacks have of a node."""
        stream = self.at("tracks", node["track"]).get("kind") == "stream"
        times = node.get("host") or (node.get("device") if stream else None)
        return number((times or {}).get("self_ns", 0))


def profiles_of(path):
    form = strict_json(path)
    return [Profile(f) for f in (form if isinstance(form, list) else [form])]


def made(program, folder):
    """{name: its profiles} of what PROGRAM writes."""
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    environment = {k: v for k, v in os.environ.items()
                   if not k.startswith("GNOMON")}
    environment["EXPORTED"] = folder
    subprocess.run([*program, "all"], env=environment, check=True)
    found = {os.path.basename(p)[:-len(".gnomon.json")]: profiles_of(p)
             for p in sorted(glob.glob(folder + "/*.gnomon.json"))}
    check(len(found) == 39, f"{len(found)} files of JSON")
    return found


def arguments():
    """FOLDER PROGRAM..."""
    folder, *program = sys.argv[1:]
    return folder, made(program, folder)
