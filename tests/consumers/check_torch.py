# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""check_torch.py hta|tensorboard WORK: what the program computes from a torch session's
own trace, it computes from gnomon's export of that session. The layers that gnomon alone
marked are the same modules. WORK is of make_torch.py."""
import importlib
import os
import sys

import consumers


def calls(modules):
    """Of what was not recorded in the same run, without operators and times."""
    return [[*m[:3], calls(m[-1])] for m in modules]


def without_stacks(found):
    """gnomon has, as torch's lists, the stack of forward for what runs backward; torch's
    trace has where backward was called."""
    for name, result in found.items():
        if "operators" in name and result:
            for row in result[""]:
                del row["has_call_stack"]
            result[""].sort(key=str)
    return found


def main():
    tool, work = sys.argv[1:]
    check = importlib.import_module(f"check_{tool}")
    found = {name: without_stacks(check.numbers(os.path.join(work, name)))
             for name in ("torch", "session", "watch")}
    wrong = consumers.compare(tool, found["torch"], found["session"])
    if tool == "tensorboard":
        modules = [found[name]["worker_1: modules"] for name in ("torch", "watch")]
        if not modules[0] or calls(modules[0]) != calls(modules[1]):
            wrong += 1
            print("modules:", *modules, sep="\n  ")
    print(f"{tool}: {len(found['torch'])} results")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
