# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reports and exports of a profile: by the library, or else by the program gnomon, which
has more of them."""
import gzip
import os
import shutil
import subprocess
import tempfile

from . import _gnomon
from ._simple import simple

FORMS = ("gnomon", "json", "chrome")  # of gnomon_write


def report(profile, profiler):
    if profiler == "simple":
        names = list(dict.fromkeys(stage.name for stage in profile.stages))
        return "\n".join(filter(None, (simple(profile, name) for name in names)))
    try:
        return profile._raw.report(profiler)
    except _gnomon.Error as error:
        if error.code not in (_gnomon.ESTATE, _gnomon.ENOENT):
            raise
        program = shutil.which("gnomon")
        if program is None:
            raise _gnomon.Error(f"{error} (no program gnomon is in $PATH)") from None
    return _run(profile, lambda file: [program, "report", "--as", profiler, file])


def export(profile, form, path, modules):
    path = os.fsdecode(path)
    if form not in FORMS or modules:
        program = shutil.which("gnomon")
        if program is None:
            raise _gnomon.Error(
                f"export({form!r}): the library has {', '.join(FORMS)}; for other "
                "formats, and modules, the program gnomon must be in $PATH"
            )
        words = [program, "export", "--to", form, "-o", path]
        words += ["--modules"] * bool(modules)
        _run(profile, lambda file: [*words, file])
    elif path.endswith(".gz"):
        try:
            _export_packed(profile, form, path)
        except OSError as error:
            raise _gnomon.Error(f"cannot write {path}: {error.strerror}") from error
    else:
        profile._raw.export(form, path)


def show(profile, path):
    program = shutil.which("gnomon")
    if program is None:
        raise _gnomon.Error("show(): the program gnomon must be in $PATH")
    if path is None:
        path = os.path.join(tempfile.mkdtemp(prefix="gnomon-page-"), "page.html")
    path = os.path.abspath(os.fsdecode(path))
    words = [program, "report", "--as", "html", "-o", path]
    _run(profile, lambda file: [*words, file])
    opener = shutil.which("xdg-open")
    has_display = os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    if not opener or not has_display or subprocess.call([opener, path]):
        print(path)
    return path


def _export_packed(profile, form, path):
    """As the library does with other files: the old one or the new one, whole, and for
    its owner only."""
    folder = os.path.dirname(os.path.abspath(path))
    os.makedirs(folder, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder, prefix=".gnomon-") as work:
        plain, packed = os.path.join(work, "plain"), os.path.join(work, "packed")
        profile._raw.export(form, plain)
        with open(plain, "rb") as file, gzip.open(packed, "wb", 6) as to:
            shutil.copyfileobj(file, to, 1 << 20)
        os.chmod(packed, 0o600)
        os.replace(packed, path)


def _run(profile, words):
    """What the program prints, whose words `words` makes of the name of a file."""
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "profile.gnomon")
        profile.write(file)
        done = subprocess.run(
            words(file), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
    if done.returncode:
        raise _gnomon.Error(done.stderr.strip())
    return done.stdout
