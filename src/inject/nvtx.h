/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the files of libgnomon-nvtx.so share. A program with NVTX's marks loads the
 * library by $NVTX_INJECTION64_PATH. It turns NVTX's marks into gnomon's through the
 * public headers, as any host would (docs/nsight.md).
 *
 * Names, domains and categories are never freed, so a handle that the program kept
 * stays valid, also after nvtxDomainDestroy. They are in lists that grow only at
 * their head, by one compare and swap. So there is no lock that a fork could leave
 * held, or that could deadlock with the loader's. */
#ifndef GNOMON_INJECT_NVTX_H
#define GNOMON_INJECT_NVTX_H

#define NVTX_NO_IMPL
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtSync.h>
#if __has_include(<nvtx3/nvToolsExtPayload.h>)
#include <nvtx3/nvToolsExtPayload.h>
#endif
#if __has_include(<nvtx3/nvToolsExtCounters.h>)
#include <nvtx3/nvToolsExtCounters.h>
#endif

/* Older headers have no extensions, or other names in them: built with those, the
 * extensions' payloads and counters are not recorded. */
#if defined(NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME) && \
    defined(NVTX3EXT_CBID_nvtxCounterRegister)
#define GNOMON__INJECT_EXTENSIONS 1
#else
#define GNOMON__INJECT_EXTENSIONS 0
#endif

#include "gnomon.h"
#include "platform/atomic.h"

#define GNOMON__INJECT_ON() likely(load_relaxed(&gnomon_enabled) != 0)

/* ---- Memory --------------------------------------------------------------- */

/* Zeroed memory, or NULL. Keeps errno for the host. nvtx_text.c. */
void *gnomon__inject_alloc(size_t bytes);

/* Counts one more in *made; 0: there are `most` already. The first refusal while gnomon
 * is on is logged as "more than `most` `what`", unless that is NULL. nvtx_names.c. */
int gnomon__inject_reserve(uint32_t *made, uint32_t most, const char *what);

/* A text, which is the caller's, in `buffer` or in `kept`. Free it with
 * gnomon__inject_text_free. */
typedef struct gnomon__inject_text {
    const char *text;
    size_t length; /* of a title, which is not terminated; else not set */
    char *kept;
    char buffer[512];
} gnomon__inject_text;

/* ---- Names (nvtx_names.c) ------------------------------------------------- */

typedef struct gnomon__inject_label { /* a category's name: nvtxNameCategory */
    struct gnomon__inject_label *next;
    uint32_t category;
    char text[];
} gnomon__inject_label;

/* nvtxDomainHandle_t points to one; NULL is the default domain. */
typedef struct gnomon__inject_domain {
    struct gnomon__inject_domain *next;
    gnomon__inject_label *labels; /* newest first */
    uint32_t labelled;            /* how often labels changed */
    uint32_t index;               /* dense: of threads' stacks */
    const char *text;             /* "": the default one */
} gnomon__inject_domain;

/* The counter of one field of a payload, for one text: "text.field". */
typedef struct gnomon__inject_field_counter {
    struct gnomon__inject_field_counter *next;
    const void *field;
    gnomon_region *counter; /* fields of one name share it */
    char text[];
} gnomon__inject_field_counter;

/* gnomon's regions for a text with one category. Only the first four fields change. */
typedef struct gnomon__inject_regions {
    uint32_t labelled; /* the domain's, when the category was read */
    gnomon__inject_field_counter *field_counters; /* newest first */
    gnomon_region mark;
    gnomon_region counter; /* of payloads without a field's name */
    gnomon_region *scope;
    uint32_t category;
    struct gnomon__inject_regions *next;
    struct gnomon__inject_name *name;
} gnomon__inject_regions;

/* A text. nvtxStringHandle_t points to one; an inline text is looked up. */
typedef struct gnomon__inject_name {
    struct gnomon__inject_name *next;
    struct gnomon__inject_domain *domain;
    gnomon__inject_regions *regions; /* newest first: usually one */
    uint64_t hash;
    const char *text;
} gnomon__inject_name;

extern gnomon__inject_domain gnomon__inject_default;

/* Never NULL. A domain of a known name is that one. */
gnomon__inject_domain *gnomon__inject_domain_of(const char *text);
void gnomon__inject_label_set(gnomon__inject_domain *domain, uint32_t category,
                              const char *text);

/* The title of a text, under which it is recorded: gnomon__inject_bare's part of it,
 * with numbers replaced by "#" if `replaces_numbers` (nvtx_numbers.c); a long text
 * without memory keeps its numbers. gnomon__inject_replaces_numbers is the setting for texts of events. */
void gnomon__inject_title_of(gnomon__inject_text *out, const char *text,
                             int replaces_numbers);
extern uint32_t gnomon__inject_replaces_numbers;

/* Writes a text of `n` bytes with its numbers replaced by "#" to `out`, which has room
 * for `n` bytes. Returns how many it wrote. */
size_t gnomon__inject_replace_numbers(char *out, const char *text, size_t n);

/* Once gnomon is on, reads whether $GNOMON has fold=off. Not in a mark. */
void gnomon__inject_read_fold_option(void);

/* The name of this title, made at its first use. Never NULL: "(other)" past the limit
 * of names, or without memory. */
gnomon__inject_name *
gnomon__inject_name_titled(gnomon__inject_domain *domain,
                           const gnomon__inject_text *title);
/* The name of a text. Numbers are replaced in texts of events, but not in names of
 * objects, which they tell apart. */
gnomon__inject_name *gnomon__inject_name_of(gnomon__inject_domain *domain,
                                            const char *text,
                                            int replaces_numbers);

/* The slow half of the next function: makes the regions, or finds those of the
 * category's present name. Never NULL: "(other)" where gnomon takes no new names. */
gnomon__inject_regions *gnomon__inject_regions_make(gnomon__inject_name *name,
                                                    uint32_t category);

static inline int gnomon__inject_fits(const gnomon__inject_regions *p,
                                      const gnomon__inject_domain *domain,
                                      uint32_t category)
{
    return p->category == category &&
           load_relaxed(&p->labelled) == load_relaxed(&domain->labelled);
}

static inline gnomon__inject_regions *
gnomon__inject_regions_of(gnomon__inject_name *name, uint32_t category)
{
    gnomon__inject_regions *p =
        load_acquire(&name->regions); /* partner: make */
    for (; p; p = p->next)
        if (likely(gnomon__inject_fits(p, name->domain, category)))
            return p;
    return gnomon__inject_regions_make(name, category);
}

/* The counter of this field, called `name`. NULL: past the limit, or no memory. */
gnomon_region *gnomon__inject_field_counter_of(gnomon__inject_regions *regions,
                                               const void *field,
                                               const char *name);

/* ---- Threads (nvtx_thread.c) ---------------------------------------------- */

typedef struct gnomon__inject_level {
    gnomon_token token;              /* 0: no profiler wants it */
    gnomon_token below;              /* the newest when it was pushed */
    gnomon__inject_regions *regions; /* NULL: gnomon was off */
} gnomon__inject_level;

/* The open pushes of one domain on one thread. */
typedef struct gnomon__inject_stack {
    uint32_t depth; /* pushes beyond `room` are counted, not recorded */
    size_t room;
    gnomon__inject_level *levels;
} gnomon__inject_stack;

/* The regions of an inline text, by its pointer. */
typedef struct gnomon__inject_cached_text {
    const char *pointer;
    gnomon__inject_regions *regions;
} gnomon__inject_cached_text;

#define GNOMON__INJECT_CACHED_TEXTS 256u /* a power of two */

typedef struct gnomon__inject_thread {
    gnomon__inject_stack *stacks; /* by the domain's index */
    size_t stack_count;
    gnomon_token newest; /* the last open push in any domain */
    gnomon__inject_cached_text cached[GNOMON__INJECT_CACHED_TEXTS];
} gnomon__inject_thread;

/* The calling thread's; NULL before its first mark while gnomon was on. */
extern __thread gnomon__inject_thread *gnomon__inject_this_thread;

/* Whether any thread ever had one: else a pop need not read thread-local storage. */
extern uint32_t gnomon__inject_any_thread;

/* Makes the calling thread's state; NULL: no memory. */
gnomon__inject_thread *gnomon__inject_thread_make(void);

/* The stack of this domain, with room for one more push if there is memory. NULL: no
 * memory for the stack itself. */
gnomon__inject_stack *gnomon__inject_stack_grow(gnomon__inject_thread *t,
                                                uint32_t index);

/* The regions of an inline text, which may be NULL. They are cached in `t`, unless
 * that is NULL. */
gnomon__inject_regions *gnomon__inject_inline(gnomon__inject_thread *t,
                                              gnomon__inject_domain *domain,
                                              uint32_t category,
                                              const char *text);

/* ---- Texts (nvtx_text.c) -------------------------------------------------- */

/* As UTF-8; "(null)" for NULL. A text longer than the buffer is cut where there is no
 * memory. */
void gnomon__inject_wide(gnomon__inject_text *out, const wchar_t *wide);
/* `count` units of `width` bytes, of UTF-8, 16 or 32, at any address. */
void gnomon__inject_units(gnomon__inject_text *out, const void *units,
                          size_t count, size_t width);
/* `type`: nvtxMessageType_t; any other is no text. */
void gnomon__inject_message(gnomon__inject_text *out, int32_t type,
                            nvtxMessageValue_t message);
void gnomon__inject_text_free(gnomon__inject_text *text);

/* A callback with a wide text, `wide`: does `statement` with it as text.text. */
#define GNOMON__INJECT_WIDE(type, name, parameters, statement) \
    static type NVTX_API name parameters \
    { \
        __attribute__((cleanup(gnomon__inject_text_free))) \
        gnomon__inject_text text; \
        gnomon__inject_wide(&text, wide); \
        statement; \
    }

/* The length of a text without what PyTorch's emit_nvtx appends to each call's text
 * (", seq = 12"), which would make each call a new name. O(length). */
size_t gnomon__inject_bare(const char *text);

/* ---- Callbacks, by the modules of NVTX ------------------------------------ */

/* A callback or, in an extension, the function of a slot. */
typedef struct gnomon__inject_call {
    uint32_t module; /* NVTX_CB_MODULE_*; not of an extension */
    uint32_t id;     /* in its module or extension */
    NvtxFunctionPointer function;
} gnomon__inject_call;

#define GNOMON__INJECT_CALL(module, name, function) \
    { \
        NVTX_CB_MODULE_##module, NVTX_CBID_##module##_##name, \
            (NvtxFunctionPointer)(function) \
    }

/* Each ends with one without a function. */
extern const gnomon__inject_call gnomon__inject_marks[];   /* nvtx_marks.c */
extern const gnomon__inject_call gnomon__inject_handles[]; /* nvtx_handles.c */
extern const gnomon__inject_call
    gnomon__inject_resources[]; /* nvtx_resources.c */

static inline gnomon__inject_domain *
gnomon__inject_domain_at(nvtxDomainHandle_t handle)
{
    return handle ? (gnomon__inject_domain *)(void *)handle
                  : &gnomon__inject_default;
}

/* Begins a scope as the domain's innermost push on this thread, and ends it. Both
 * return its level, which is negative where there is none. `regions` is NULL where
 * gnomon is off. */
int gnomon__inject_push(const gnomon__inject_domain *domain,
                        gnomon__inject_regions *regions);
int gnomon__inject_pop(const gnomon__inject_domain *domain);

/* What torch says behind the first `length` bytes of a text (nvtx_torch.c): the region of
 * its operation, `scope` where there is none; and the link of the scope that was begun. */
gnomon_region *gnomon__inject_torch_region(gnomon_region *scope,
                                           const char *text, size_t length);
void gnomon__inject_torch_link(const char *text, size_t length);

/* ---- Extensions ------------------------------------------------------------ */

#if GNOMON__INJECT_EXTENSIONS

/* A predefined type (nvtx_types.c): its size in bytes, 0 if unknown; that of a text's
 * unit, 0 if it is no text; and whether it is a number that measures something. */
size_t gnomon__inject_type_size(uint64_t type);
size_t gnomon__inject_text_unit(uint64_t type);
int gnomon__inject_is_number(uint64_t type);

/* Reads such a number. 0: not a number, or longer than `room` bytes. */
int gnomon__inject_number(double *out, uint64_t type, const void *at,
                          size_t room);

/* What was registered under an id of a domain: the first field of a schema or
 * counter. */
typedef struct gnomon__inject_entry {
    struct gnomon__inject_entry *next;
    const gnomon__inject_domain *domain;
    uint64_t id;
} gnomon__inject_entry;

#define GNOMON__INJECT_BUCKETS 256u

typedef struct gnomon__inject_table {
    const char *what; /* for the log line at its limit */
    uint32_t made;
    uint32_t chosen; /* how many ids gnomon has chosen */
    gnomon__inject_entry *buckets[GNOMON__INJECT_BUCKETS];
} gnomon__inject_table;

/* NULL: the id is unknown. */
gnomon__inject_entry *gnomon__inject_find(const gnomon__inject_table *table,
                                          const gnomon__inject_domain *domain,
                                          uint64_t id);

/* Adds `known` under the program's id, or a new one where `id` is 0. Returns what has
 * the id now, which may be an older entry. NULL: a program may not choose this id, or
 * the table is full. `known` stays the caller's unless it is returned. */
gnomon__inject_entry *gnomon__inject_add(gnomon__inject_table *table,
                                         gnomon__inject_entry *known,
                                         const gnomon__inject_domain *domain,
                                         uint64_t id);

/* A field of a payload that is recorded: a named number, the event's text, or its
 * category. Never changes. */
typedef struct gnomon__inject_field {
    struct gnomon__inject_field *next;
    uint64_t offset;
    uint64_t units;         /* length of a text; 0: up to its terminator */
    uint64_t length_offset; /* of a field with the length: length_type */
    uint16_t type;          /* NVTX_PAYLOAD_ENTRY_TYPE_*, not a schema's */
    uint16_t length_type;
    uint32_t is_pointer;
    const char *name; /* "a.b"; "": of an enum, a text, a category */
} gnomon__inject_field;

/* A registered layout, with the fields of nested ones. An enum is a layout whose only
 * field is its number. */
typedef struct gnomon__inject_schema {
    gnomon__inject_entry known;
    gnomon__inject_field *fields;
    uint64_t size; /* 0: unknown */
    uint32_t align;
    uint8_t is_enum, is_union;
    uint16_t has_texts; /* whether a field is the event's text or category */
    const char *name;   /* NULL: none */
} gnomon__inject_schema;

const gnomon__inject_schema *
gnomon__inject_schema_of(const gnomon__inject_domain *domain, uint64_t id);
uint64_t NVTX_API gnomon__inject_schema_register(
    nvtxDomainHandle_t handle, const nvtxPayloadSchemaAttr_t *attributes);
uint64_t NVTX_API gnomon__inject_enum_register(
    nvtxDomainHandle_t handle, const nvtxPayloadEnumAttr_t *attributes);

/* The regions of an event: those of its own attributes, `regions`, which may be NULL,
 * unless its payloads give another text or category. Never NULL. */
gnomon__inject_regions *
gnomon__inject_payload_regions(gnomon__inject_domain *domain,
                               gnomon__inject_regions *regions,
                               const nvtxPayloadData_t *payloads, size_t count);

/* Samples the payloads' numbers. A field without a name goes to the regions' own
 * counter. */
void gnomon__inject_field_sample(gnomon__inject_regions *regions,
                                 const gnomon__inject_field *field,
                                 double value);
void gnomon__inject_payload_sample(const gnomon__inject_domain *domain,
                                   gnomon__inject_regions *regions,
                                   const nvtxPayloadData_t *payloads,
                                   size_t count);

#define GNOMON__INJECT_SLOT(name, function) \
    { \
        0, NVTX3EXT_CBID_##name, (NvtxFunctionPointer)(function) \
    }

extern const gnomon__inject_call gnomon__inject_payloads[]; /* nvtx_marks.c */
extern const gnomon__inject_call
    gnomon__inject_counters[]; /* nvtx_counters.c */

#endif
#endif
