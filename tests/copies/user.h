/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What a module of user.c exports. */
#ifndef GNOMON_TESTS_COPIES_USER_H
#define GNOMON_TESTS_COPIES_USER_H

#define EXPORTED __attribute__((visibility("default")))

/* Makes its marks so many times. */
EXPORTED void use(int times);

/* Has the module's copy attach what `spec` says; the code. */
EXPORTED int use_configure(const char *spec);

/* The report of simple as the module's copy gives it, into 64 KiB; the code. */
EXPORTED int use_text(char *text);

#endif
