/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Random programs of marks, run by the library and by the model. A seed repeats
 * one.
 * links: testing */
#include <stdlib.h>

#include "model_program.h"
#include "sanitizer.h"

#define SHORT_PROGRAMS 5000
#define SOAK_PROGRAMS 100000

static uint64_t dice;

static uint32_t roll(uint32_t below)
{
    dice = dice * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(dice >> 33) % below;
}

static int rolled_out(void)
{
    return 0;
}

TEST(soak_random_programs)
{
    const char *seed = getenv("MODEL_SEED");
    uint64_t count =
        getenv("GNOMON_SOAK") ? SOAK_PROGRAMS : SHORT_PROGRAMS / EACH;
    uint64_t first = seed ? strtoull(seed, NULL, 10) : 1;
    count = seed ? 1 : count;
    is_told = seed != NULL;
    if (!world_start())
        return;
    for (uint64_t i = first; i < first + count; i++) {
        dice = i * 2654435761u + 88172645463325252ull;
        if (!run_program()) {
            fprintf(stderr, "program %llu: MODEL_SEED repeats it\n",
                    (unsigned long long)i);
            break;
        }
        world_tidy();
    }
    for (int i = 1; i < MODEL_THREADS; i++) {
        run_on(i, NULL);
        pthread_join(workers[i].thread, NULL);
    }
}
