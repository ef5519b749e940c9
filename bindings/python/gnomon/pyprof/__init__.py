# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PyProf's two steps, by the names that it had, as `gnomon nsys` does them:

    python -m gnomon.pyprof.parse net.sqlite > net.dict
    python -m gnomon.pyprof.prof --csv net.dict

Options are those of `gnomon nsys`. The program gnomon must be in $PATH, or beside the
interpreter.
"""
import os
import shutil
import sys


def run(step):
    """Becomes the program, with the words of the command line."""
    beside = os.path.dirname(sys.executable)
    program = shutil.which("gnomon") or shutil.which("gnomon", path=beside)
    if program is None:
        print(
            "gnomon.pyprof: the program gnomon is not in $PATH: install it, or "
            "say where it is",
            file=sys.stderr,
        )
        sys.exit(2)
    os.execv(program, [program, "nsys", step, *sys.argv[1:]])
