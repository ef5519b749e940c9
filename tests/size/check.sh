#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# check.sh LIBRARY BYTES: its loaded read-only part is smaller than BYTES.
set -eu
command -v size > /dev/null || exit 77
text=$(size "$1" | awk 'NR == 2 { print $1 }')
echo "$text bytes of text, at most $2"
[ "$text" -le "$2" ]
