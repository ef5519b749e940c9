# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""python -m gnomon.pyprof.parse: `gnomon nsys parse`."""
from gnomon.pyprof import run

if __name__ == "__main__":
    run("parse")
