/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The functions that the sites call. They are a module of their own, so that no compiler
 * can inline them. Linked and disassembled, never run. */
void work(void);
void after(void);
double value(void);
/* A gnomon_op_info, of which only the address is used. */
extern const int marked_op[16];
const int marked_op[16] = {0};

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
