#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# wheel.sh BUILDER SOURCE BUILD CC WORK: builds the wheel with the packages in the virtual
# environment BUILDER, installs it alone into a new one, and runs tests of profiles and of
# stubs with it: it must be whole, and python.* test the same sources in <build>/python.
# What BUILD has compiled by the same command is not compiled again.
set -eu
builder=$1 source=$2 build=$3 cc=$4 work=$5
"$builder/bin/python" -c "import scikit_build_core" 2> /dev/null || {
    echo "skipped: no scikit-build-core"
    exit 77
}
rm -rf "$work"
mkdir -p "$work"
unset PYTHONPATH
launcher=$source/tests/consumer/compiled.sh
sh "$launcher" --index "$work/compiled.txt" "$build" "$cc"
CC=$cc CMAKE_C_COMPILER_LAUNCHER="sh;$launcher;$work/compiled.txt" \
    "$builder/bin/python" -m pip wheel --quiet --no-index --no-build-isolation --no-deps \
    --disable-pip-version-check -C cmake.define.CMAKE_C_FLAGS_RELEASE="-O2 -DNDEBUG" \
    -w "$work" "$source/bindings/python" > "$work/log" 2>&1 || {
    tail -n 40 "$work/log"
    exit 1
}
set -- "$work"/*.whl
echo "$(basename "$1"): $(($(stat -c %s "$1") / 1024)) KiB"
case $1 in *-cp39-abi3-*) ;; *) echo "it is for one Python alone"; exit 1 ;; esac
# Without a pip of its own, which takes as long to install as all the rest.
"$builder/bin/python" -m venv --without-pip "$work/clean"
folder=$("$work/clean/bin/python" -c "import sysconfig as s; print(s.get_path('platlib'))")
"$builder/bin/python" -m pip install --quiet --no-index \
    --disable-pip-version-check --target "$folder" "$1"
set -- "$folder"/gnomon-*.dist-info
cmp "$source/LICENSE" "$1/licenses/LICENSE"
grep -q '^License-Expression: Apache-2.0 WITH LLVM-exception$' "$1/METADATA"
# It needs the system's C library alone, so auditwheel can give it a tag of manylinux.
needed=$(objdump -p "$folder"/gnomon/_gnomon*.so |
    awk '/NEEDED/ && $2 !~ /^(lib(c|m|dl|rt|pthread)|ld-linux.*)[.]so/ {print $2}')
[ -z "$needed" ] || { echo "needs: $needed"; exit 1; }
# Nothing of the library is visible to other modules of the process.
names=$(readelf -W --dyn-syms "$work"/clean/lib/python*/site-packages/gnomon/_gnomon*.so |
    awk '$7 ~ /^[0-9]/ && $6 != "HIDDEN" {print $8}' | grep -v '^PyInit_' || :)
[ -z "$names" ] || { echo "visible: $names"; exit 1; }
for file in "$source"/bindings/python/gnomon/*.py* \
    "$source"/bindings/python/gnomon/py.typed; do
    cmp "$file" "$folder/gnomon/$(basename "$file")" || exit 1
done
# The recorder of memory and what marks malloc are found beside the module.
GNOMON=malloc,memory "$work/clean/bin/python" -c "import gnomon
with gnomon.scope('takes'): kept = bytearray(1 << 20)" > "$work/memory" 2>&1
grep -q 'takes.*malloc' "$work/memory" || { cat "$work/memory"; exit 1; }
cd "$source/tests/python"
"$work/clean/bin/python" -B -m unittest -q test_profile test_stubs \
    > "$work/tests.log" 2>&1 || { cat "$work/tests.log"; exit 1; }
# In an editable install the files of the source are the package. It is built anew.
if [ -n "${GNOMON_SOAK-}" ]; then
    rm -rf "$folder"/gnomon*
    cd "$source/bindings/python"
    CC=$cc CMAKE_C_COMPILER_LAUNCHER="sh;$launcher;$work/compiled.txt" \
        "$builder/bin/python" -c "import sys, scikit_build_core.build as b
b.build_editable(sys.argv[1], {'cmake.define.CMAKE_C_FLAGS_RELEASE': '-O2 -DNDEBUG'})" \
        "$work/editable" >> "$work/log" 2>&1
    "$builder/bin/python" -m pip install --quiet --no-index --no-deps \
        --disable-pip-version-check --target "$folder" "$work"/editable/*.whl
    cd "$work"
    "$work/clean/bin/python" -c "import sys, gnomon, gnomon._stats as s
with gnomon.scope('x'): pass
assert gnomon.__file__ == sys.argv[1] + '/__init__.py', gnomon.__file__
assert s.__file__ == sys.argv[1] + '/_stats.py'" "$source/bindings/python/gnomon"
fi
rm -rf "$work/clean"
