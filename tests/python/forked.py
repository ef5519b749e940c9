# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Cases in processes of their own that cost no new import of torch: children of this
process, which has imported it and has marked nothing."""
import atexit
import gc
import os
import sys
import tempfile
import traceback


def run_forked(case, folder, **environment):
    """Calls `case` in a child, with its working directory in `folder`. Returns its exit
    status, stdout and stderr."""
    return start_forked(case, folder, **environment)()


def start_forked(case, folder, **environment):
    """The same, at once with others: returns a function that waits for the child."""
    gc.freeze()  # else each collection in the child copies what it looks at
    outputs = [tempfile.TemporaryFile("w+") for _ in range(2)]
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if not child:
        _run(case, folder, outputs, environment)

    def wait():
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        texts = []
        for output in outputs:
            output.seek(0)
            texts.append(output.read())
            output.close()
        return status, *texts

    return wait


def _run(case, folder, outputs, environment):
    """As Python runs a program: with what atexit does, and never back to the caller."""
    status = 1
    try:
        atexit._clear()  # what the parent has to do
        os.environ.pop("GNOMON", None)
        os.environ.update(environment)
        os.chdir(folder)
        for number, output in enumerate(outputs, 1):
            os.dup2(output.fileno(), number)
        sys.stdout, sys.stderr = (open(n, "w", closefd=False) for n in (1, 2))
        case()
        status = 0
    except SystemExit as end:
        status = end.code or 0
    except BaseException:
        traceback.print_exc()
    finally:
        atexit._run_exitfuncs()
        if "gnomon" in sys.modules:
            sys.modules["gnomon"]._gnomon._end()  # os._exit leaves it out
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
