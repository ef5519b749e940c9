/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Domains, labels of categories, names and regions. Each is made at its first use, on
 * any thread, and never freed. If several threads make the same one at once, all use
 * that of the first.
 *
 * The category of the regions is "domain/label"; in the default domain "label"; without
 * a label "domain". The label of an NVTX category without a name is its number. */
#include <stdio.h>
#include <string.h>

#include "inject/nvtx.h"
#include "platform/error.h"
#include "platform/hash.h"
#include "platform/memory.h"

#define BUCKETS 4096u
#define MAX_NAMES 130000u /* gnomon takes 131072, with a program's own */
#define MAX_DOMAINS 1024u
#define MAX_LABELS 65536u /* of one domain, with renamings */
#define MAX_FIELD_COUNTERS 65536u

gnomon__inject_domain gnomon__inject_default = {.text = ""};
static gnomon__inject_domain inject_other_domain = {
    .next = &gnomon__inject_default, .text = "(other)", .index = 1};
static gnomon__inject_domain *inject_domains = &inject_other_domain;
static uint32_t domain_count = 2;

static gnomon__inject_name *inject_names[BUCKETS];
static uint32_t names_made, regions_made, field_counters_made;

/* Of texts, or of texts with a category. How many these are is not known. NULL: the other
 * limit was logged. */
static const char *past_texts(uint32_t made_of_other)
{
    return made_of_other > MAX_NAMES
               ? NULL
               : "texts: the rest are counted under (other)";
}

/* Used where no new name can be made. */
static gnomon__inject_name inject_other_name = {
    .domain = &gnomon__inject_default, .text = "(other)"};
/* Without a place in the source: tables would show that of the line. */
#define INJECT_OTHER(of_kind) \
    { \
        .mask = GNOMON_MASK_UNSEEN, .struct_size = sizeof(gnomon_region), \
        .abi = GNOMON_ABI, .kind = of_kind, .name = "(other)" \
    }
static gnomon_region inject_other_scope = INJECT_OTHER(GNOMON_KIND_SCOPE);
static gnomon__inject_regions inject_other_regions = {
    .scope = &inject_other_scope,
    .name = &inject_other_name,
    .mark = INJECT_OTHER(GNOMON_KIND_MARK),
    .counter = INJECT_OTHER(GNOMON_KIND_COUNTER)};

int gnomon__inject_reserve(uint32_t *made, uint32_t most, const char *what)
{
    uint32_t is_on = load_relaxed(&gnomon_enabled) != 0;
    if (load_relaxed(made) >= most + is_on)
        return 0;
    uint32_t before = add_relaxed(made, 1);
    if (before == most && what)
        gnomon__log("NVTX: more than %u %s", most, what);
    return before < most;
}

/* ---- Domains -------------------------------------------------------------- */

static gnomon__inject_domain *find_domain(gnomon__inject_domain *from,
                                          const char *text)
{
    while (from && strcmp(from->text, text) != 0)
        from = from->next;
    return from;
}

gnomon__inject_domain *gnomon__inject_domain_of(const char *text)
{
    gnomon__inject_domain *head = load_acquire(&inject_domains), *made = NULL;
    gnomon__inject_domain *known = find_domain(head, text);
    if (known)
        return known;
    if (load_relaxed(&domain_count) < MAX_DOMAINS)
        made = gnomon__inject_alloc(sizeof *made + strlen(text) + 1);
    if (!made)
        return &inject_other_domain;
    made->text = strcpy((char *)(made + 1), text);
    made->index = add_relaxed(&domain_count, 1);
    do { /* partner: the acquire above; a failed swap reads anew */
        head = load_acquire(&inject_domains);
        known = find_domain(head, text);
        made->next = head;
    } while (!known && !cas_acq_rel(&inject_domains, &head, made));
    if (!known)
        return made;
    gnomon__free(made); /* its index stays unused */
    return known;
}

static const gnomon__inject_label *label_of(const gnomon__inject_domain *domain,
                                            uint32_t category)
{
    const gnomon__inject_label *l = load_acquire(&domain->labels);
    while (l && l->category != category)
        l = l->next;
    return l;
}

void gnomon__inject_label_set(gnomon__inject_domain *domain, uint32_t category,
                              const char *text)
{
    const gnomon__inject_label *now = label_of(domain, category);
    if ((now && strcmp(now->text, text) == 0) || !category ||
        load_relaxed(&domain->labelled) >= MAX_LABELS)
        return;
    gnomon__inject_label *made =
        gnomon__inject_alloc(sizeof *made + strlen(text) + 1);
    if (!made)
        return;
    made->category = category;
    strcpy(made->text, text);
    made->next = load_relaxed(&domain->labels);
    while (!cas_acq_rel(&domain->labels, &made->next, made))
        ;                              /* partner: label_of */
    add_release(&domain->labelled, 1); /* partner: regions_make */
}

/* ---- Names ---------------------------------------------------------------- */

static gnomon__inject_name *find_name(gnomon__inject_name *from,
                                      const gnomon__inject_domain *domain,
                                      uint64_t hash, const char *text, size_t n)
{
    while (from && (from->hash != hash || from->domain != domain ||
                    strncmp(from->text, text, n) != 0 || from->text[n]))
        from = from->next;
    return from;
}

gnomon__inject_name *
gnomon__inject_name_titled(gnomon__inject_domain *domain,
                           const gnomon__inject_text *title)
{
    const char *text = title->text;
    size_t n = title->length;
    uint64_t hash =
        gnomon__hash_bytes(GNOMON__HASH_SEED ^ domain->index, text, n);
    gnomon__inject_name **bucket = &inject_names[(hash ^ hash >> 32) % BUCKETS];
    gnomon__inject_name *head = load_acquire(bucket), *made = NULL;
    gnomon__inject_name *known = find_name(head, domain, hash, text, n);
    if (known)
        return known;
    if (!gnomon__inject_reserve(&names_made, MAX_NAMES,
                                past_texts(load_relaxed(&regions_made))))
        return &inject_other_name;
    made = gnomon__inject_alloc(sizeof *made + n + 1);
    if (!made) {
        sub_relaxed(&names_made, 1);
        return &inject_other_name;
    }
    made->domain = domain;
    made->hash = hash;
    made->text = memcpy((char *)(made + 1), text, n); /* zeroes follow */
    do { /* partner: the acquire above */
        head = load_acquire(bucket);
        known = find_name(head, domain, hash, text, n);
        made->next = head;
    } while (!known && !cas_acq_rel(bucket, &head, made));
    if (!known)
        return made;
    sub_relaxed(&names_made, 1);
    gnomon__free(made);
    return known;
}

gnomon__inject_name *gnomon__inject_name_of(gnomon__inject_domain *domain,
                                            const char *text,
                                            int replaces_numbers)
{
    gnomon__inject_text title;
    gnomon__inject_title_of(&title, text, replaces_numbers);
    gnomon__inject_name *name = gnomon__inject_name_titled(domain, &title);
    gnomon__inject_text_free(&title);
    return name;
}

/* ---- Regions -------------------------------------------------------------- */

static gnomon_region inject_region_of(int kind, const char *name,
                                      const char *category)
{
    return (gnomon_region){.mask = GNOMON_MASK_UNSEEN,
                           .struct_size = sizeof(gnomon_region),
                           .abi = GNOMON_ABI,
                           .kind = (uint8_t)kind,
                           .name = name,
                           .category = category};
}

/* Whether gnomon gave "(other)" instead: a limit is reached, there is no memory, or
 * the call is inside a callback. */
static int is_refused(const gnomon_region *region, const char *text)
{
    return strcmp(region->name, inject_other_name.text) == 0 &&
           strcmp(text, inject_other_name.text) != 0;
}

/* In the list from `p` on, the regions of this category number and this text of it. */
static gnomon__inject_regions *find_regions(gnomon__inject_regions *p,
                                            uint32_t category, const char *text)
{
    while (p &&
           (p->category != category || strcmp(p->mark.category, text) != 0))
        p = p->next;
    return p;
}

gnomon__inject_regions *gnomon__inject_regions_make(gnomon__inject_name *name,
                                                    uint32_t category)
{
    const gnomon__inject_domain *domain = name->domain;
    uint32_t labelled = load_acquire(&domain->labelled); /* before the label */
    const gnomon__inject_label *label = label_of(domain, category);
    char number[16] = "";
    if (category && !label)
        snprintf(number, sizeof number, "%u", (unsigned)category);
    const char *last = label ? label->text : number;
    const char *slash = *domain->text && *last ? "/" : "";
    if (name == &inject_other_name)
        return &inject_other_regions;
    size_t room = strlen(domain->text) + strlen(last) + 2;
    gnomon__inject_regions *made = gnomon__inject_alloc(sizeof *made + room),
                           *known, *head;
    if (!made)
        return &inject_other_regions;
    char *text = (char *)(made + 1);
    snprintf(text, room, "%s%s%s", domain->text, slash, last);
    int is_known =
        find_regions(load_acquire(&name->regions), category, text) != NULL;
    uint32_t reserved = !is_known && gnomon__inject_reserve(
                                         &regions_made, MAX_NAMES,
                                         past_texts(load_relaxed(&names_made)));
    made->scope = is_known || reserved
                      ? gnomon_region_get(name->text, text, GNOMON_KIND_SCOPE)
                      : &inject_other_scope;
    made->mark = inject_region_of(GNOMON_KIND_MARK, name->text, text);
    made->counter = inject_region_of(GNOMON_KIND_COUNTER, name->text, text);
    made->category = category;
    made->labelled = labelled;
    made->name = name;
    if (is_refused(made->scope, name->text)) {
        sub_relaxed(&regions_made, reserved);
        gnomon__free(made);
        return &inject_other_regions;
    }
    do { /* partner: gnomon__inject_regions_of */
        head = load_acquire(&name->regions);
        known = find_regions(head, category, text);
        made->next = head;
    } while (!known && !cas_acq_rel(&name->regions, &head, made));
    if (!known)
        return made;
    store_relaxed(&known->labelled, labelled);
    sub_relaxed(&regions_made, reserved);
    gnomon__free(made);
    return known;
}

/* ---- Fields ---------------------------------------------------------------- */

gnomon_region *gnomon__inject_field_counter_of(gnomon__inject_regions *regions,
                                               const void *field,
                                               const char *name)
{
    gnomon__inject_field_counter *made =
        load_acquire(&regions->field_counters); /* partner: the swap below */
    while (made && made->field != field)
        made = made->next;
    if (likely(made != NULL))
        return made->counter;
    size_t room = strlen(regions->mark.name) + strlen(name) + 2;
    if (!gnomon__inject_reserve(&field_counters_made, MAX_FIELD_COUNTERS,
                                "fields have counters: the rest are not kept"))
        return NULL;
    made = gnomon__inject_alloc(sizeof *made + room);
    if (!made) {
        sub_relaxed(&field_counters_made, 1);
        return NULL;
    }
    snprintf(made->text, room, "%s.%s", regions->mark.name, name);
    made->field = field;
    made->counter = gnomon_region_get(made->text, regions->mark.category,
                                      GNOMON_KIND_COUNTER);
    if (is_refused(made->counter, made->text)) {
        sub_relaxed(&field_counters_made, 1);
        gnomon__free(made);
        return &inject_other_regions.counter;
    }
    made->next = load_relaxed(&regions->field_counters);
    while (!cas_acq_rel(&regions->field_counters, &made->next, made))
        ; /* one that another thread made meanwhile has the same counter */
    return made->counter;
}
