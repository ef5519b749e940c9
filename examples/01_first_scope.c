/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Mark what you want to measure; $GNOMON chooses the report when it runs.
 * env: GNOMON=simple
 *
 *     ./01_first_scope                    marks do nothing
 *     GNOMON=simple ./01_first_scope      Lightning's table at the end
 */
#include <gnomon.h>
#include <unistd.h>

static void compute(unsigned milliseconds)
{
    usleep(1000 * milliseconds);
}

static void train_step(void)
{
    GNOMON_FUNCTION(); /* from here to the end of train_step */
    compute(1);
    {
        GNOMON_SCOPE("forward"); /* to the end of this block */
        compute(2);
    }
    {
        GNOMON_SCOPE("backward");
        compute(5);
    }
}

int main(void)
{
    for (int i = 0; i < 4; i++) {
        train_step();
        gnomon_step();
    }
    return 0;
}
