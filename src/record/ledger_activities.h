/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Work of devices in a ledger. Under the readers' lock. */
#ifndef GNOMON_RECORD_LEDGER_ACTIVITIES_H
#define GNOMON_RECORD_LEDGER_ACTIVITIES_H

#include "record/ledger.h"

/* When the view's work is taken. Work counts in the stage of its launch. */
enum gnomon__taking {
    GNOMON__TAKE_AT_CUT,    /* the stage closed last was reported */
    GNOMON__TAKE_AT_REPORT, /* it is reported next, and so are late parts */
    GNOMON__TAKE_COPY /* as at its report; the work stays for the ledger */
};

/* GNOMON_OK or GNOMON_ENOMEM. */
int gnomon__ledger_take_activities(gnomon__ledger *l, uint32_t generation,
                                   enum gnomon__taking when);
/* Nobody wants the view's work any more: drops what the ledger has of it. */
void gnomon__ledger_drop_activities(gnomon__ledger *l);

#endif
