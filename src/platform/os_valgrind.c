/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Words that the host's own code reads, as marks are inlined there. helgrind
 * and drd take atomic instructions for plain ones and would report a race
 * for each, and no list of functions can name the host's. Everything else is
 * in cmake/valgrind.supp. Without Valgrind's headers at build time this does
 * nothing. */
#include "platform/os.h"

#if defined(GNOMON_WITH_VALGRIND) && GNOMON_WITH_VALGRIND
#include <valgrind/drd.h>
#include <valgrind/helgrind.h>
#endif

void gnomon__os_atomic_word(const void *word)
{
#if defined(GNOMON_WITH_VALGRIND) && GNOMON_WITH_VALGRIND
    if (!RUNNING_ON_VALGRIND)
        return;
    VALGRIND_DO_CLIENT_REQUEST_STMT(VG_USERREQ__DRD_START_SUPPRESSION, word,
                                    sizeof(uint32_t), 0, 0, 0);
    VALGRIND_HG_DISABLE_CHECKING(word, sizeof(uint32_t));
#else
    (void)word;
#endif
}
