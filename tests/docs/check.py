# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""check.py SOURCE BUILD WORK CC CXX PAGE: does what the page says, as its reader.

For README.md the library is installed into WORK, whose name is README; the other
pages use it there. The page's files are written into a folder, with those that
README.md left in its, and its commands run there in order. `cc` stands for CC and
`c++` for CXX with -std=c++11, both with -Wall -Wextra -Werror.

  ```json          the block is JSON; tests/profile/test_json_read.c reads it too
  ```c, ```cpp, ```fortran, ```rust, ```python, ```text
                   the block is a file; its first line, a comment, names it
  ```console       lines that begin with "$ " are run by sh; what stands below
                   each must be what it writes, numbers apart, and it must exit
                   with 0. The name of this host is shown as node0. The numbers of
                   both must be right among themselves (relations.py). With a word, as ```console rustc, only where
                   there is a program of that name. ```console torch is run by
                   tests/python/check_torch_runs.py
  ```sh            for the reader; not run (takes minutes, or root's rights)
  ```sql           run by tests/python/check_sql.py, where there is DuckDB
  an indented line that begins with GNOMON=    is run, and must complain of
                   nothing

A page may use what README.md made before it: ./train and ./count.so; and the
tree, which is in $SOURCE. Every
option that GNOMON=help lists must stand in docs/environment.md. Functions,
macros and files that a page names `so`, and what it links to, must be there.

PAGE may be the word "broken": then pages with planted faults are checked, and
each must show.
"""
import json
import os
import re
import shlex
import shutil
import socket
import subprocess
import sys

import relations

FILES = ("c", "cpp", "fortran", "rust", "text", "python")
HOST = r"\b%s\b" % re.escape(socket.gethostname())
NAME = re.compile(r"^(?:/\*|//|#|!) ([\w.-]+\.\w+)(?: \*/)?$")


def normal(text):
    """Ignores numbers; columns may be wider and rules longer."""
    text = re.sub(r"\d+(\.\d+)?([eE][-+]?\d+)?", "N", text)
    text = re.sub(r"--+", "--", text)
    text = re.sub(r"[ \t]+", " ", text)
    return re.sub(r" ?\n", "\n", text).strip()


def blocks(page):
    """(kind, text, line) for each fenced block and each indented line."""
    kind, text, start = None, [], 0
    for number, line in enumerate(page.split("\n"), 1):
        if line.startswith("```"):
            if kind is None:
                kind, text, start = line[3:].strip() or "?", [], number
            else:
                yield kind, "\n".join(text) + "\n", start
                kind = None
        elif kind is not None:
            text.append(line)
        elif line.startswith("    GNOMON="):
            yield "line", line.strip(), number


def commands(text):
    """(command, expected output) of a console block."""
    for part in re.split(r"^\$ ", text, flags=re.M)[1:]:
        command, _, output = part.partition("\n")
        yield command, output


class Page:
    def __init__(self, name, folder, environment):
        self.name, self.folder, self.environment = name, folder, environment
        self.faults, self.done = [], 0

    def fault(self, line, text):
        self.faults.append("%s:%d: %s" % (self.name, line, text))

    def run(self, command):
        result = subprocess.run(
            ["sh", "-c", command], cwd=self.folder, env=self.environment,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120)
        text = result.stdout.decode("utf-8", "replace")
        return result.returncode, re.sub(HOST, "node0", text)

    def file(self, text, line):
        name = NAME.match(text.split("\n")[0])
        if not name:
            self.fault(line, "the block's first line names no file")
            return
        with open(os.path.join(self.folder, name.group(1)), "w") as out:
            out.write(text)

    def console(self, text, line):
        for command, expected in commands(text):
            status, output = self.run(command)
            if status:
                self.fault(line, "%s: exit status %d\n%s"
                           % (command, status, output))
            elif normal(output) != normal(expected):
                self.fault(line, "%s\nwrites\n%s\nnot\n%s"
                           % (command, output, expected))
            else:
                self.relations(command, expected, output, line)

    def relations(self, command, shown, written, line):
        for what, text in (("the page shows", shown), ("it writes", written)):
            wrong = relations.wrong(text)
            if wrong:
                self.fault(line, "%s: %s numbers that cannot be:\n%s\nof\n%s"
                           % (command, what, "\n".join(wrong), written))
                return

    def line(self, command, line):
        status, output = self.run(command)
        if status or re.search(r"^gnomon: (\$GNOMON|gnomon_|cannot)", output,
                               re.M):
            self.fault(line, "%s: exit status %d\n%s"
                       % (command, status, output))

    def json(self, text, line):
        try:
            json.loads(text)
        except ValueError as error:
            self.fault(line, "no JSON: %s" % error)

    def check(self, text):
        for kind, block, line in blocks(text):
            if kind in FILES:
                self.file(block, line)
        for kind, block, line in blocks(text):
            self.done += 1
            if kind in FILES:
                continue
            kind, _, program = kind.partition(" ")
            if program and not shutil.which(program):
                print("%s:%d: not run: no %s" % (self.name, line, program))
            elif kind == "console":
                self.console(block, line)
            elif kind == "line":
                self.line(block, line)
            elif kind == "json":
                self.json(block, line)
            elif kind not in ("sh", "sql"):
                self.fault(line, "a block of kind %s: say %s, console, "
                           "json, sql or sh" % (kind, ", ".join(FILES)))


def wrap(path, compiler):
    """A command that is the compiler with flags of ours."""
    with open(path, "w") as out:
        # A compiler that looks for itself in PATH, as ccache does, must not find this.
        # The one file takes seconds: of it tests/onefile has an object, and compiles it
        # with more warnings.
        out.write('#!/bin/sh\n'
                  'for word; do\n'
                  '    shift\n'
                  '    [ "$word" != gnomon.c ] || word=${DOCS_OBJECT:-$word}\n'
                  '    set -- "$@" "$word"\n'
                  'done\n'
                  'PATH=%s exec %s -Wall -Wextra -Werror "$@"\n'
                  % (shlex.quote(os.environ["PATH"]), compiler))
    os.chmod(path, 0o755)


def install(source, build, work, cc, cxx):
    """Installs the library, and has compilers and tools beside it."""
    os.makedirs(os.path.join(work, "bin"))
    subprocess.run(["cmake", "--install", build, "--prefix",
                    os.path.join(work, "installed")],
                   check=True, stdout=subprocess.DEVNULL)
    wrap(os.path.join(work, "bin", "cc"), '"%s"' % cc)
    wrap(os.path.join(work, "bin", "c++"), '"%s" -std=c++11' % cxx)
    for tool in ("nsys", "ncu"):
        shutil.copy(os.path.join(source, "tests", "docs", tool),
                    os.path.join(work, "bin"))


def prepare(source, build, work):
    """The environment in which pages are read, with what is installed in WORK."""
    prefix = os.path.join(work, "installed")
    found = [os.path.join(root, "") for root, _, names in os.walk(prefix)
             if "gnomon.pc" in names]
    library = os.path.dirname(found[0].rstrip("/"))
    environment = dict(os.environ)
    for name in list(environment):
        if name.startswith("GNOMON"):
            del environment[name]
    environment["PATH"] = ":".join((os.path.join(work, "bin"),
                                    os.path.join(prefix, "bin"),
                                    os.environ["PATH"]))
    environment["PKG_CONFIG_PATH"] = found[0]
    environment["PYTHONPATH"] = os.path.join(build, "python")
    environment["PYTHONDONTWRITEBYTECODE"] = "1"
    environment["SOURCE"] = source
    environment["NVTX_TOOLS"] = os.path.join(build, "tests", "nvtx_out")
    environment["LD_LIBRARY_PATH"] = environment["DOCS_FOLDER"] = library
    one = os.path.join(build, "tests", "onefile", "CMakeFiles",
                       "onefile_end_ways.dir", "__", "__", "onefile", "gnomon.c.o")
    if os.path.exists(one):
        environment["DOCS_OBJECT"] = one
    add_cuda(environment, source, os.path.join(build, "tests", "fake_cuda"))
    return environment


def add_cuda(environment, source, fakes):
    """A fake toolkit and driver of CUDA: tests/fake_cuda."""
    environment["CPATH"] = os.path.join(source, "tests", "docs", "cuda")
    environment["LIBRARY_PATH"] = fakes
    environment["LD_LIBRARY_PATH"] += ":" + fakes
    environment["GNOMON_CUDA_LIBRARY"] = os.path.join(fakes, "driver.so")
    environment["FAKE_CUDA_DRIVER"] = environment["GNOMON_CUDA_LIBRARY"]
    environment["FAKE_CUDA_NAME"] = "Simulated GPU"
    environment["GNOMON_CUPTI_LIBRARY"] = os.path.join(
        os.path.dirname(fakes), "fake_cupti", "cupti.so")


def read(source, name):
    with open(os.path.join(source, name), encoding="utf-8") as page:
        return page.read()


def sources(source):
    """All text of the headers and the source, and the names of files."""
    text, files = [], set()
    for folder in ("include", "src", "bindings"):
        for root, _, names in os.walk(os.path.join(source, folder)):
            for name in names:
                path = os.path.relpath(os.path.join(root, name), source)
                files.update((path, path[len("src/"):]))
                text.append(read(source, path))
    return "\n".join(text), files


def anchors(text):
    """Those of a page's titles, as hosts of repositories make them, and its own."""
    text = re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)
    titles = re.findall(r"^#+ (.+)$", text, re.M)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
            for title in titles} | set(re.findall(r'<a id="([^"]+)">', text))


def missing_names(page, text, source):
    """Names and links of the page that do not exist; counts those checked."""
    code, files = sources(source)
    text = re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)
    for name in set(re.findall(r"`([^`\n]+)`", text)):
        word = re.match(r"(gnomon_\w+|GNOMON_[A-Z_]{3,})\b(?!\w|[*=])", name)
        path = re.fullmatch(r"(\w+/)+[\w-]+\.[ch]", name)
        page.done += bool(word or path)
        if word and word.group(1) not in code and \
                word.group(1) not in NO_NAMES:
            page.fault(0, "there is no " + word.group(1))
        if path and name not in files and \
                not os.path.exists(os.path.join(source, name)):
            page.fault(0, "there is no " + name)
    for link, _, anchor in (found.partition("#") for found in
                            re.findall(r"\]\(([^):]+)\)", text)):
        page.done += 1
        path = os.path.normpath(os.path.join(
            source, os.path.dirname(page.name), link)) if link else None
        if path and not os.path.exists(path):
            page.fault(0, "links to %s, which is not there" % link)
        elif anchor and anchor not in anchors(read(source, path) if path
                                              else text):
            page.fault(0, "links to %s#%s, which is no title there"
                       % (link, anchor))


def unlisted_options(page, text):
    """Options that the program knows and the page does not, and profilers."""
    _, output = page.run("GNOMON=help ./train")
    known = re.findall(r"^      (\w+) ", output, re.M)
    if len(known) < 6:
        page.fault(0, "GNOMON=help lists no options:\n" + output)
    for option in known:
        if not re.search(r"`[^`]*\b%s\b" % option, text):
            page.fault(0, "does not speak of the option " + option)


def check_first(source, work, environment):
    """The README, with what the one file of a release has: other pages use its files."""
    installed = os.path.join(work, "installed")
    folder = os.path.join(work, "page")
    shutil.copytree(os.path.join(installed, "include"),
                    os.path.join(folder, "include"))
    shutil.copy(os.path.join(installed, "share", "gnomon", "gnomon.c"), folder)
    first = Page("README.md", folder, environment)
    first.check(read(source, "README.md"))
    missing_names(first, read(source, "README.md"), source)
    return first


def add_steady_clock(source, folder, environment):
    """Time that the machine's load does not change: steady_clock.c."""
    library = os.path.join(folder, os.pardir, "steady_clock.so")
    kernel = os.path.join(folder, os.pardir, "current_clocksource")
    subprocess.run([os.path.join(folder, os.pardir, os.pardir, "README", "bin", "cc"),
                    "-shared", "-fPIC", "-o", library,
                    os.path.join(source, "tests", "docs", "steady_clock.c")],
                   check=True)
    with open(kernel, "w") as out:
        out.write("hpet\n")
    environment["STEADY_CLOCK"] = kernel
    environment["LD_PRELOAD"] = library


def check_page(source, folder, environment, name):
    text = read(source, name)
    if name == "docs/README.md":  # its steps are compared with each other
        add_steady_clock(source, folder, environment)
    page = Page(name, folder, environment)
    page.check(text)
    missing_names(page, text, source)
    if name == "docs/environment.md":
        unlisted_options(page, text)
    if not page.done:
        page.fault(0, "nothing in it can be checked")
    return page


# Variables of the environment made up of parts, and patterns of names.
NO_NAMES = ("GNOMON_LOCAL_RANK", "GNOMON_WORLD_SIZE", "GNOMON_RANK",
            "gnomon__x", "gnomon_noun_verb")

BROKEN = [
    "`gnomon_no_such_call` and `gnomon_begin`\n",
    "`run/no_such_file.c` and `run/stage.c`\n",
    "[a](no-such-page.md)\n",
    "# A title\n[a](#a-title) and [b](#b-title)\n",
    "```c\nint main(void) { return 0; }\n```\n",
    "```c\n/* a.c */\nint main(void) { int unused; }\n```\n"
    "```console\n$ cc a.c -o a\n```\n",
    "```console\n$ echo one\ntwo\n```\n",
    "```console\n$ echo\n$ false\n```\n",
    "```python\nprint()\n```\n",
    "```json\n{\"a\": 1,}\n```\n",
    "    GNOMON=simpel ./train\n",
] + ["```console\n$ cat <<'E'\n%sE\n%s```\n" % (text, text) for text in (
    "Action  Min  p50  p90  p99  Max\n\na  5 ms  3 ms  6 ms  7 ms  8 ms\n",
    "Action  p50  p99\na  3.1 ms  3.0 ms\n",
    "Action  Min  Mean  Max\na  3 ms  9 ms  8 ms\n",
    "Path  %  Total  Self\na  50.0  3.0 ms  3.2 ms\n",
    "Path  %  Total  Self\na  101.0  3.0 ms  3.0 ms\n",
    "Path       Total    Self\na  3.0 ms  1.0 ms\n  b  2.5 ms  2.5 ms\n",
    "|  Action  |  Mean duration (s)  |  Num calls  |  Total time (s)  |\n"
    "|  a  |  0.0020  |  3  |  0.0090  |\n",
    "|  Action  |  Total time (s)  |  Percentage %  |\n"
    "|  Total  |  0.0100  |  100 %  |\n|  a  |  0.0050  |  60.0  |\n",
    "ncalls  tottime  percall  cumtime  percall f\n"
    "3  0.004  0.001  0.003  0.001 a\n",
    "name,count,min,mean,max,sum\na,2,3,2,4,4\n",
    "step 3   10 ms  load 12 ms, usually 1 ms\n",
    "gnomon: about 0.500 ms of 1.000 s (0.050 %) went into 10 marks at 27 ns "
    "each\n",
    "opt mean 1.000 ms -> 1.100 ms, +5.0 %, sure\n",
    "5.0 ms, 3 steps of 2.0 ms\n",
)] + [
    "    GNOMON=simple ./no-such-program\n",
]


def check_broken(source, folder, environment):
    shown = 0
    for text in BROKEN:
        page = Page("broken", folder, environment)
        page.check(text)
        missing_names(page, text, source)
        shown += len(page.faults) == 1
    print("%d of %d planted faults shown" % (shown, len(BROKEN)))
    return 0 if shown == len(BROKEN) else 1


def main():
    source, build, work, cc, cxx, name = sys.argv[1:]
    if not shutil.which("pkg-config"):
        print("skipped: no pkg-config")
        return 0
    shutil.rmtree(work, ignore_errors=True)
    first = os.path.join(os.path.dirname(work), "README")
    if work == first:
        install(source, build, first, cc, cxx)
    environment = prepare(source, build, first)
    folder = os.path.join(work, "page")
    if work != first:
        shutil.copytree(os.path.join(first, "page"), folder)
    if name == "broken":
        return check_broken(source, folder, environment)
    page = check_first(source, work, environment) if work == first else \
        check_page(source, folder, environment, name)
    print("\n".join(page.faults))
    print("%s: %d blocks, %d faults" % (name, page.done, len(page.faults)))
    return 1 if page.faults else 0


sys.exit(main())
