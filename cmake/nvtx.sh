#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# nvtx.sh [FOLDER]
# Downloads the headers of NVTX 3 from PyPI into FOLDER/include (default:
# build/nvtx/include), where cmake/GnomonNvtx.cmake looks for them. Version and hash
# are fixed here. Nothing is done if a CUDA toolkit has them. If the download fails,
# one line says so and the build goes on without.
set -eu
cd "$(dirname "$0")/.."
to=${1:-build/nvtx}
package='nvidia-nvtx==13.5.25'
hashes='--hash=sha256:f72f21bd338c531afb3f802d03c569e9f7c324739ac332c672a431734d0b5c41'

header=nvtx3/nvToolsExt.h
[ $# -gt 0 ] || for folder in "${CUDA_HOME:-}" "${CUDA_PATH:-}" \
    /usr/local/cuda "$to" /usr; do
    [ -z "$folder" ] || [ ! -f "$folder/include/$header" ] || exit 0
done

missing() {
    echo "no headers of NVTX ($1): gnomon is built without the profiler nvtx"
    exit 0
}
python=$(command -v python3) || missing "no python3 to fetch them"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
echo "$package $hashes" > "$work/requirements.txt"
# The headers are the same for every machine, so the x86-64 wheel is fine.
timeout 100 "$python" -m pip download --quiet --no-deps --only-binary :all: \
    --platform manylinux_2_17_x86_64 --require-hashes --timeout 10 --retries 1 \
    --disable-pip-version-check --dest "$work" -r "$work/requirements.txt" \
    > "$work/log" 2>&1 || missing "$package cannot be fetched"
"$python" -m zipfile -e "$work"/nvidia_nvtx-*.whl "$work/wheel" ||
    missing "$package is no wheel"
found=$(find "$work/wheel" -path "*/include/$header" | head -n 1)
[ -n "$found" ] || missing "$package has none"
mkdir -p "$to/include"
cp -R "${found%/nvToolsExt.h}" "$to/include/"
