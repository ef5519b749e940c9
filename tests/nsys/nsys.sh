# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Sourced by the scripts beside it: finds Nsight Systems, or the part of it that Nsight
# Compute carries, or ends the script as skipped. $NSYS names one that is not found.

find_nsys() {
    for nsys in "${NSYS:-}" "$(command -v nsys || true)" \
        /usr/local/cuda/bin/nsys \
        /opt/nvidia/nsight-systems*/*/bin/nsys \
        /usr/lib/*/nsight-systems/target-linux-*/nsys \
        /opt/nvidia/nsight-compute/*/host/target-linux-*/nsys \
        /opt/nvidia/nsight-compute/*/host/*/nsys \
        /usr/local/cuda/nsight-compute*/host/*/nsys \
        /usr/local/cuda/nsight-systems*/bin/nsys; do
        [ -n "$nsys" ] && [ -x "$nsys" ] && "$nsys" --version \
            > /dev/null 2>&1 && return 0
    done
    return 1
}
find_nsys || { echo "skipped: no nsys that runs here"; exit 77; }

# Runs the command under the tool, which writes run.* here.
nsys_profile() {
    "$nsys" profile --trace=nvtx --sample=none --cpuctxsw=none \
        --force-overwrite=true --output=run "$@"
}

# Makes run.sqlite. Debian's package has the importer where nsys does not look.
nsys_tables() {
    if [ ! -e run.nsys-rep ]; then
        for importer in "$(dirname "$(readlink -f "$nsys")")"/*mporter \
            /usr/lib/nsight-systems/host-linux-*/QdstrmImporter; do
            [ -x "$importer" ] && "$importer" --input-file run.qdstrm \
                --output-file run.nsys-rep && break
        done
    fi
    "$nsys" export --type=sqlite --force-overwrite=true --output=run.sqlite \
        run.nsys-rep
}
