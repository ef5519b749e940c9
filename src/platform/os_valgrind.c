/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* helgrind and drd take atomic instructions for plain ones and would report a race for
 * each. They are told of words that the host's own code reads, as marks are inlined there
 * and no list of functions can name the host's, and of what locks order. Everything else
 * is in cmake/valgrind.supp. Without Valgrind's headers at build time this does nothing. */
#include "platform/os_wait.h"

#if defined(GNOMON_WITH_VALGRIND) && GNOMON_WITH_VALGRIND
#include <valgrind/drd.h>
#include <valgrind/helgrind.h>
#endif

uint32_t gnomon__os_is_watched;

void gnomon__os_atomic_word(const void *word)
{
#if defined(GNOMON_WITH_VALGRIND) && GNOMON_WITH_VALGRIND
    if (!RUNNING_ON_VALGRIND)
        return;
    store_relaxed(&gnomon__os_is_watched, 1);
    VALGRIND_DO_CLIENT_REQUEST_STMT(VG_USERREQ__DRD_START_SUPPRESSION, word,
                                    sizeof(uint32_t), 0, 0, 0);
    VALGRIND_HG_DISABLE_CHECKING(word, sizeof(uint32_t));
#else
    (void)word;
#endif
}

void gnomon__os_lock_watch(const gnomon__os_lock *lock, int is_given)
{
#if defined(GNOMON_WITH_VALGRIND) && GNOMON_WITH_VALGRIND
    VALGRIND_DO_CLIENT_REQUEST_STMT(
        is_given ? VG_USERREQ__DRD_ANNOTATE_HAPPENS_BEFORE
                 : VG_USERREQ__DRD_ANNOTATE_HAPPENS_AFTER,
        lock, 0, 0, 0, 0);
    VALGRIND_DO_CLIENT_REQUEST_STMT(is_given ? _VG_USERREQ__HG_USERSO_SEND_PRE
                                             : _VG_USERREQ__HG_USERSO_RECV_POST,
                                    lock, 0, 0, 0, 0);
#else
    (void)lock;
    (void)is_given;
#endif
}
