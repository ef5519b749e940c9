/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The state of the process that a forked child begins anew. */
#ifndef GNOMON_PLATFORM_PROCESS_H
#define GNOMON_PLATFORM_PROCESS_H

/* Marks a static or global variable whose first value is zero, and which is zero again
 * in a child. The linker lays all of them side by side, so that they are forgotten in
 * one place and each is still a plain symbol of its file. `used`: the compiler does not
 * see that store. What is not marked outlives a fork: tests/structure lists it. */
#define GNOMON__OF_PROCESS __attribute__((used, section("gnomon_process")))

/* In a forked child, whose only thread calls it: zeroes them. It may hold locks.
 * Nothing that they point to is freed: the heap may be half changed, and the child may
 * be inside a mark or a callback that uses it. */
void gnomon__process_forget(void);

/* There too: leak checkers find the block, which the child does not free. The last 256. */
void gnomon__process_keep(const void *block);

#endif
