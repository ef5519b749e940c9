#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# venv.sh PYTHON VENV REQUIREMENTS [SECONDS]
# Makes VENV with the packages in REQUIREMENTS, once. Where they cannot be installed, it
# prints that and exits with 77.
set -eu
python=$1 venv=$2 requirements=$3 seconds=${4:-150}
cmp -s "$requirements" "$venv/requirements.txt" && exit 0
rm -rf "$venv"
# A pip of its own takes as long to install as most of what is in the lists, so that of
# PYTHON is taken, if it knows how.
alone=--without-pip
set -- "$python" -m pip --python "$venv/bin/python"
if ! "$python" -m pip help 2> /dev/null | grep -q -e --python; then
    alone=--clear
    set -- "$venv/bin/python" -m pip
fi
if ! "$python" -m venv $alone "$venv" > "$venv.log" 2>&1; then
    echo "skipped: no venv: install python3-venv"
    exit 77
fi
if ! timeout "$seconds" "$@" install --quiet --timeout 10 \
    --retries 1 --disable-pip-version-check -r "$requirements" \
    >> "$venv.log" 2>&1; then
    tail -n 3 "$venv.log"
    echo "skipped: what $requirements lists cannot be had"
    exit 77
fi
cp "$requirements" "$venv/requirements.txt"
