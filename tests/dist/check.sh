#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# check.sh SOURCE WORK ONEFILE: makes the files of a release. The one file and its headers
# are those in the folder ONEFILE, which other tests compile; the tree alone can be
# configured; and a release made again from it, without a repository, has the same bytes.
set -eu
source=$1 work=$2 onefile=$3
command -v gzip > /dev/null || exit 77
cd "$work"
rm -rf first second unpacked
sh "$source/cmake/dist.sh" first > /dev/null
mkdir unpacked
for file in first/*.tar.gz; do tar -xzf "$file" -C unpacked; done
(cd first && sha256sum -c --quiet SHA256SUMS)
cd unpacked
tree=$(echo gnomon-*[0-9]) one=$(echo gnomon-*-onefile)
cmp "$one/gnomon.c" "$onefile/gnomon.c"
diff -r "$one/include" "$onefile/include"
for file in LICENSE README.md CHANGELOG.md Makefile CMakeLists.txt; do
    [ -f "$tree/$file" ] || { echo "$file is missing"; exit 1; }
done
[ ! -e "$tree/build" ] || { echo "build/ is in it"; exit 1; }
cmake -S "$tree" -B configured -D GNOMON_TESTS=OFF -D GNOMON_EXAMPLES=OFF \
    -D GNOMON_BENCH=OFF > log || { cat log; exit 1; }
rm -rf configured
# As from a download: no repository, not even one further up.
GIT_CEILING_DIRECTORIES=$work/unpacked sh "$tree/cmake/dist.sh" ../second > /dev/null
cmp ../first/SHA256SUMS ../second/SHA256SUMS
# Those of a tree with a tag before it need that one's headers in tests/abi.
command -v git > /dev/null || exit 0
cd "$tree"
mine="git -c user.name=t -c user.email=t@t -c commit.gpgsign=false"
git init -q .
git add cmake include
$mine commit -qm one
git tag v0.0.1
$mine commit -qm two --allow-empty
! sh cmake/dist.sh ../third > log || { echo "a tagged release is forgotten"; exit 1; }
grep -q 'tests/abi/0.0.1/include is not that of v0.0.1' log
mkdir -p tests/abi/0.0.1
git archive v0.0.1 include | tar -x -C tests/abi/0.0.1
git add tests/abi/0.0.1 LICENSE # enough for a small one
sh cmake/dist.sh ../third > /dev/null
