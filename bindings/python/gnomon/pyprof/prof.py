# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""python -m gnomon.pyprof.prof: `gnomon nsys prof`."""
from gnomon.pyprof import run

if __name__ == "__main__":
    run("prof")
