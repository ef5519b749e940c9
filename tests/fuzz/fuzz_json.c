/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Any bytes as a profile in JSON: they are one, which is then written and read to
 * the same bytes, or a line says why not; nothing is left in memory.
 * links: testing
 * needs: cli */
#include "fuzz.h"

#include "json_form.h"
#include "platform/memory.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    gnomon__heap_start();
    uint64_t before = gnomon__heap_bytes();
    gnomon_profile *p, *q;
    int code = gnomon__json_read(&p, (const char *)data, size);
    CHECK_EQ(code == GNOMON_OK, p != NULL);
    CHECK(code == GNOMON_OK || code == GNOMON_EINVAL || code == GNOMON_EABI ||
          code == GNOMON_ESTATE);
    CHECK(code == GNOMON_OK || *gnomon_error_text());
    CHECK(!strchr(gnomon_error_text(), '\n'));
    if (p) {
        char *text = json_of(p), *again;
        if ((q = profile_of_json(text)) != NULL) {
            CHECK_STR(gnomon_error_text(), "");
            same_profiles(p, q);
            again = json_of(q);
            CHECK_STR(text, again);
            free(again);
        }
        free(text);
        gnomon_profile_free(p);
        gnomon_profile_free(q);
    }
    CHECK_EQ(gnomon__heap_bytes(), before);
    return fuzz_end();
}
