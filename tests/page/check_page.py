# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""check_page.py WORK GNOMON PAGES: the pages that gnomon makes, in a browser. It judges
what they say and their state; no pictures, and no times."""
import base64
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import unittest

import browser

WORK, GNOMON, PAGES = map(os.path.abspath, sys.argv[1:4])
HOSTILE = "</script><img src=x onerror=\"document.title='bad'\">"


def made(name):
    return os.path.join(WORK, name)


def gnomon(*words, status=0):
    done = subprocess.run([GNOMON, *words], cwd=WORK, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert done.returncode == status, done.stderr
    return done


class Case(unittest.TestCase):
    page = None  # one browser for all

    def open(self, name, width=1280, scheme="light"):
        self.page.show(width, 900, scheme)
        self.page.open(made(name))
        self.page.requests()

    def tearDown(self):
        self.assertEqual(self.page.complaints(), [])
        self.assertEqual([u for u in self.page.requests() if not u.startswith("file:")
                          or not u.endswith(".html")], [])

    def text(self, selector):
        return self.page.run("const e = document.querySelector(arguments[0]);"
                             "return e && e.textContent.replace(/\\s/g, ' ')", selector)

    def column(self, section, n):
        return self.page.run(
            "return [...document.querySelectorAll(arguments[0])].map(r =>"
            "r.children[arguments[1]].textContent.replace(/\\s/g, ' '))",
            section + " tbody tr:not(.pad)", n)

    def figure(self, name):
        return self.text(f"[data-figure='{name}'] dd")

    def focus(self, selector):
        self.page.run("document.querySelector(arguments[0]).focus()", selector)


class OfAJob(Case):
    def test_it_says_what_ran(self):
        self.open("job.html")
        self.assertEqual(self.text("h1"), "a <job> & more")
        self.assertEqual(self.figure("ranks"), "3")
        self.assertEqual(self.figure("recorded"), "500.0 ms")
        self.assertEqual(self.figure("executions"), "3 120")
        self.assertEqual(self.column("#actions", 0), ["train_step", "forward", HOSTILE])
        self.assertEqual(self.column("#actions", 1), ["60", "60", "3 000"])
        self.assertEqual(self.column("#actions", 2), ["600.0 ms", "480.0 ms", "1.200 ms"])
        self.assertEqual(self.column("#actions", 3), ["40.0 %", "32.0 %", "0.08 %"])
        self.assertIn("12 events", self.column("#losses", 0)[0])

    def test_it_begins_with_advice(self):
        self.open("job.html")
        self.assertEqual(self.text("main section h2"), "Advice")
        self.assertIn("39 % of the steps is not marked", self.text("#advice li"))
        self.assertIn("> 25 % of the steps", self.text("#advice dl"))
        self.open("bare.html")
        self.assertEqual(self.text("#advice .note"), "Nothing found.")

    def test_names_are_text(self):
        self.open("job.html")
        self.assertEqual(self.page.run(
            "return [document.images.length, document.scripts.length, document.title]"),
            [0, 2, "a <job> & more"])

    def test_a_title_sorts(self):
        self.open("job.html")
        self.page.click("#actions th[data-id=count] button")
        self.assertEqual(self.column("#actions", 1), ["3 000", "60", "60"])
        self.page.click("#actions th[data-id=count] button")
        self.assertEqual(self.column("#actions", 1), ["60", "60", "3 000"])
        self.page.click("#actions th[data-id=name] button")
        self.assertEqual(self.column("#actions", 0), [HOSTILE, "forward", "train_step"])
        self.assertEqual(self.page.run("return document.querySelector("
                                       "'#actions th[aria-sort]').getAttribute("
                                       "'aria-sort')"), "ascending")

    def test_words_are_searched(self):
        self.open("job.html")
        self.page.click("#search")
        self.page.press(*"FORW")
        self.assertEqual(self.column("#actions", 0), ["forward"])
        self.assertEqual(self.text("#actions-count"), "1 of 3 actions")
        self.assertEqual(self.page.run("return [...document.querySelectorAll("
                                       "'#icicle .found')].map(e => e.textContent)"),
                         ["forward"])

    def test_a_row_is_chosen_by_mouse_and_keys(self):
        self.open("job.html")
        self.assertEqual(self.text("#chosen-name"), "train_step")
        self.page.click("#actions tr[data-at='1']")
        self.assertEqual(self.text("#chosen-name"), "forward")
        self.assertIn("p50 8.000 ms", self.text("#histogram figcaption"))
        self.assertIn("train_step480.0 ms", self.text("#chosen"))
        self.assertEqual(self.column("#ranks", 6), ["160.0 ms"] * 3)
        self.focus("#actions .scroll")
        self.page.press("end")
        self.assertEqual(self.text("#chosen-name"), HOSTILE)
        self.page.press("up", "up")
        self.assertEqual(self.text("#chosen-name"), "train_step")

    def test_the_tree_zooms(self):
        self.open("job.html")
        self.focus("#icicle")
        self.page.press("down", "down")
        self.assertEqual(self.text("#tree-status"),
                         "train_step › forward: 480.0 ms, 80.0 %, 60 calls")
        self.page.press("enter")
        self.assertEqual(self.text("#icicle b"), "forward")
        self.page.press("escape")
        self.assertEqual(self.text("#icicle b"), "train_step")
        self.page.click("#tree-out")
        self.assertEqual(self.text("#icicle b"), "all")

    def test_slow_steps_have_a_mark_and_a_reason(self):
        self.open("job.html")
        self.assertEqual(self.page.run("return document.querySelectorAll("
                                       "'#strip i').length"), 60)
        slow = self.page.run("return [...document.querySelectorAll('#strip i.slow')]"
                             ".map(e => e.getAttribute('aria-label'))")
        self.assertIn("step 7, rank 2 45.00 ms, slow", [s.replace("\u202f", " ")
                                                        for s in slow])
        self.assertEqual(self.column("#steps", 0)[0], "step 7, rank 2")
        self.assertIn("forward +28.00 ms (usually 8.000 ms)",
                      self.column("#steps", 3)[0])

    def test_what_runs_in_few_steps_is_not_usual(self):
        """Also where no entry says how many steps there are, and the stage alone does."""
        def stats(ns, count=1):
            return dict(count=count, total_ns=ns * count, min_ns=ns, max_ns=ns)

        rare = [dict(stage=1, region=1, step=k, time=stats(30_000_000), own_ns=30_000_000,
                     calls=1) for k in (0, 5)]
        with open(made("rare.json"), "w", encoding="utf-8") as file:
            json.dump(dict(
                gnomon=1, regions=[dict(name="save")],
                tracks=[dict(run=1, device=-1, name="main")],
                stages=[dict(run=1, name="fit", steps=stats(10_000_000, 9))],
                steps=[dict(stage=1, number=k, begin_ns=k * 10**8,
                            end_ns=k * 10**8 + (40 if k == 5 else 10) * 10**6)
                       for k in range(1, 10)], step_times=rare), file)
        gnomon("report", "rare.json", "--as", "html", "-o", "rare.html")
        self.open("rare.html")
        self.assertEqual(self.column("#steps", 3), ["save +30.00 ms (not in the median step)"])

    def test_a_step_has_its_timeline(self):
        self.open("job.html")
        self.focus("#strip")
        self.page.press("home")
        self.assertTrue(self.text("#timeline .note").startswith("Of step 0"))
        wide = "return [...document.querySelectorAll('#lanes b')].filter(e =>" \
            "e.textContent === 'forward').map(e => parseFloat(e.style.width))"
        self.assertAlmostEqual(self.page.run(wide)[0], 80, delta=1)
        self.focus("#lanes")
        self.page.press("+")
        self.assertEqual(self.page.run(wide)[0], 100)
        self.page.press("-", "right")
        self.assertEqual(self.text("#timeline-status"), "From 2.500 ms, 10.00 ms long")
        self.page.click("#whole")
        self.assertEqual(self.text("#timeline-status"), "From 0 ns, 330.0 ms long")

    def test_a_rank_is_chosen(self):
        self.open("job.html")
        self.page.run("const e = document.getElementById('rank'); e.value = '3';"
                      "e.dispatchEvent(new Event('change'))")
        self.assertEqual(self.column("#actions", 1), ["20", "20", "1 000"])
        self.assertEqual(self.page.run("return document.querySelectorAll("
                                       "'#strip i').length"), 20)

    def test_links_counters_and_ranks_are_there(self):
        self.open("job.html")
        self.assertEqual(self.column("#links", 0), ["train_step"])
        self.assertEqual(self.column("#links", 3), ["15"])
        self.assertEqual(self.column("#counters", 1), ["60"])
        self.assertEqual(self.text("#counter figcaption"), "loss: 60 samples")
        self.assertEqual(self.column("#ranks", 0), ["rank 0", "rank 1", "rank 2"])

    def test_tab_reaches_all(self):
        self.open("job.html")
        reached = set()
        for _ in range(80):
            self.page.press("tab")
            reached.add(self.page.run("const e = document.activeElement; return e.id ||"
                                      "(e.closest('section') || e).id"))
        for part in ("search", "strip", "icicle", "by-host", "lanes", "in", "actions",
                     "links", "stage", "rank"):
            if part == "stage":
                continue  # there is one alone, and nothing to choose
            self.assertIn(part, reached)

    def test_it_fits_phones_and_both_themes(self):
        seen = []
        for width in (400, 1280):
            for scheme in ("light", "dark"):
                self.open("job.html", width, scheme)
                self.assertLessEqual(self.page.run(
                    "return document.documentElement.scrollWidth"), width)
                self.assertEqual(self.page.run(
                    "const t = document.querySelector('#steps .scroll');"
                    "return t.scrollWidth - t.clientWidth"), 0)
                seen.append(self.page.run(
                    "const s = getComputedStyle(document.body);"
                    "return [s.backgroundColor, s.color].map(c => c.match(/\\d+/g)"
                    ".slice(0, 3).reduce((a, x) => a + +x, 0))"))
        for i, (paper, ink) in enumerate(seen):
            self.assertEqual(paper > ink, i % 2 == 0)
            self.assertGreater(abs(paper - ink), 400)

    def test_it_is_printed_black_on_white(self):
        self.open("job.html", scheme="dark")
        self.page.show(1280, 900, "dark", "print")
        self.assertEqual(self.page.run(
            "const s = getComputedStyle(document.body);"
            "return [s.backgroundColor, s.color, getComputedStyle("
            "document.getElementById('bar')).display]"),
            ["rgb(255, 255, 255)", "rgb(0, 0, 0)", "none"])


class OfLittle(Case):
    def test_what_is_missing_is_said_with_its_word(self):
        self.open("bare.html")
        self.assertEqual(self.column("#actions", 0), ["alone"])
        self.assertIn("GNOMON=trace,file=run.gnomon", self.text("#timeline .note"))
        self.assertIn("gnomon_step", self.text("#steps .note"))
        self.assertIn("One process", self.text("#ranks .note"))
        for part in ("links", "counters", "memory"):
            self.assertTrue(self.text(f"#{part} .note"))
        self.assertIn("Nothing was lost", self.text("#losses .note"))


class OfALongRun(Case):
    def bars(self):
        return [s.replace("\u202f", " ") for s in self.page.run(
            "return [...document.querySelectorAll('#strip i')].map(e =>"
            "e.getAttribute('aria-label'))")]

    def test_all_of_its_steps_are_drawn(self):
        self.open("long.html")
        bars = self.bars()
        self.assertEqual(len(bars), 261)  # 782 bins, three to a bar
        self.assertEqual(bars[0], "steps 1 to 384 of all 10.00 ms, the slowest of 384 of "
                         "which the mean is 10.00 ms")
        self.assertEqual([b for b in bars if b.endswith("slow")],
                         ["step 77 777 1.000 s, the slowest of 384 of which the mean is "
                          "12.58 ms, slow"])
        self.assertEqual(self.page.run("return document.querySelectorAll("
                                       "'#strip i.slow').length"), 1)
        self.focus("#strip")
        self.page.press("home", "right")
        self.assertTrue(self.text("#strip-status").startswith(
            "steps 385 to 768 of all: 10.00 ms, "))

    def test_counters_and_memory_are_lines_over_steps(self):
        self.open("long.html")
        for part, name in (("#counter", "loss"), ("#pools", "arena")):
            self.assertEqual(self.text(part + " figcaption"), name +
                             ": 100 000 samples in 782 bins of 128 steps")
            self.assertEqual(self.page.run(
                "return document.querySelector(arguments[0]).getAttribute('d')"
                ".split('L').length", part + " .line"), 782)

    def test_what_gnomon_cost_is_said(self):
        self.open("long.html")
        self.assertEqual(self.figure("gnomon itself, about"), "5.000 ms, 0.00 %")


class OfMuch(Case):
    def test_what_is_drawn_is_bounded(self):
        self.assertLess(os.path.getsize(made("large.html")), 25e6)
        self.open("large.html")
        count = "return document.querySelectorAll('*').length"
        self.assertLess(self.page.run(count), 9000)
        self.assertEqual(self.text("#actions-count"), "100 000 actions")
        self.assertEqual(self.figure("single events"), "1 000 000")
        self.focus("#actions .scroll")
        self.page.press("end")
        self.assertEqual(self.text("#chosen-name"), "layer0.attention")
        self.page.click("#search")
        self.page.press(*"layer99999.")
        self.assertEqual(self.column("#actions", 0), ["layer99999.attention"])
        for _ in range(12):
            self.page.click("#in")
        self.assertLess(self.page.run(count), 9000)


class OfADifference(Case):
    def test_changes_are_marked_by_how_sure_they_are(self):
        self.open("diff.html")
        rows = dict(zip(self.column("#changes", 0), self.column("#changes", 5)))
        self.assertTrue(rows["forward"].startswith("▲ +12.5"), rows)
        self.assertTrue(rows[HOSTILE].startswith("~"), rows)
        self.assertEqual(self.page.run("return [...document.querySelectorAll("
                                       "'tr.sure-more')].map(r => r.children[0]"
                                       ".textContent)"), ["forward"])
        self.page.click("#search")
        self.page.press(*"train")
        self.assertEqual(set(self.column("#changes", 0)), {"train_step"})

    def test_gates_say_what_they_found(self):
        self.open("diff.html")
        gates = self.page.run("return [...document.querySelectorAll('#gates li')]"
                              ".map(e => e.textContent)")
        self.assertEqual([g.split(": ")[:2] for g in gates],
                         [["Gate ✗ fails", "forward mean +5%"],
                          ["Gate ✓ holds", "forward mean +50%"]])
        self.assertIn("+12.5", gates[0])


class WithoutABrowser(unittest.TestCase):
    def test_only_its_own_script_and_style_are_obeyed(self):
        with open(made("job.html"), encoding="utf-8") as file:
            page = file.read()
        policy = re.search(r'Content-Security-Policy" content="([^"]*)', page)[1]
        self.assertIn("default-src 'none'", policy)
        for tag in ("script", "style"):
            body = re.search(f"<{tag}>(.*?)</{tag}>", page, re.S)[1]
            known = base64.b64encode(hashlib.sha256(body.encode()).digest()).decode()
            self.assertIn(f"{tag}-src 'sha256-{known}'", policy)
        self.assertEqual(re.findall(r"(?:src|href)=[\"']?(?:https?:)?//", page), [])
        self.assertNotIn("<", re.search(r'id="index">(.*?)</script>', page, re.S)[1])
        self.assertEqual(json.loads(re.search(r'id="index">(.*?)</script>', page,
                                              re.S)[1])["kind"], "profile")

    def test_it_is_opened_or_its_path_is_printed(self):
        folder = made("opened")
        shutil.rmtree(folder, ignore_errors=True)
        words = {k: v for k, v in os.environ.items()
                 if k not in ("DISPLAY", "WAYLAND_DISPLAY", "GNOMON", "GNOMON_JOB")}
        done = subprocess.run([GNOMON, "run", "--open", "-o", folder, "--",
                               os.path.join(os.path.dirname(PAGES), "profiled")],
                              env=words, text=True, stdout=subprocess.PIPE)
        self.assertEqual(done.returncode, 0)
        path = os.path.realpath(folder) + "/page.html"
        self.assertEqual(done.stdout.splitlines()[-1], path)
        fake = made("bin")
        os.makedirs(fake, exist_ok=True)
        with open(fake + "/xdg-open", "w", encoding="utf-8") as file:
            file.write('#!/bin/sh\necho "$1" > "$SEEN"\n')
        os.chmod(fake + "/xdg-open", 0o755)
        words.update(DISPLAY=":9", SEEN=made("seen"), PATH=fake + ":" + words["PATH"],
                     TMPDIR=made("tmp"))
        os.makedirs(made("tmp"), exist_ok=True)
        done = subprocess.run([GNOMON, "run", "--open", "--",
                               os.path.join(os.path.dirname(PAGES), "profiled")],
                              env=words, text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE)
        self.assertNotIn("page.html", done.stdout)
        self.assertNotIn("gnomon diff", done.stderr) # nobody asked for a folder
        with open(made("seen"), encoding="utf-8") as file:
            path = file.read().strip()
        self.assertRegex(path, "^" + re.escape(os.path.realpath(made("tmp"))) +
                         "/gnomon-page-....../page[.]html$")

    def test_options_of_other_reports_are_refused(self):
        self.assertIn("takes no option but -o",
                      gnomon("report", "--as", "html", "--limit", "3", "job.gnomon",
                             status=1).stderr)
        self.assertIn("-o is the file of --as html",
                      gnomon("report", "-o", "x", "job.gnomon", status=1).stderr)


def make():
    os.makedirs(WORK, exist_ok=True)
    for kind in ("job", "bare", "large", "long", "other"):
        subprocess.run([PAGES, kind, made(kind + ".gnomon")], check=True)
        gnomon("report", "--as", "html", "-o", kind + ".html", kind + ".gnomon")
    gnomon("diff", "--as", "html", "-o", "diff.html", "--gate", "forward mean +5%",
           "--gate", "forward mean +50%", "job.gnomon", "other.gnomon", status=4)


if __name__ == "__main__":
    make()
    if not browser.is_there():
        print("skipped: no chromium")
        sys.exit(77)
    Case.page = browser.Browser(made("home"))
    try:
        unittest.main(argv=sys.argv[:1] + sys.argv[4:], verbosity=2)
    finally:
        Case.page.close()
