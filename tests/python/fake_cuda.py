# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The fake CUDA driver of tests/fake_cuda, for programs in Python: streams on the real
clock, and work that takes a time."""
import ctypes
import os

_pointer, _u64 = ctypes.c_void_p, ctypes.c_uint64


class _Table(ctypes.Structure):  # the begin of fake_cuda.h's
    _fields_ = [
        ("clock", _pointer),
        ("context", ctypes.CFUNCTYPE(_pointer, ctypes.c_int)),
        ("current", _pointer),
        ("stream", ctypes.CFUNCTYPE(_pointer, _pointer)),
        ("stream_destroy", _pointer),
        ("launch", ctypes.CFUNCTYPE(None, _pointer, _u64)),
    ]


class Stream:
    """As torch.cuda.Stream has its handle."""

    def __init__(self):
        driver = ctypes.CDLL(os.environ["GNOMON_CUDA_LIBRARY"])
        self._table = _Table.in_dll(driver, "fake_cuda_table")
        self.cuda_stream = self._table.stream(self._table.context(0))

    def launch(self, ms):
        self._table.launch(self.cuda_stream, ms * 1000000)


def driver():
    return os.path.join(os.environ["GNOMON_TESTS"], "fake_cuda", "driver.so")
