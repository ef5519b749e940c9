#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks what a mark costs when it is off, by disassembling marked functions.

    check.py --compiler gcc --include ../../include [--cpp ../../bindings/cpp]
             [--shared libgnomon.so]
             [--static libgnomon.a] [--hosts | --self-test]

Compiles the sites of sites.h at -O2, -O3 and -Os as C, C++ inline functions and
C++ templates, with and without marks. Links them as an executable (plain and
position independent) and as a shared library, against a shared and a static
gnomon. Then it walks every off path, and compares it with the same path without
marks. The marks may add:
  - one load of the mask for each begin, and no other load. The exception is a
    load from the GOT if only the linker knows the address: of the region of a
    C++ inline function or template with -fPIC, and of gnomon_enabled in all
    code but that of a plain executable;
  - no call into gnomon, and none of an outlined copy of its inline functions;
  - no atomic instruction, fence, thread-local access or store into a mark;
  - at most as many instructions as LIMITS says.
--hosts does the same with flags that hosts use: link-time optimization, -fno-plt
and -fvisibility=hidden, each at -O2 and all of them at -Os. Where only the objects
differ, they are linked with the shared gnomon alone. A hidden region must not be
reached through the GOT.
--self-test runs the check on headers that break one rule each, and expects a
report of each.
Exit status: 0, 1, or 77 if the test cannot run.
"""
import argparse
import functools
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile

import walk

HERE = os.path.dirname(os.path.abspath(__file__))
OPTIMIZE = ("-O2", "-O3", "-Os")
LANGUAGES = ("c", "inline", "template")
# How objects are compiled, and how they are linked.
MODES = {"exe": ("-fno-pie", "-no-pie"), "pie": ("-fPIE", "-pie"),
         "so": ("-fPIC", "-shared")}
# How the linker is told of an address, which the mode decides, is the same at each level:
# all modes at each, and with each flag of hosts, are walked only in a soak. The optimizer
# of links sees all that there is in a program; what may be replaced is in a library.
LEVELS = {"-O2": ("exe", "so"), "-O3": ("pie",), "-Os": ("so",)}
HOST_MODES = {"lto": ("exe", "so"), "noplt": ("so",), "hidden": ("so",),
              "all": ("so",)}
if "GNOMON_SOAK" in os.environ:
    LEVELS = dict.fromkeys(OPTIMIZE, tuple(MODES))
    HOST_MODES = dict.fromkeys(HOST_MODES, tuple(MODES))
# Further flags of hosts.
HOSTS = {"lto": ("-flto",), "noplt": ("-fno-plt",),
         "hidden": ("-fvisibility=hidden", "-fvisibility-inlines-hidden"),
         "all": ("-flto", "-fno-plt", "-fvisibility=hidden")}
# Turns off what some systems' compilers add by default: it is no cost of marks.
COMMON = ("-fno-stack-protector", "-fcf-protection=none",
          "-fomit-frame-pointer", "-fno-lto", "-g0", "-w")
ONLY = {"gcc": ("-fno-ipa-icf",), "clang": ()}

# How many loads of masks a path of each site has: a number, or a function of
# the opaque calls on the path.
SITES = {"plain": 1, "call": 1, "early_return": 1, "loop": len, "nested": 2,
         "function": 1, "begin_end": 1, "begin_op": 1, "op_scope": 1,
         "start_stop": 2, "range": 1, "mark": 1, "counter": 1, "step": 1}
# Sites in C++ alone, with the objects of the C++ binding. Each may add what a site
# with a macro adds.
OBJECTS = {"object": "call", "object_loop": "loop",
           "object_range": "function", "object_moved": "function"}
SITES.update({site: SITES[twin] for site, twin in OBJECTS.items()})
LOOPS = ("loop", "object_loop")
GATES = ("start_stop", "step")
OF_SITES = "(c|inline)_|_ZN9templates" # as `symbol` names them

# The most instructions that marks may add to one off path: those of the path
# itself + those of the frame (push, pop, moves of rsp, ret). Measured with the
# versions of MEASURED, in this order of columns:
#   C -O2 and -O3, C -Os, C++ -O2 and -O3, C++ -Os
# A load from the GOT, where it is allowed, comes on top. A scope in C costs a
# load, a test and a branch. A site that costs more keeps a register for the
# path that is on, tests it at the end, or has lost a tail call to the scope. In a frame
# of op_scope there is room for the operation.
MEASURED = {"gcc": ("12",), "clang": ("14", "16")}
LIMITS = {
    "gcc": {
        "plain": "4+2 4+2 4+2 4+2",
        "call": "3+0 4+0 3+4 4+4",
        "early_return": "5+6 4+4 5+6 5+4",
        "loop": "3+0 4+0 3+0 4+0",
        "nested": "9+5 10+5 6+5 7+5",
        "function": "3+0 3+0 3+7 4+7",
        "begin_end": "3+0 3+0 3+0 3+0",
        "begin_op": "3+0 3+0 3+0 3+0",
        "op_scope": "3+2 4+2 3+4 4+4",
        "start_stop": "6+3 6+3 6+3 6+3",
        "range": "3+0 3+0 3+0 3+0",
        "mark": "3+0 3+0 3+0 3+0",
        "counter": "3+2 3+2 3+6 3+2",
        "step": "3+0 3+0 3+0 3+0",
    },
    "clang": {
        "plain": "4+2 4+2 4+2 4+2",
        "call": "3+0 3+0 6+4 6+4",
        "early_return": "7+4 7+4 7+4 7+4",
        "loop": "3+0 3+0 6+0 6+0",
        "nested": "9+5 9+5 12+5 12+5",
        "function": "3+2 3+2 6+7 6+7",
        "begin_end": "3+2 3+2 3+2 3+2",
        "begin_op": "3+2 3+2 3+2 3+2",
        "op_scope": "3+3 3+7 6+5 6+5",
        "start_stop": "6+3 6+3 6+3 6+3",
        "range": "3+2 3+2 3+2 3+2",
        "mark": "3+0 3+0 3+0 3+0",
        "counter": "3+2 3+2 3+2 3+2",
        "step": "3+0 3+0 3+0 3+0",
    },
}
# How much more another version of a compiler may add. gcc 11 adds this much.
SLACK = (3, 4)


def skip(why):
    print("skipped: " + why)
    sys.exit(77)


def run(command):
    done = subprocess.run(command, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    if done.returncode:
        sys.exit("failed: %s\n%s" % (" ".join(command), done.stdout))
    return done.stdout


class Build:
    """Compiles and links in a folder, with the headers in `include`."""

    def __init__(self, compiler, include, cpp, folder, shared=None,
                 static=None):
        self.cc, self.include, self.folder = compiler, include, folder
        self.cpp = cpp
        self.has_cpp = True
        self.family = "clang" if "clang" in compiler else "gcc"
        self.cxx = compiler.replace("clang", "clang++").replace("gcc", "g++")
        for tool in (self.cc, self.cxx, "objdump", "ar"):
            if not shutil.which(tool):
                skip("no %s in PATH" % tool)
        self.version = run([self.cc, "-dumpversion"]).split(".")[0].strip()
        known = self.version in MEASURED[self.family]
        self.slack = (0, 0) if known else SLACK
        self.libraries = {"shared": shared, "static": static}

    def path(self, *words):
        return os.path.join(self.folder, "_".join(words).replace("-", ""))

    def compile(self, source, output, *flags):
        cxx = source.endswith(".cpp")
        run([self.cxx if cxx else self.cc,
             "-std=c++11" if cxx else "-std=c11",
             *COMMON, *ONLY[self.family], *flags,
             "-I", self.include, "-I", self.cpp, "-c", os.path.join(HERE, source),
             "-o", output])
        return output

    def library(self, kind):
        """The gnomon to link: the given one, else library.c."""
        if not self.libraries[kind]:
            one = self.compile("library.c", self.path("library.o"), "-fPIC")
            if kind == "static":
                self.libraries[kind] = self.path("libgnomon.a")
                run(["ar", "rcs", self.libraries[kind], one])
            else:
                self.libraries[kind] = self.path("libgnomon.so")
                run([self.cc, "-shared", one, "-o",
                     self.libraries[kind]])
        return self.libraries[kind]

    def has_lto(self):
        """Whether this compiler's link-time optimization works here."""
        source = self.path("lto.c")
        with open(source, "w", encoding="utf-8") as file:
            file.write("int main(void) { return 0; }\n")
        return subprocess.run([self.cc, "-flto", "-O2", source, "-o",
                               self.path("lto")], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT).returncode == 0

    @functools.lru_cache(maxsize=None)
    def opaque(self, mode):
        return self.compile("opaque.c", self.path("opaque", mode),
                            MODES[mode][0], "-O1")

    def sites(self, optimize, mode, host, *flags):
        sources = ("sites.c", "sites.cpp") if self.has_cpp else ("sites.c",)
        return [self.compile(source, self.path(source, optimize, mode),
                             optimize, MODES[mode][0], *host, *flags)
                for source in sources]

    def link(self, sites, optimize, mode, host, *library):
        # What is missing, start files and C++'s library among it, may stay undefined,
        # because nothing is run.
        compiled, linked = MODES[mode]
        output = self.path("linked", optimize, mode)
        late = [optimize, compiled, *COMMON, *ONLY[self.family],
                *host] if "-flto" in host else []
        run([self.cxx, linked, "-nostdlib", *late, *sites,
             self.opaque(mode), "-o", output,
             "-Wl,--unresolved-symbols=ignore-all", *library])
        return walk.Image(output, OF_SITES)

    @functools.lru_cache(maxsize=None)
    def bare(self, optimize, mode, host, _has_cpp):
        """The linked sites without marks, which include no header of gnomon."""
        sites = self.sites(optimize, mode, host, "-DNO_MARKS")
        return self.link(sites, optimize, mode, host)

    def images(self, optimize, mode, kinds, host):
        """The linked sites by kind of gnomon; by None those without marks."""
        images = {None: self.bare(optimize, mode, host, self.has_cpp)}
        sites = self.sites(optimize, mode, host)
        for kind in kinds:
            images[kind] = self.link(sites, optimize, mode, host,
                                     self.library(kind))
        return images


def sites_of(language):
    return [site for site in SITES if language != "c" or site not in OBJECTS]


def symbol(language, site):
    if language == "template":
        return "_ZN9templatesILi0EE%d%sE" % (len(site), site)
    return language + "_" + site


@functools.lru_cache(maxsize=None)
def walk_site(image, language, site):
    prefix = symbol(language, site)
    exact = [name for name in image.functions
             if name == prefix or (language == "template" and
                                   name.startswith(prefix)
                                   and not name.endswith(".cold"))]
    if len(exact) != 1:
        sys.exit("%s: %d functions: %s" % (prefix, len(exact),
                                           " ".join(exact)))
    return walk.Walk(image, exact[0]).finished


def got_allowed(language, site, mode, host=()):
    """Whether a mark's word may be reached through the GOT."""
    if site in GATES:
        return mode != "exe"
    return mode == "so" and language != "c" and \
        "-fvisibility=hidden" not in host


def compare(site, marked, bare, got, host=()):
    """How many instructions the marks add, and the faults of the off paths."""
    faults = []
    cheapest, added = {}, {}
    for path in bare:
        old = cheapest.get(path.calls)
        if old is None or path.instructions < old.instructions:
            cheapest[path.calls] = path
    for path in marked:
        faults += path.faults
        old = cheapest.get(path.calls)
        if old is None:
            faults.append("calls %s, unlike the code without marks"
                          % ", ".join(path.calls or ("nothing",)))
            continue
        words = SITES[site]
        words = words(path.calls) if callable(words) else words
        if path.words != words:
            faults.append("%d loads of the mask, not %d" % (path.words, words))
        if path.got > got * words:
            faults.append("%d loads from the GOT" % path.got)
        if path.reads - old.reads != path.words + path.got:
            faults.append("%d loads beside the mask's"
                          % (path.reads - old.reads - path.words - path.got))
        # With -fno-plt compilers load functions' addresses before a loop.
        if path.addresses > old.addresses and not ("-fno-plt" in host and
                                                   site in LOOPS):
            faults.append("%d loads of functions' addresses"
                          % (path.addresses - old.addresses))
        cost = (path.instructions - old.instructions, path.frame - old.frame)
        added[path.calls] = max(cost, added.get(path.calls, cost))
    for calls in set(cheapest) - {path.calls for path in marked}:
        faults.append("no off path calls %s" % ", ".join(calls or ("nothing",)))
    if not marked:
        faults.append("no path returns")
    if site in LOOPS and ("work",) * 2 in added:
        # The cost of one more iteration: the loop is entered only once.
        one, two = added[("work",)], added[("work",) * 2]
        return (two[0] - one[0], two[1] - one[1]), faults
    most = [max(column) for column in zip((0, 0), *added.values())]
    return tuple(most), faults


def limit(build, optimize, language, site, got):
    """The most that LIMITS allows: (instructions, frame)."""
    column = (language != "c") * 2 + (optimize == "-Os")
    pinned = LIMITS[build.family][OBJECTS.get(site, site)].split()[column]
    most, frame = (int(number) for number in pinned.split("+"))
    words = 1 if callable(SITES[site]) else SITES[site]
    return most + got * words + build.slack[0], frame + build.slack[1]


def check(build, levels=LEVELS, kinds=("shared", "static"), host=()):
    """Walks every site. Returns lines on what is wrong, and the costs."""
    reports, costs = [], {}
    for optimize, modes in levels.items():
        for mode in modes:
            images = build.images(optimize, mode, kinds, host)
            for kind in kinds:
                for language in LANGUAGES if build.has_cpp else LANGUAGES[:1]:
                    for site in sites_of(language):
                        got = got_allowed(language, site, mode, host)
                        added, faults = compare(
                            site, walk_site(images[kind], language, site),
                            walk_site(images[None], language, site), got, host)
                        most = limit(build, optimize, language, site, got)
                        if added[0] > most[0] or added[1] > most[1]:
                            faults.append("adds %d+%d instructions, not %d+%d"
                                          % (added + most))
                        context = "%s %s %s, %s, %s, %s" % (
                            " ".join((build.cc,) + host), optimize, mode, kind,
                            language, site)
                        reports += ["%s: %s" % (context, fault)
                                    for fault in sorted(set(faults))]
                        costs[site, optimize, mode, kind, language] = added
    return reports, costs


def print_table(build, costs):
    print("%s %s: instructions + frame that one off pass adds"
          % (build.cc, build.version))
    columns = [(language, optimize) for language in ("C", "C++")
               for optimize in OPTIMIZE]
    print("%-13s" % "" + "".join("%-10s" % " ".join(c) for c in columns))
    for site in SITES:
        cells = []
        for language, optimize in columns:
            some = {cost for key, cost in costs.items()
                    if key[:2] == (site, optimize)
                    and (key[4] == "c") == (language == "C")}
            cells.append(" ".join("%d+%d" % cost for cost in sorted(some)))
        print("%-13s" % site + "".join("%-10s" % cell for cell in cells))


def check_hosts(build):
    """Checks all sites with the flags of each of HOSTS; 1: there are faults."""
    faults, skipped = 0, 0
    for name, host in HOSTS.items():
        if "-flto" in host and not build.has_lto():
            print("%-8s skipped: %s cannot link with -flto here"
                  % (name, build.cc))
            skipped += 1
            continue
        level = "-Os" if name == "all" else "-O2"
        kinds = ("shared", "static") if name == "lto" else ("shared",)
        reports, costs = check(build, {level: HOST_MODES[name]}, kinds, host)
        faults += len(reports)
        print("\n".join(reports[:20]))
        print("%-8s %d sites walked, %d faults"
              % (name, len(costs), len(reports)))
    if not faults and skipped == len(HOSTS):
        skip("no host could be built")
    return 1 if faults else 0


# ---- Self-test ---------------------------------------------------------------

BEGIN_TEST = "if (__builtin_expect(mask == 0, 1))\n        return 0;\n" \
    "    return gnomon_begin_slow(region, mask);"
LOAD = "uint32_t mask = gnomon__mask(region);"
GATE = "__atomic_load_n(&gnomon_enabled, __ATOMIC_RELAXED)"
# Changes of gnomon.h that break a rule: (name, pattern in gnomon.h, its
# replacement, the report that is expected, the site that it is expected for).
BROKEN = (
    ("a second load at begin", re.escape(BEGIN_TEST),
     BEGIN_TEST.replace("mask == 0", "mask == 0 && " + GATE + " == 0"),
     "2 loads of the mask", "plain"),
    ("a load at end", r"expect\(token != 0, 0\)",
     "expect(token != 0 || " + GATE + ", 0)", "2 loads of the mask", "call"),
    ("a load of a region's id", re.escape(BEGIN_TEST),
     BEGIN_TEST.replace("mask == 0", "mask == 0 && region->id == 0"),
     "loads beside the mask's", "plain"),
    ("a call on the off path", re.escape(BEGIN_TEST),
     "return gnomon_begin_slow(region, mask);", "call of gnomon_begin_slow",
     "plain"),
    ("an outlined begin",
     r"(?:GNOMON_INLINE|static inline) gnomon_token gnomon_begin\(",
     "static __attribute__((noinline)) gnomon_token gnomon_begin(",
     r"call of \w*gnomon_begin", "plain"),
    ("a locked load", re.escape(LOAD),
     "uint32_t mask = __atomic_fetch_add(&region->mask, 1, 0);",
     "atomic instruction: lock", "begin_end"),
    ("an exchange", re.escape(LOAD),
     "uint32_t mask = __atomic_exchange_n(&region->mask, 0, 0);",
     "atomic instruction: xchg", "begin_end"),
    ("a fence", re.escape(LOAD), LOAD + " __atomic_thread_fence(5);",
     "atomic instruction: (mfence|lock or)", "plain"),
    ("a store", re.escape(LOAD), LOAD + " region->mask = 0;",
     "store into a mark", "plain"),
    ("a value taken when off", r"uint32_t gnomon__bits =",
     "double gnomon__value = value; uint32_t gnomon__bits =",
     "calls value, unlike the code without marks", "counter"),
    ("one instruction more", re.escape(LOAD),
     '__asm__ volatile("clc"); ' + LOAD, r"adds \d\+\d instructions", "plain"),
    ("a gate behind a call", re.escape(GATE), "gnomon_range_begin_slow(0, 0)",
     "call of gnomon_range_begin_slow", "start_stop"),
)


# What compilers write differently, and C++ may: the walk of all else is the same for
# each, and done of gcc's C, elsewhere in a soak.
OWN_CODE = ("as it is", "a load at end", "an outlined begin", "a locked load",
            "an exchange", "a fence")
OF_CPP = ("a load at end", "an outlined begin")


def self_test(build):
    """Returns how many of the broken headers are not reported as expected."""
    is_soak = "GNOMON_SOAK" in os.environ
    source = build.include
    failed = 0
    for name, pattern, instead, report, site in (("as it is", "", "", "", ""),
                                                 ) + BROKEN:
        if not is_soak and build.family != "gcc" and name not in OWN_CODE:
            continue
        build.has_cpp = is_soak or name in OF_CPP
        folder = os.path.join(build.folder, "include")
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(source, folder)
        # One instruction more than the limit with its slack.
        instead = instead.replace('"clc"', '"clc;"' * (1 + build.slack[0]))
        if pattern:
            path = os.path.join(folder, "gnomon.h")
            with open(path, encoding="utf-8") as file:
                text, count = re.subn(pattern, lambda match: instead,
                                      file.read())
            if not count:
                sys.exit("self-test: gnomon.h has no " + pattern)
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        build.include = folder
        reports, _ = check(build, {"-O2": ("exe",)}, ("shared",))
        if pattern:
            wanted = [language for language in LANGUAGES if any(
                re.search(r"%s, %s: .*%s" % (language, site, report), line)
                for line in reports)]
            seen = len(wanted) == (len(LANGUAGES) if build.has_cpp else 1)
        else:
            seen = not reports
        print("%-26s %s" % (name, "ok" if seen else "NOT AS EXPECTED"))
        if not seen:
            failed += 1
            print("\n".join("    " + line for line in reports[:12]))
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--compiler", default="gcc", help="gcc or clang")
    parser.add_argument("--include", help="the folder of gnomon.h",
                        default=os.path.join(HERE, "..", "..", "include"))
    parser.add_argument("--cpp", help="the folder of gnomon.hpp",
                        default=os.path.join(HERE, "..", "..", "bindings",
                                             "cpp"))
    parser.add_argument("--shared", help="the libgnomon.so to link")
    parser.add_argument("--static", help="the libgnomon.a to link")
    parser.add_argument("--hosts", action="store_true")
    parser.add_argument("--self-test", action="store_true")
    options = parser.parse_args()
    if platform.machine() not in ("x86_64", "AMD64"):
        skip("the walk reads x86-64 only, this is " + platform.machine())
    with tempfile.TemporaryDirectory(prefix="gnomon-codegen.") as folder:
        build = Build(options.compiler, options.include, options.cpp, folder,
                      options.shared, options.static)
        if options.self_test:
            return 1 if self_test(build) else 0
        if options.hosts:
            return check_hosts(build)
        reports, costs = check(build)
        print_table(build, costs)
        print("\n".join(reports[:40]))
        print("%d sites walked, %d faults" % (len(costs), len(reports)))
        return 1 if reports else 0


if __name__ == "__main__":
    sys.exit(main())
