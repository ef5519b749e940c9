/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The tracks of work in a profile: a stream, the calls of a thread, or a lane. */
#ifndef GNOMON_RECORD_ACTIVITY_TRACKS_H
#define GNOMON_RECORD_ACTIVITY_TRACKS_H

#include "profile/model.h"
#include "record/activity_tables.h"

/* Adds it. Its number in the profile; 0: no memory. */
uint32_t gnomon__activity_put_track(gnomon__model *m,
                                    const gnomon__activity_track *from);
/* Whether its work has times on the host. */
int gnomon__activity_is_host_lane(uint32_t lane);
/* By device, lane and number. */
int gnomon__activity_track_order(const gnomon__activity_track *a,
                                 const gnomon__activity_track *b);

#endif
