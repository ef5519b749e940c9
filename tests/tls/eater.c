/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Takes room in the static TLS area, of which a process reserves some for libraries that
 * are loaded late. A library that is built with initial-exec does the same. */
__attribute__((tls_model("initial-exec"))) __thread char eaten[EATEN];

char *eat(void)
{
    return eaten;
}
