/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Numbers as Python writes and reads them, whatever the host's locale. */
#ifndef GNOMON_PRINT_PYTHON_H
#define GNOMON_PRINT_PYTHON_H

#include <stdbool.h>
#include <stdint.h>

#define GNOMON__PYTHON_TEXT 48

/* "%.3f" of a value from 0 to 1e40. */
void gnomon__python_fixed(char text[GNOMON__PYTHON_TEXT], double value);

/* repr() of a finite value: the shortest text that is read back as the same. */
void gnomon__python_repr(char text[GNOMON__PYTHON_TEXT], double value);

/* format(value, ".5") of a value that is not negative: five digits, without zeroes at the
 * end. */
void gnomon__python_general(char text[GNOMON__PYTHON_TEXT], double value);

/* A number as a literal of Python: an int, or, with a point or exponent, a
 * float. An int that is too large becomes the largest. False: not a number. */
bool gnomon__python_number(const char *text, bool *is_float, int64_t *whole,
                           double *real);

#endif
