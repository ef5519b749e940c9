/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A shared library that is no plugin. */
extern int no_entry;
int no_entry = 1;
