#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# venv.sh PYTHON VENV REQUIREMENTS [SECONDS]
# Makes VENV with the packages in REQUIREMENTS, once. Where they cannot be installed, it
# prints that and exits with 77.
set -eu
python=$1 venv=$2 requirements=$3
cmp -s "$requirements" "$venv/requirements.txt" && exit 0
rm -rf "$venv"
if ! "$python" -m venv "$venv" > "$venv.log" 2>&1; then
    echo "skipped: no venv: install python3-venv"
    exit 77
fi
if ! timeout "${4:-150}" "$venv/bin/python" -m pip install --quiet --timeout 10 \
    --retries 1 --disable-pip-version-check -r "$requirements" \
    >> "$venv.log" 2>&1; then
    tail -n 3 "$venv.log"
    echo "skipped: what $requirements lists cannot be had"
    exit 77
fi
cp "$requirements" "$venv/requirements.txt"
