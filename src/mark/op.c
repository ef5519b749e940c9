/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* compiled: for speed */
/* Regions that compute an operation: a map from (region, operation) to a region of the
 * table, which has the name and place of the first. It only grows.
 *
 * An entry is complete before it is linked into its bucket, and never changes: so it is
 * found without the lock. Entries are made under the lock. Operations of equal contents
 * are one, whatever region computes them. */
#include "mark/op.h"

#include <errno.h>

#include "mark/names.h"
#include "mark/thread.h"
#include "ops/cost.h"
#include "platform/owner.h"

#define OP_BUCKETS 4096u /* a power of two */

typedef struct op_region {
    gnomon_region region;
    const gnomon_region *plain;
    const gnomon__op *op;
    uint64_t hash; /* of the operation alone */
    struct op_region *next;
} op_region;

static op_region *op_buckets[OP_BUCKETS];
static uint32_t op_region_count, op_count;
static uint64_t op_bytes;

static op_region **bucket_of(uint64_t hash)
{
    return &op_buckets[(hash ^ hash >> 32) & (OP_BUCKETS - 1)];
}

/* What the program gave; gnomon__op.info may have more. */
static const gnomon_op_info *given_op(const gnomon__op *op)
{
    return (const gnomon_op_info *)(const void *)(op + 1);
}

/* `plain` NULL: of any region. NULL: there is none. */
static op_region *find_op(const gnomon__op_view *op, uint64_t hash,
                          const gnomon_region *plain)
{
    op_region **op_bucket = bucket_of(hash);
    op_region *at = load_acquire(op_bucket); /* pairs with link_op */
    while (at && !(at->hash == hash && (!plain || at->plain == plain) &&
                   gnomon__op_is(op, given_op(at->op))))
        at = at->next;
    return at;
}

static void link_op(op_region *made)
{
    op_region **op_bucket = bucket_of(made->hash);
    made->next = *op_bucket;
    store_release(op_bucket, made);
    op_region_count++;
}

/* What the program did not give is counted. */
static void fill_cost(gnomon_op_info *op)
{
    const gnomon__op_cost work = gnomon__op_cost_of(op);
    if (!op->flops && !(op->flags & GNOMON_OP_FLOPS_GIVEN)) {
        op->flops = work.flops;
        op->flags |= work.is_by_definition ? GNOMON_OP_BY_DEFINITION : 0u;
    }
    if (!op->bytes && !(op->flags & GNOMON_OP_BYTES_GIVEN))
        op->bytes = work.bytes;
}

/* The operation of these contents, which another region may have. NULL: no room. */
static const gnomon__op *keep_op(const gnomon__op_view *op, uint64_t hash,
                                 size_t bytes)
{
    uint32_t is_bad = 0;
    const op_region *same = find_op(op, hash, NULL);
    if (same)
        return same->op;
    bytes += sizeof(gnomon__op);
    if (op_bytes + bytes > GNOMON__MAX_OPS_BYTES)
        return NULL;
    gnomon__op *made = gnomon__name_room(bytes);
    if (!made)
        return NULL;
    void *contents = made + 1;
    gnomon__op_copy(contents, bytes - sizeof *made, op, &is_bad);
    made->info = *given_op(made);
    fill_cost(&made->info);
    made->number = ++op_count;
    op_bytes += bytes;
    return made;
}

/* NULL: no room. */
static op_region *make_op_region(const gnomon__entry *plain,
                                 const gnomon__op_view *op, uint64_t hash,
                                 size_t bytes)
{
    if (op_region_count >= GNOMON__MAX_OPS ||
        gnomon__region_count() + 1 >= GNOMON__MAX_REGIONS)
        return NULL;
    const gnomon__op *kept = keep_op(op, hash, bytes);
    op_region *made = kept ? gnomon__name_room(sizeof *made) : NULL;
    if (!made)
        return NULL;
    made->region = (gnomon_region){.mask = GNOMON_MASK_UNSEEN,
                                   .struct_size = sizeof made->region,
                                   .abi = GNOMON_ABI,
                                   .kind = plain->region->kind,
                                   .line = plain->region->line,
                                   .name = plain->name,
                                   .category = plain->category,
                                   .file = plain->region->file,
                                   .function = plain->region->function};
    made->plain = plain->region;
    made->op = kept;
    made->hash = hash;
    if (!gnomon__region_append_op(&made->region, kept, plain))
        return NULL;
    link_op(made);
    return made;
}

/* What was not found as it was given. Its texts are made fit first, so that it is found
 * by what is kept of it. NULL: it cannot be kept, which is counted. Under the lock. */
static op_region *find_or_make_op(const gnomon__entry *plain,
                                  const gnomon__op_view *given)
{
    static _Alignas(16) char fit[GNOMON__MAX_OP_BYTES];
    uint32_t is_bad = 0;
    gnomon__op_view view;
    size_t bytes = gnomon__op_copy(fit, sizeof fit, given, &is_bad);
    if (!bytes || is_bad)
        gnomon__trouble(&gnomon__no_thread, bad_ops);
    if (!bytes)
        return NULL;
    gnomon__op_view_of(&view, (const gnomon_op_info *)(const void *)fit);
    uint64_t hash = gnomon__op_hash(&view);
    op_region *found = find_op(&view, hash, plain->region);
    if (found || (found = make_op_region(plain, &view, hash, bytes)) != NULL)
        return found;
    gnomon__trouble(&gnomon__no_thread, lost_ops);
    return NULL;
}

/* Like find_or_make_op, for a region that may not be registered yet. Takes the
 * lock. */
static op_region *enter_op(gnomon_region *region, const gnomon__op_view *op)
{
    int kept = errno;
    op_region *found = NULL;
    const gnomon__entry *plain = gnomon__region_register(region);
    if (plain && plain->region == region) { /* else it is "(other)" */
        gnomon__lock();
        found = find_or_make_op(plain, op);
        gnomon__unlock();
    }
    errno = kept;
    return found;
}

static int is_moment(const gnomon_region *region)
{
    return region->kind == GNOMON_KIND_MARK ||
           region->kind == GNOMON_KIND_COUNTER;
}

static gnomon_region *op_region_of(gnomon_region *region,
                                   const gnomon_op_info *op)
{
    gnomon__op_view view;
    const gnomon__entry *entry = gnomon__entry_of(region);
    gnomon_region *plain = entry && entry->op
                               ? gnomon__region_entry(entry->plain)->region
                               : region;
    if (!gnomon__op_view_of(&view, op) || is_moment(plain)) {
        gnomon__trouble(&gnomon__no_thread, bad_ops);
        return region;
    }
    uint64_t hash = gnomon__op_hash(&view);
    if (view.is_bad)
        gnomon__trouble(&gnomon__no_thread, bad_ops);
    op_region *found = find_op(&view, hash, plain);
    if (!found)
        found = enter_op(plain, &view);
    return found ? &found->region : plain;
}

gnomon_region *gnomon_op_region(gnomon_region *region, const gnomon_op_info *op)
{
    if (gnomon__is_refused())
        return region ? region : &gnomon__other_region;
    GNOMON__FORWARD(op_region(region, op));
    if (!region)
        gnomon__trouble(&gnomon__no_thread, bad_regions);
    return region ? op_region_of(region, op) : &gnomon__other_region;
}

const gnomon_op_info *gnomon__region_op(const gnomon_region *region)
{
    GNOMON__FORWARD(region_op(region));
    const gnomon__entry *entry = region ? gnomon__entry_of(region) : NULL;
    return entry && entry->op ? &entry->op->info : NULL;
}

/* What the region computed last, on any thread: most regions compute one thing for long,
 * and a comparison takes a third of a look-up. Written only where it was another one. */
static op_region *op_guesses[256];

static op_region **guess_of(const gnomon_region *plain)
{
    return &op_guesses[(uintptr_t)plain / sizeof *plain % 256];
}

static int guess_is(const op_region *guess, const gnomon_region *region,
                    const gnomon_op_info *op)
{
    return guess && guess->plain == region &&
           gnomon__op_repeats(op, given_op(guess->op)) &&
           !load_acquire(&gnomon__owner);
}

gnomon_token gnomon_begin_op_slow(gnomon_region *region,
                                  const gnomon_op_info *op, uint32_t mask)
{
    if (!gnomon_touch_slow(region, mask))
        return 0;
    op_region **guess = guess_of(region), *found = load_acquire(guess);
    if (likely(guess_is(found, region, op))) {
        region = &found->region;
    } else {
        const gnomon_region *plain = region;
        region = gnomon_op_region(region, op);
        const gnomon__entry *entry = gnomon__entry_of(region);
        if (entry && entry->op && region != plain)
            store_release(guess, (op_region *)region);
    }
    mask = load_relaxed(&region->mask);
    return mask ? gnomon_begin_slow(region, mask) : 0;
}
