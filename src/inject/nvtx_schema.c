/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The layouts of structured payloads (nvtx3/nvToolsExtPayload.h), and tables of what
 * programs register under ids. A layout is made flat when it is registered: a list of
 * the fields that are recorded, with their offsets, and with the fields of nested
 * layouts.
 *
 * Layouts are never changed or freed, and their number is limited. They are kept also
 * while gnomon is off, as it may be switched on later. Invariant: a nested layout is
 * registered before the one around it, so none contains itself. A field whose offset
 * is not known, as after an array of variable length, is not recorded. */
#include <stdio.h>
#include <string.h>

#include "inject/nvtx.h"
#include "platform/memory.h"

#if GNOMON__INJECT_EXTENSIONS

#define MAX_TABLE_ENTRIES 4096u /* of a table */
#define MAX_FIELDS 65536u
#define MAX_ENTRIES 256u /* of one schema */
#define MAX_FIELD_NAME 256u
#define MAX_OFFSET (1ull << 30) /* above any offset; sums cannot overflow */
#define UNKNOWN_OFFSET UINT64_MAX

/* ---- Ids -------------------------------------------------------------------- */

#define FIRST_STATIC ((uint64_t)NVTX_PAYLOAD_SCHEMA_ID_STATIC_START)
#define FIRST_DYNAMIC ((uint64_t)NVTX_PAYLOAD_SCHEMA_ID_DYNAMIC_START)

static gnomon__inject_entry *find_entry(gnomon__inject_entry *from,
                                        const gnomon__inject_domain *domain,
                                        uint64_t id)
{
    while (from &&
           (from->id != id || (from->domain != domain && id < FIRST_DYNAMIC)))
        from = from->next; /* ids that gnomon chose are valid in any domain */
    return from;
}

gnomon__inject_entry *gnomon__inject_find(const gnomon__inject_table *table,
                                          const gnomon__inject_domain *domain,
                                          uint64_t id)
{
    gnomon__inject_entry *const *bucket =
        &table->buckets[id % GNOMON__INJECT_BUCKETS];
    return find_entry(load_acquire(bucket), domain, id); /* partner: add */
}

gnomon__inject_entry *gnomon__inject_add(gnomon__inject_table *table,
                                         gnomon__inject_entry *made,
                                         const gnomon__inject_domain *domain,
                                         uint64_t id)
{
    gnomon__inject_entry *known, *head;
    if (id && (id < FIRST_STATIC || id >= FIRST_DYNAMIC))
        return NULL;
    if (id && (known = gnomon__inject_find(table, domain, id)) != NULL)
        return known;
    if (!gnomon__inject_reserve(&table->made, MAX_TABLE_ENTRIES, table->what))
        return NULL;
    made->domain = domain;
    made->id = id ? id : FIRST_DYNAMIC + add_relaxed(&table->chosen, 1);
    gnomon__inject_entry **bucket =
        &table->buckets[made->id % GNOMON__INJECT_BUCKETS];
    do { /* partner: find */
        head = load_acquire(bucket);
        known = find_entry(head, domain, made->id);
        made->next = head;
    } while (!known && !cas_acq_rel(bucket, &head, made));
    return known ? known : made;
}

/* ---- Offsets of entries ------------------------------------------------------ */

#define FLAG(name) ((uint64_t)NVTX_PAYLOAD_ENTRY_FLAG_##name)
#define ARRAYS (7ull << 4) /* one of four, FLAG(ARRAY_...) */
#define OFFSETS (FLAG(OFFSET_FROM_BASE) | FLAG(OFFSET_FROM_HERE))
#define INDIRECT (ARRAYS | OFFSETS | FLAG(POINTER))

/* The state of a registration. */
typedef struct layout {
    gnomon__inject_schema *schema;
    gnomon__inject_field **end;
    const gnomon__inject_domain *domain;
    const nvtxPayloadSchemaEntry_t *entries;
    uint64_t at[MAX_ENTRIES]; /* of each entry; UNKNOWN_OFFSET: not known */
    uint64_t cursor;          /* the end of the last entry */
    uint64_t size;
    uint64_t pack; /* 0: natural alignment */
} layout;

/* A text is a pointer too, unless it is an array or has a length. */
static int is_pointer(const nvtxPayloadSchemaEntry_t *e)
{
    uint64_t array = e->flags & ARRAYS;
    return (e->flags & FLAG(POINTER)) ||
           (gnomon__inject_text_unit(e->type) && !e->arrayOrUnionDetail &&
            (!array || array == FLAG(ARRAY_FIXED_SIZE)));
}

/* The size of an entry, UNKNOWN_OFFSET: unknown; and its natural alignment. */
static uint64_t extent_of(const nvtxPayloadSchemaEntry_t *e,
                          const gnomon__inject_schema *nested, uint64_t *align)
{
    uint64_t unit = gnomon__inject_text_unit(e->type),
             array = e->flags & ARRAYS, size;
    uint64_t count = e->arrayOrUnionDetail;
    size = is_pointer(e) ? sizeof(void *)
           : nested      ? nested->size
                         : gnomon__inject_type_size(e->type);
    *align = !is_pointer(e) && nested ? nested->align : size;
    if (!size || (e->flags & OFFSETS))
        return UNKNOWN_OFFSET;
    if (is_pointer(e) || (!array && !unit))
        return size;
    if ((array && array != FLAG(ARRAY_FIXED_SIZE)) || count > MAX_OFFSET / size)
        return UNKNOWN_OFFSET;
    return count * size;
}

/* Sets an entry's offset: the one it states, or after the entry before. */
static void put_entry(layout *l, size_t i, const gnomon__inject_schema *nested)
{
    const nvtxPayloadSchemaEntry_t *e = &l->entries[i];
    uint64_t align, size = extent_of(e, nested, &align);
    int is_union = l->schema->is_union;
    if (l->pack && l->pack < align)
        align = l->pack;
    if (align > l->schema->align)
        l->schema->align = (uint32_t)align;
    if (i == 0 || e->offset || is_union)
        l->at[i] = is_union ? 0 : e->offset;
    else if (l->cursor != UNKNOWN_OFFSET && align)
        l->at[i] = (l->cursor + align - 1) / align * align;
    else
        l->at[i] = UNKNOWN_OFFSET;
    if (l->at[i] > MAX_OFFSET)
        l->at[i] = UNKNOWN_OFFSET;
    l->cursor = l->at[i] == UNKNOWN_OFFSET || size == UNKNOWN_OFFSET
                    ? UNKNOWN_OFFSET
                    : l->at[i] + size;
    if (l->size < l->cursor) /* UNKNOWN_OFFSET is the largest, so it stays */
        l->size = l->cursor;
}

/* ---- Fields ------------------------------------------------------------------ */

static uint32_t fields_made;

/* Appends a copy of `like` with offsets moved by `by`. 0: no memory, or too many. */
static int append_field(layout *l, const gnomon__inject_field *like,
                        uint64_t by, const char *before, const char *name)
{
    const char *dot = *before && *name ? "." : "";
    size_t room = strlen(before) + strlen(dot) + strlen(name) + 1;
    if (room > MAX_FIELD_NAME)
        return 1; /* a name this long is not recorded */
    gnomon__inject_field *made = NULL;
    if (gnomon__inject_reserve(&fields_made, MAX_FIELDS,
                               "fields are in payloads: the rest are not kept"))
        made = gnomon__inject_alloc(sizeof *made + room);
    if (!made)
        return 0;
    *made = *like;
    made->next = NULL;
    made->offset += by;
    made->length_offset += by;
    made->name = (char *)(made + 1);
    snprintf((char *)(made + 1), room, "%s%s%s", before, dot, name);
    l->schema->has_texts |= !gnomon__inject_is_number(made->type);
    *l->end = made;
    l->end = &made->next;
    return 1;
}

/* Fills in `f` for a text of any form at l->at[i]. 0: it cannot be read. */
static int text_field(const layout *l, size_t i, gnomon__inject_field *f)
{
    const nvtxPayloadSchemaEntry_t *e = &l->entries[i];
    uint64_t array = e->flags & ARRAYS, length = e->arrayOrUnionDetail;
    f->is_pointer = (uint32_t)is_pointer(e);
    if (e->type == NVTX_PAYLOAD_ENTRY_TYPE_NVTX_REGISTERED_STRING_HANDLE)
        return !(e->flags & INDIRECT);
    if (!gnomon__inject_text_unit(e->type) || (e->flags & OFFSETS))
        return 0;
    if (array == FLAG(ARRAY_ZERO_TERMINATED))
        return 1;
    if (array == FLAG(ARRAY_LENGTH_INDEX)) {
        if (length >= i || l->at[length] == UNKNOWN_OFFSET ||
            (l->entries[length].flags & INDIRECT) ||
            !gnomon__inject_is_number(l->entries[length].type))
            return 0;
        f->length_type = (uint16_t)l->entries[length].type;
        f->length_offset = l->at[length];
        return 1;
    }
    f->units = length;
    return !array || array == FLAG(ARRAY_FIXED_SIZE);
}

static int take_entry(layout *l, size_t i, const gnomon__inject_schema *nested)
{
    const nvtxPayloadSchemaEntry_t *e = &l->entries[i];
    gnomon__inject_field f = {.offset = l->at[i], .type = (uint16_t)e->type};
    const char *name = e->name ? e->name : "";
    int ok = 1;
    if (l->at[i] == UNKNOWN_OFFSET || l->schema->is_union)
        return 1;
    if (e->flags & FLAG(EVENT_MESSAGE))
        return !text_field(l, i, &f) || append_field(l, &f, 0, "", "");
    if (e->flags & (INDIRECT | FLAG(TIMESTAMP) | FLAG(HIDE)))
        return 1;
    if (nested && (!nested->is_enum || *name)) {
        const gnomon__inject_field *n = nested->fields;
        for (; n && ok; n = n->next)
            ok = append_field(l, n, l->at[i], name, n->name);
        return ok;
    }
    if (e->type == NVTX_PAYLOAD_ENTRY_TYPE_CATEGORY ||
        (gnomon__inject_is_number(e->type) && *name))
        return append_field(l, &f, 0, name, "");
    return 1;
}

/* ---- Registration ------------------------------------------------------------ */

static gnomon__inject_table schemas = {
    .what = "layouts of payloads are registered: the rest are not kept"};

const gnomon__inject_schema *
gnomon__inject_schema_of(const gnomon__inject_domain *domain, uint64_t id)
{
    return id < FIRST_STATIC ? NULL
                             : (const gnomon__inject_schema *)(const void *)
                                   gnomon__inject_find(&schemas, domain, id);
}

static gnomon__inject_schema *new_schema(const char *name)
{
    size_t length = name ? strlen(name) : 0;
    gnomon__inject_schema *made =
        gnomon__inject_alloc(sizeof *made + length + 1);
    if (made && name)
        made->name = memcpy(made + 1, name, length);
    return made;
}

/* `counted` 1: its fields no longer count for the limit; 0: it is reached, they do. */
static void drop_schema(gnomon__inject_schema *s, uint32_t counted)
{
    while (s && s->fields) {
        gnomon__inject_field *f = s->fields;
        s->fields = f->next;
        gnomon__free(f);
        sub_relaxed(&fields_made, counted);
    }
    gnomon__free(s);
}

static int is_alike(const gnomon__inject_schema *a,
                    const gnomon__inject_schema *b)
{
    const gnomon__inject_field *f = a->fields, *g = b->fields;
    while (f && g && f->offset == g->offset && f->type == g->type &&
           f->units == g->units && f->is_pointer == g->is_pointer &&
           strcmp(f->name, g->name) == 0) {
        f = f->next;
        g = g->next;
    }
    return !f && !g && a->size == b->size;
}

/* Its id. 0: no room, or another layout has the id. */
static uint64_t add_schema(gnomon__inject_schema *made,
                           const gnomon__inject_domain *domain, uint64_t id)
{
    gnomon__inject_entry *known =
        gnomon__inject_add(&schemas, &made->known, domain, id);
    if (known == &made->known)
        return known->id;
    if (known && !is_alike(made, (const gnomon__inject_schema *)(void *)known))
        known = NULL;
    drop_schema(made, 1);
    return known ? known->id : 0;
}

#define STATES(a, field) \
    ((a)->fieldMask & NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_##field)

/* Fills in fields, size and alignment; 0: no memory. */
static int lay_out(layout *l, const nvtxPayloadSchemaAttr_t *a)
{
    gnomon__inject_schema *s = l->schema;
    size_t count = a->numEntries < MAX_ENTRIES ? a->numEntries : MAX_ENTRIES;
    s->align = 1;
    l->end = &s->fields;
    l->entries = a->entries;
    l->pack = STATES(a, ALIGNMENT) ? a->packAlign : 0;
    s->is_union = a->type >= NVTX_PAYLOAD_SCHEMA_TYPE_UNION;
    for (size_t i = 0; i < count; i++) {
        const gnomon__inject_schema *nested =
            gnomon__inject_schema_of(l->domain, a->entries[i].type);
        put_entry(l, i, nested);
        if (!take_entry(l, i, nested))
            return 0;
    }
    if (a->type == NVTX_PAYLOAD_SCHEMA_TYPE_DYNAMIC)
        return 1;
    if (STATES(a, STATIC_SIZE) && a->payloadStaticSize)
        s->size = a->payloadStaticSize < MAX_OFFSET ? a->payloadStaticSize : 0;
    else if (l->size < MAX_OFFSET && count == a->numEntries)
        s->size = (l->size + s->align - 1) / s->align * s->align;
    return 1;
}

uint64_t NVTX_API gnomon__inject_schema_register(
    nvtxDomainHandle_t handle, const nvtxPayloadSchemaAttr_t *a)
{
    gnomon__inject_domain *domain = gnomon__inject_domain_at(handle);
    if (!a || !STATES(a, TYPE) || !STATES(a, ENTRIES) ||
        !STATES(a, NUM_ENTRIES) || !a->entries || !a->numEntries ||
        a->type == NVTX_PAYLOAD_SCHEMA_TYPE_INVALID ||
        a->type > NVTX_PAYLOAD_SCHEMA_TYPE_UNION_WITH_INTERNAL_SELECTOR)
        return 0;
    layout l = {.schema = new_schema(STATES(a, NAME) ? a->name : NULL),
                .domain = domain};
    if (l.schema && lay_out(&l, a))
        return add_schema(l.schema, domain,
                          STATES(a, SCHEMA_ID) ? a->schemaId : 0);
    drop_schema(l.schema, 0);
    return 0;
}

uint64_t NVTX_API gnomon__inject_enum_register(nvtxDomainHandle_t handle,
                                               const nvtxPayloadEnumAttr_t *a)
{
    static const uint16_t numbers[] = {[1] = NVTX_PAYLOAD_ENTRY_TYPE_INT8,
                                       [2] = NVTX_PAYLOAD_ENTRY_TYPE_INT16,
                                       [4] = NVTX_PAYLOAD_ENTRY_TYPE_INT32,
                                       [8] = NVTX_PAYLOAD_ENTRY_TYPE_INT64};
    gnomon__inject_domain *domain = gnomon__inject_domain_at(handle);
    uint64_t size = a && (a->fieldMask & NVTX_PAYLOAD_ENUM_ATTR_FIELD_SIZE)
                        ? a->sizeOfEnum
                        : 0;
    if (size >= sizeof numbers / sizeof *numbers || !numbers[size])
        return 0;
    layout l = {.schema = new_schema(NULL), .domain = domain};
    gnomon__inject_field number = {.type = numbers[size]};
    if (l.schema) {
        l.end = &l.schema->fields;
        l.schema->size = size;
        l.schema->align = (uint32_t)size;
        l.schema->is_enum = 1;
        if (append_field(&l, &number, 0, "", ""))
            return add_schema(l.schema, domain,
                              a->fieldMask &
                                      NVTX_PAYLOAD_ENUM_ATTR_FIELD_SCHEMA_ID
                                  ? a->schemaId
                                  : 0);
    }
    drop_schema(l.schema, 0);
    return 0;
}

#endif
