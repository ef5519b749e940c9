/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the sites call: a module of its own, so that no compiler sees into it.
 * Linked and disassembled, never run. */
void work(void);
void after(void);
double value(void);

void work(void)
{
}

void after(void)
{
}

double value(void)
{
    return 1;
}

int main(void)
{
    return 0;
}
