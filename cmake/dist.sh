#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# dist.sh OUT
# Writes the files of a release into the folder OUT: the source tree as
# gnomon-VERSION.tar.gz; the library as one file with its headers,
# gnomon-VERSION-onefile.tar.gz; and their SHA-256. In a git repository the tree is
# the files that git tracks, else everything but build/. Equal trees give equal bytes.
# Fails where tests/abi lacks the headers of a release that was tagged before, v1.2.3, or
# has others (docs/inside/conventions.md).
set -eu
mkdir -p "$1"
out=$(cd "$1" && pwd)
cd "$(dirname "$0")/.."
number() { sed -n "s/^#define GNOMON_VERSION_$1 \([0-9]*\)/\1/p" include/gnomon.h; }
version=$(number MAJOR).$(number MINOR).$(number PATCH)
name=gnomon-$version
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/$name"
for tag in $(git tag --merged HEAD --no-contains HEAD 'v[0-9]*' 2> /dev/null); do
    mkdir "$work/$tag"
    git archive "$tag" include | tar -x -C "$work/$tag"
    diff -r "$work/$tag/include" "tests/abi/${tag#v}/include" > "$work/log" 2>&1 ||
        { echo "tests/abi/${tag#v}/include is not that of $tag"; exit 1; }
done
files() {
    git ls-files -z 2> /dev/null || find . -path ./build -prune -o \
        \( -type f -o -type l \) -printf '%P\0'
}
files | tar -c --null -T - | tar -x -C "$work/$name"
cmake -D "SOURCE=$work/$name" -D "OUT=$work/$name-onefile" \
    -P cmake/amalgamate.cmake > "$work/log" || { cat "$work/log"; exit 1; }
cp LICENSE "$work/$name-onefile"
for one in "$name" "$name-onefile"; do
    tar -c -C "$work" --sort=name --owner=0 --group=0 --numeric-owner \
        --mtime=@0 --mode=u+rwX,go=rX "$one" | gzip -n -9 > "$out/$one.tar.gz"
done
(cd "$out" && sha256sum "$name.tar.gz" "$name-onefile.tar.gz" > SHA256SUMS)
echo "$out: $name.tar.gz, $name-onefile.tar.gz, SHA256SUMS"
