/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Takes room that a process has for thread-local words besides those of its
 * start, as a library does that was built with initial-exec. */
__attribute__((tls_model("initial-exec"))) __thread char eaten[EATEN];

char *eat(void)
{
    return eaten;
}
