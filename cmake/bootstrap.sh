#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# bootstrap.sh build|test|bench|lint|coverage|aarch64|fuzz|soak
# Installs the packages that the job needs. If they are installed already, nothing
# happens and no network is needed. As root on Debian, Ubuntu and similar systems it
# installs missing packages; otherwise it prints the command that installs them.
set -eu
job=${1:-build}

# package=command: the package is not needed if the command exists, from any source.
build="cmake=cmake ninja-build=ninja gcc=gcc g++=g++ libc6-dev libmimalloc-dev
    libjansson-dev zlib1g-dev libsqlite3-dev"
test="$build clang=clang binutils=nm pkg-config=pkg-config
    valgrind=valgrind python3=python3 strace=strace
    musl-tools=musl-gcc libcap2-bin=setcap libclang-rt-dev
    python3-dev python3-venv nodejs=node meson=meson gfortran=gfortran
    chromium=chromium chromium-driver=chromedriver"
bench="$build valgrind=valgrind"
coverage="$test" # and gcov, which is gcc's
fuzz="$test"
soak="$fuzz postgresql postgresql-server-dev-all"
lint="$build clang-format=clang-format clang-tidy=clang-tidy cppcheck=cppcheck"
aarch64="$build gcc-aarch64-linux-gnu=aarch64-linux-gnu-gcc
    g++-aarch64-linux-gnu=aarch64-linux-gnu-g++ libc6-dev-arm64-cross
    qemu-user=qemu-aarch64"
case $job in
build | test | bench | lint | coverage | aarch64 | fuzz | soak)
    eval "wanted=\$$job" ;;
*)
    sed -n 's/^# \(bootstrap.sh\)/usage: \1/p' "$0"
    exit 2 ;;
esac

installed() {
    dpkg-query -W -f '${db:Status-Status}' "$1" 2> /dev/null |
        grep -q '^installed'
}

# The package may have another name, so this looks for the library itself.
has_fuzzer() {
    ls "$(clang -print-runtime-dir 2> /dev/null)"/libclang_rt.fuzzer* \
        > /dev/null 2>&1
}

missing=
for item in $wanted; do
    [ "$item" != libclang-rt-dev ] || ! has_fuzzer || continue
    package=${item%%=*} command=${item#*=}
    if [ "$item" != "$package" ] && command -v "$command" > /dev/null; then
        continue
    fi
    # Only dpkg knows whether a library is installed.
    if [ "$item" = "$package" ] && ! command -v dpkg-query > /dev/null; then
        continue
    fi
    installed "$package" || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

if [ "$(id -u)" -ne 0 ] || ! command -v apt-get > /dev/null; then
    echo "make needs packages that are not here. Please run"
    echo "    sudo apt-get update && sudo apt-get install -y$missing"
    command -v apt-get > /dev/null ||
        echo "or what your system has for it, and call make again."
    exit 1
fi
echo "installing$missing"
export DEBIAN_FRONTEND=noninteractive
apt-get update
# shellcheck disable=SC2086 # words
apt-get install -y --no-install-recommends $missing
