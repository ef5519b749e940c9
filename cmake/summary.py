# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""summary.py FOLDER LISTED: what FOLDER/<preset>.xml, JUnit files of ctest, and
FOLDER/<preset>.s, "BUILD_SECONDS TEST_SECONDS STATUS_OF_CTEST", say together. The last lines of
`make test`: where the time went, skips by cause, failures, and one line that counts.
Exit status: 1 where a test failed, or was skipped for a cause that no line of LISTED
(a file of patterns; an empty name: any cause) matches."""
import collections
import os
import re
import sys
import xml.etree.ElementTree as xml

folder, listed = sys.argv[1:]


def cause(case):
    """Why it says that it was skipped."""
    said = case.findtext("system-out") or ""
    found = re.search(r"^skipped: *(.*)$", said, re.M)
    return found[1] if found else "disabled, or it gives no cause"


patterns = None
if listed:
    with open(listed) as lines:
        patterns = [re.compile(line.strip()) for line in lines
                    if line.strip() and not line.startswith("#")]
passed, failed = 0, []
skips = collections.defaultdict(list)
print(f"\n{'build':<12}{'compile':>8}{'test':>7}{'tests':>7}  slowest files, "
      "seconds of all their tests")
for name in sorted(os.listdir(folder)):
    if not name.endswith(".s"):
        continue
    preset = name[:-2]
    with open(os.path.join(folder, name)) as f:
        built, tested, ended = f.read().split()
    failed_before = len(failed)
    times = collections.Counter()
    count = 0
    path = os.path.join(folder, preset + ".xml")
    if not os.path.exists(path):
        failed.append(f"{preset}: did not build")
    else:
        for case in xml.parse(path).iter("testcase"):
            test, status = case.get("name"), case.get("status")
            count += 1
            times[test.split(".")[0]] += float(case.get("time") or 0)
            if status == "run":
                passed += 1
            elif status == "fail":
                failed.append(f"{preset}: {test}")
            else:
                skips[cause(case)].append(f"{preset}: {test}")
        if not count:
            failed.append(f"{preset}: no tests")
        elif ended != "0" and len(failed) == failed_before:
            # As where the program of a test is not there.
            failed.append(f"{preset}: ctest ended with {ended}")
    slowest = ", ".join(f"{n} {s:.0f}" for n, s in times.most_common(5))
    print(f"{preset:<12}{built:>6} s{tested:>5} s{count:>7}  {slowest}")

unlisted = [why for why in skips
            if patterns is not None and not any(p.search(why) for p in patterns)]
if skips:
    print("\nskipped:")
for why, tests in sorted(skips.items(), key=lambda s: (-len(s[1]), s[0])):
    print(f"{len(tests):>5}  {why}{'  [not listed]' if why in unlisted else ''}")
for why in unlisted:
    print(f"not in {listed}: {why}: {', '.join(skips[why][:5])}")
for test in failed:
    print(f"failed: {test}")
skipped = sum(map(len, skips.values()))
print(f"\n{passed} passed, {len(failed)} failed, {skipped} skipped")
sys.exit(1 if failed or unlisted else 0)
