/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Libraries of ours that a program loads, unmodified, because its environment
 * says so. */
#ifndef GNOMON_CLI_INJECTED_H
#define GNOMON_CLI_INJECTED_H

/* Sets $NVTX_INJECTION64_PATH to libgnomon-nvtx.so, and says so where it was
 * something else. 0: one line has said why not. */
int gnomon__cli_inject_nvtx(void);

/* A line where $NVTX_INJECTION64_PATH names a tool that the program's NVTX cannot
 * load, which would say nothing. */
void gnomon__cli_check_nvtx(void);

#endif
