/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Which process of its job this is: its rank, where it writes, and since when. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mark/calibrate.h"
#include "platform/error.h"
#include "platform/memory.h"
#include "platform/os.h"
#include "run/run.h"

static gnomon__rank our_rank = {
    .rank = -1, .local_rank = -1, .world_size = -1, .attempt = -1};
static int rank_is_known;
static char *given_dir;
static char host_name[256];
static uint64_t start_unix_ns;

uint64_t gnomon__start_unix_ns(void)
{
    return start_unix_ns;
}

void gnomon__run_find_rank(void)
{
    if (rank_is_known)
        return;
    rank_is_known = 1;
    if (!start_unix_ns)
        start_unix_ns = gnomon__os_unix_ns();
    if (!gnomon__os_is_secure())
        gnomon__rank_find(&our_rank);
}

const gnomon__rank *gnomon__run_rank(void)
{
    return &our_rank;
}

void gnomon__run_give_rank(int32_t rank, int32_t local_rank, int32_t world_size)
{
    gnomon__readers_lock();
    our_rank.rank = rank;
    our_rank.local_rank = local_rank;
    our_rank.world_size = world_size;
    our_rank.source = "setup";
    gnomon__readers_unlock();
}

int gnomon__run_rank_is_given(void)
{
    return our_rank.source && strcmp(our_rank.source, "setup") == 0;
}

void gnomon__run_forget_rank(void)
{
    rank_is_known = gnomon__run_rank_is_given();
    if (!rank_is_known)
        our_rank = (gnomon__rank){
            .rank = -1, .local_rank = -1, .world_size = -1, .attempt = -1};
}

void gnomon__run_log_rank(void)
{
    if (our_rank.rank < 0 && *our_rank.passed_over)
        gnomon__log("no rank is known: %s", our_rank.passed_over);
    *our_rank.passed_over = 0;
}

void gnomon__run_give_dir(const char *dir)
{
    gnomon__readers_lock();
    gnomon__free(given_dir);
    given_dir = gnomon__strdup(dir);
    gnomon__readers_unlock();
}

const char *gnomon__run_dir(void)
{
    return given_dir;
}

/* A name that no other process ever has: RFC 9562, version 4. */
static const char *run_uuid(void)
{
    static char text[40];
    static int64_t made_by;
    uint32_t word[4];
    if (made_by == gnomon__os_pid())
        return text;
    made_by = gnomon__os_pid();
    gnomon__os_random(word, sizeof word);
    snprintf(text, sizeof text, "%08x-%04x-4%03x-%04x-%04x%08x",
             (unsigned)word[0], (unsigned)(word[1] >> 16),
             (unsigned)(word[1] & 0xfff),
             (unsigned)(0x8000 | (word[2] >> 16 & 0x3fff)),
             (unsigned)(word[2] & 0xffff), (unsigned)word[3]);
    return text;
}

void gnomon__run_describe(gnomon_run_info *run)
{
    static char attempt[16];
    if (!*host_name)
        gnomon__os_host_name(host_name);
    memset(run, 0, sizeof *run);
    run->struct_size = sizeof *run;
    run->rank = our_rank.rank;
    run->local_rank = our_rank.local_rank;
    run->world_size = our_rank.world_size;
    run->pid = gnomon__os_pid();
    run->host = host_name;
    run->dir = given_dir;
    if (our_rank.attempt >= 0) {
        snprintf(attempt, sizeof attempt, "%d", (int)our_rank.attempt);
        run->attempt = attempt;
    }
    run->job = *our_rank.job ? our_rank.job : NULL;
    run->uuid = run_uuid();
    run->scope_cost_ns = gnomon__calibrated_ns();
}
