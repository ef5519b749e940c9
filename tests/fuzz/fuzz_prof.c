/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Any bytes as a file of cProfile: they are one, and the profile that is made of it is
 * sound, or a line says why not; nothing is left in memory.
 * links: testing
 * needs: cli */
#include "fuzz.h"

#include "command/prof_read.h"
#include "gnomon.h"
#include "platform/memory.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    gnomon__heap_start();
    const uint64_t before = gnomon__heap_bytes();
    gnomon_profile *p;
    const int code = gnomon__prof_read(&p, data, size);
    CHECK_EQ(code == GNOMON_OK, p != NULL);
    CHECK(code == GNOMON_OK || code == GNOMON_EINVAL);
    CHECK(*gnomon_error_text() && !strchr(gnomon_error_text(), '\n'));
    CHECK(!p || gnomon_profile_check(p) == GNOMON_OK);
    gnomon_profile_free(p);
    CHECK_EQ(gnomon__heap_bytes(), before);
    return fuzz_end();
}
