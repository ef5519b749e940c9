# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch's operators and memory, for gnomon.torch.watch(operators=True, memory=True):
operators.cpp, which `python -m gnomon.torch build` compiles against the torch that is
installed, and which is kept by torch's version and loaded where it is asked for."""
import ctypes
import os
import subprocess
import sys
import threading
import zlib

import torch

from . import _gnomon

_FOLDER = os.path.dirname(os.path.abspath(__file__))
_BUILD = "run `python -m gnomon.torch build`"
_lock = threading.RLock()  # a model may die inside, and end its watch
_library, _users, _handle, _has_cuda = None, 0, 0, False


def path():
    """Where it is kept: each source and each torch has its own."""
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    mark = 0
    for name in ("operators.cpp", "operators.h", "gnomon.h"):
        with open(os.path.join(_FOLDER, name), "rb") as file:
            mark = zlib.crc32(file.read(), mark)
    name = f"operators-{mark:08x}-torch-{torch.__version__}.so"
    return os.path.join(cache, "gnomon", name)


def _cuda(root):
    """What compiles the part for CUDA's memory; nothing for a torch without CUDA."""
    if torch.version.cuda is None:
        return []
    beside = os.path.join(os.path.dirname(root), "nvidia")  # where pip puts CUDA's
    places = [os.environ.get("CUDA_HOME", "/usr/local/cuda")]
    places += [os.path.join(beside, name) for name in ("cu13", "cuda_runtime")]
    for place in places:
        include = os.path.join(place, "include")
        if os.path.exists(os.path.join(include, "cuda_runtime_api.h")):
            return ["-DGNOMON_CUDA", "-isystem", include, "-lc10_cuda"]
    line = "memory of CUDA will not be recorded: set CUDA_HOME to where CUDA's headers are"
    print(f"gnomon.torch build: {line}", file=sys.stderr)
    return []


def build():
    """Compiles it, by $CXX or else c++, and returns where it is."""
    made, root = path(), os.path.dirname(torch.__file__)
    include, part = os.path.join(root, "include"), f"{made}.{os.getpid()}"
    if not os.path.isdir(include):
        raise RuntimeError(f"this torch has no headers: {include}")
    os.makedirs(os.path.dirname(made), exist_ok=True)
    new = int(torch._C._GLIBCXX_USE_CXX11_ABI)
    command = (os.environ.get("CXX") or "c++").split()
    command += ["-std=c++17", "-O2", "-DNDEBUG", "-fPIC", "-shared", "-w"]
    command += ["-fvisibility=hidden", f"-D_GLIBCXX_USE_CXX11_ABI={new}"]
    command += [f'-DGNOMON_TORCH="{torch.__version__}"', "-I" + _FOLDER]
    command += ["-isystem", include, os.path.join(_FOLDER, "operators.cpp")]
    command += ["-L" + os.path.join(root, "lib"), "-ltorch_cpu", "-lc10"]
    command += _cuda(root)
    try:
        subprocess.run([*command, "-o", part], check=True)
        os.replace(part, made)  # another one may build it too
    finally:
        if os.path.exists(part):
            os.remove(part)
    return made


def load(file):
    """The library of a file; a RuntimeError says what to do where it is none for this
    torch."""
    if not os.path.exists(file):
        raise RuntimeError(f"it is not built for torch {torch.__version__}: {_BUILD}")
    try:
        library = ctypes.CDLL(file)
        its = ctypes.c_char.in_dll(library, "gnomon_operators_torch")
        its = ctypes.string_at(ctypes.addressof(its)).decode()
    except (OSError, ValueError) as error:
        raise RuntimeError(f"{error}: {_BUILD}") from None
    if its != torch.__version__:
        raise RuntimeError(
            f"{file} is for torch {its}, and this is {torch.__version__}: {_BUILD}"
        )
    library.gnomon_operators_start.argtypes = [ctypes.c_void_p]
    library.gnomon_operators_start.restype = ctypes.c_uint64
    library.gnomon_operators_stop.argtypes = [ctypes.c_uint64]
    library.gnomon_operators_stop.restype = None
    if hasattr(library, "gnomon_operators_cuda"):
        its = ctypes.POINTER(ctypes.c_uint64), ctypes.c_size_t
        library.gnomon_operators_cuda.argtypes = its
        library.gnomon_operators_cuda.restype = ctypes.c_char_p
    return library


def begin():
    """torch calls us at each operator, until as many calls of end(). False: it does not,
    as a line on stderr says."""
    global _library, _users, _handle, _has_cuda
    with _lock:
        try:
            _library = _library or load(path())
        except (RuntimeError, OSError) as error:
            line = f"gnomon.torch.watch: operators are not recorded, layers are: {error}"
            print(line, file=sys.stderr)
            return False
        if not _users:
            _handle = _library.gnomon_operators_start(_gnomon._operator_calls())
        _users += 1
        asks = not _has_cuda and hasattr(_library, "gnomon_operators_cuda")
        _has_cuda = _has_cuda or asks
    if asks:  # not in our lock: torch takes its own, in which CUDA's start calls us
        torch.cuda._lazy_call(_attach_cuda)
    return True


def _attach_cuda():
    """Once CUDA is started: its allocator also tells us what it does."""
    count = torch.cuda.device_count()
    held = [torch.cuda.memory_reserved(device) for device in range(count)]
    why = _library.gnomon_operators_cuda((ctypes.c_uint64 * count)(*held), count)
    if why:
        line = why.decode(errors="replace").split("\n")[0]
        line = f"gnomon.torch.watch: memory of CUDA is not recorded: {line}"
        print(line, file=sys.stderr)


def end():
    global _users
    with _lock:
        _users -= 1
        if not _users:
            _library.gnomon_operators_stop(_handle)
    return False


_MEMORY = "+malloc(as=torch,in=libc10.so,calls='posix_memalign free')"
_memory_users = 0


def begin_memory():
    """torch's CPU allocator marks what it does, until as many calls of end_memory().
    False: it does not, as a line on stderr says."""
    global _memory_users
    with _lock:
        try:
            if not _memory_users:
                _gnomon.configure(_MEMORY)
        except Exception:  # of any kind that a code has
            return False
        _memory_users += 1
    return True


def end_memory():
    global _memory_users
    with _lock:
        _memory_users -= 1
        if not _memory_users and "as=torch" in _gnomon.spec():  # the run may be over
            _gnomon.configure("-torch")
    return False


def main(words):
    if words != ["build"]:
        sys.exit("usage: python -m gnomon.torch build")
    try:
        print(build())
    except (RuntimeError, OSError, subprocess.CalledProcessError) as error:
        sys.exit(f"gnomon.torch: {error}")
