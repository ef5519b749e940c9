/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* NVTX in: what the files of libgnomon-nvtx.so share. Programs with NVTX's marks
 * load it by $NVTX_INJECTION64_PATH; it makes gnomon's marks of them through the
 * public headers, as any host does (docs/nvtx.md).
 *
 * Names, domains and categories are made once and stay: a handle that a program
 * kept is never dangling, also after nvtxDomainDestroy. They hang in lists that
 * only grow at their head, by one compare and swap, so nothing here takes a lock
 * that a fork or the loader's could meet. */
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

/* Headers before these have none of the extensions, or other names in them:
 * with them payloads of extensions leave nothing. */
#if defined(NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME) && \
    defined(NVTX3EXT_CBID_nvtxCounterRegister)
#define GNOMON__INJECT_EXTENSIONS 1
#else
#define GNOMON__INJECT_EXTENSIONS 0
#endif

#include "gnomon.h"
#include "platform/atomic.h"

#define GNOMON__INJECT_ON() likely(load_relaxed(&gnomon_enabled) != 0)

/* ---- What stays (nvtx_names.c) -------------------------------------------- */

/* Zeroed memory that stays, or NULL; errno is the host's. */
void *gnomon__inject_alloc(size_t bytes);

/* Whether one more than `made` may be kept; the first that may not is told, as
 * "more than 10 `what`". */
int gnomon__inject_reserve(uint32_t *made, uint32_t most, const char *what);

/* ---- Names (nvtx_names.c) ------------------------------------------------- */

typedef struct gnomon__inject_label { /* what nvtxNameCategory said */
    struct gnomon__inject_label *next;
    uint32_t category;
    char text[];
} gnomon__inject_label;

/* nvtxDomainHandle_t leads to one; NULL is the default domain. */
typedef struct gnomon__inject_domain {
    struct gnomon__inject_domain *next;
    gnomon__inject_label *labels; /* newest first */
    uint32_t labelled;            /* how often labels changed */
    uint32_t index;               /* dense: of threads' stacks */
    const char *text;             /* "": the default one */
} gnomon__inject_domain;

/* What one field of a layout measures in one place: "text.field". Fields of one
 * name have one counter. */
typedef struct gnomon__inject_field_counter {
    struct gnomon__inject_field_counter *next;
    const void *field;
    gnomon_region *counter; /* this one's, or an older one's */
    gnomon_region own;
    char text[];
} gnomon__inject_field_counter;

/* A text with one category of its domain: where marks of it go. All but the
 * first four fields never change. */
typedef struct gnomon__inject_regions {
    uint32_t labelled; /* the domain's, when last compared with */
    gnomon__inject_field_counter *field_counters; /* newest first */
    gnomon_region mark;                           /* the text as a mark, */
    gnomon_region counter; /* and as what its payloads measure */
    gnomon_region *scope;
    uint32_t category;
    struct gnomon__inject_regions *next;
    struct gnomon__inject_name *name;
} gnomon__inject_regions;

/* nvtxStringHandle_t leads to one, and inline texts are one too. */
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

/* What a text is called by. `text` is not terminated; it is the caller's, or here.
 * Free what is kept. */
typedef struct gnomon__inject_title {
    const char *text;
    size_t length;
    char *kept;
    char buffer[512];
} gnomon__inject_title;

/* Of the bare text; with `replaces_numbers` its numbers are "#" (nvtx_numbers.c), which is what
 * gnomon__inject_replaces_numbers says of texts of events. Where there is no memory for a long one
 * it is as it was. */
void gnomon__inject_title_of(gnomon__inject_title *out, const char *text,
                             int replaces_numbers);
extern uint32_t gnomon__inject_replaces_numbers;

/* Of the `n` bytes of a text, of which `out` has room for as many: how many it
 * comes to. */
size_t gnomon__inject_replace_numbers(char *out, const char *text, size_t n);

/* Asks gnomon whether fold=off was said, once it is on. Not in a mark. */
void gnomon__inject_read_fold_option(void);

/* By its title. Never NULL; "(other)" past the limit of names or out of memory. */
gnomon__inject_name *
gnomon__inject_name_titled(gnomon__inject_domain *domain,
                           const gnomon__inject_title *title);
/* Of a text: of an event, or of a thing, whose numbers tell it from others. */
gnomon__inject_name *gnomon__inject_name_of(gnomon__inject_domain *domain,
                                            const char *text,
                                            int replaces_numbers);

/* The slow half of the next: made anew, or under the label of today. Never
 * NULL; of "(other)" where gnomon takes no new names. */
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

/* The counter of this field, called `name`; NULL past the limit of them, or out
 * of memory. */
gnomon_region *gnomon__inject_field_counter_of(gnomon__inject_regions *regions,
                                               const void *field,
                                               const char *name);

/* ---- Threads (nvtx_thread.c) ---------------------------------------------- */

typedef struct gnomon__inject_level {
    gnomon_token token;              /* 0: nobody wants it */
    gnomon_token below;              /* the newest when it was pushed */
    gnomon__inject_regions *regions; /* NULL: gnomon was off */
} gnomon__inject_level;

/* The open pushes of one domain on one thread. */
typedef struct gnomon__inject_stack {
    uint32_t depth; /* what is pushed past `room` is not recorded */
    size_t room;
    gnomon__inject_level *levels;
} gnomon__inject_stack;

/* A pointer seen as an inline text, and what it said. */
typedef struct gnomon__inject_cached_text {
    const char *pointer;
    gnomon__inject_regions *regions;
} gnomon__inject_cached_text;

#define GNOMON__INJECT_CACHED_TEXTS 256u /* a power of two */

typedef struct gnomon__inject_thread {
    gnomon__inject_stack *stacks; /* by the domain's index */
    size_t stack_count;
    gnomon_token newest; /* pushed last of what is open, in any domain */
    gnomon__inject_cached_text cached[GNOMON__INJECT_CACHED_TEXTS];
} gnomon__inject_thread;

/* The calling thread's; NULL before its first mark while gnomon was on. */
extern __thread gnomon__inject_thread *gnomon__inject_this_thread;

/* Whether any thread ever had one: else a pop need not ask for its own. */
extern uint32_t gnomon__inject_any_thread;

/* Makes it; NULL: no memory. */
gnomon__inject_thread *gnomon__inject_thread_make(void);

/* The stack of this domain, with room for one more if there is memory; NULL:
 * there is no stack either. */
gnomon__inject_stack *gnomon__inject_stack_grow(gnomon__inject_thread *t,
                                                uint32_t index);

/* The place of an inline text; any pointer, NULL too. `t`: NULL, or where to
 * remember it. */
gnomon__inject_regions *gnomon__inject_inline(gnomon__inject_thread *t,
                                              gnomon__inject_domain *domain,
                                              uint32_t category,
                                              const char *text);

/* ---- Texts (nvtx_text.c) -------------------------------------------------- */

/* A text as UTF-8; never NULL, "(null)" where there is none. Free what is kept.
 * A wide text that the buffer does not hold is cut where there is no memory. */
typedef struct gnomon__inject_text {
    const char *text;
    char *kept;
    char buffer[512];
} gnomon__inject_text;
void gnomon__inject_wide(gnomon__inject_text *out, const wchar_t *wide);
/* `count` units of `width` bytes, of UTF-8, 16 or 32, at any address. */
void gnomon__inject_units(gnomon__inject_text *out, const void *units,
                          size_t count, size_t width);
/* `type`: nvtxMessageType_t; any other is no text. */
void gnomon__inject_message(gnomon__inject_text *out, int32_t type,
                            nvtxMessageValue_t message);
void gnomon__inject_text_free(gnomon__inject_text *text);

/* Bytes of the text without what PyTorch's emit_nvtx hangs on each call's: they
 * would make each a name of its own. Linear in the text; of one without a comma,
 * its length. */
size_t gnomon__inject_bare(const char *text);

/* ---- Callbacks, by the modules of NVTX ------------------------------------ */

typedef struct gnomon__inject_module {
    NvtxCallbackModule id;
    uint32_t count; /* by callback id: with 0, which is none */
    const NvtxFunctionPointer *functions; /* NULL: not this file's */
} gnomon__inject_module;

#define GNOMON__INJECT_CALL(f) ((NvtxFunctionPointer)(f))
#define GNOMON__INJECT_MODULE(id, table) \
    { \
        id, sizeof(table) / sizeof *(table), table \
    }

/* Each ends with one whose count is 0. */
extern const gnomon__inject_module gnomon__inject_marks[]; /* nvtx_marks.c */
extern const gnomon__inject_module
    gnomon__inject_handles[]; /* nvtx_handles.c */
extern const gnomon__inject_module
    gnomon__inject_resources[]; /* nvtx_resources.c */

static inline gnomon__inject_domain *
gnomon__inject_domain_at(nvtxDomainHandle_t handle)
{
    return handle ? (gnomon__inject_domain *)(void *)handle
                  : &gnomon__inject_default;
}

/* Begins a scope as the domain's innermost push on this thread, and ends that:
 * their level, which is negative where there is none. `place`: NULL where gnomon
 * is off. */
int gnomon__inject_push(const gnomon__inject_domain *domain,
                        gnomon__inject_regions *regions);
int gnomon__inject_pop(const gnomon__inject_domain *domain);

/* Where the domain's innermost push on this thread is; NULL: nowhere. */
gnomon__inject_regions *
gnomon__inject_innermost(const gnomon__inject_domain *domain);

/* ---- Extensions ------------------------------------------------------------ */

#if GNOMON__INJECT_EXTENSIONS

/* Of a predefined type (nvtx_types.c): its bytes, 0 where nobody knows them; and
 * whether it is a number that measures something. */
size_t gnomon__inject_type_size(uint64_t type);
int gnomon__inject_is_number(uint64_t type);

/* Reads such a number; 0: it is none, or longer than `room` bytes. */
int gnomon__inject_number(double *out, uint64_t type, const void *at,
                          size_t room);

/* What is known by an id in its domain. */
typedef struct gnomon__inject_entry {
    struct gnomon__inject_entry *next;
    const gnomon__inject_domain *domain;
    uint64_t id;
} gnomon__inject_entry;

#define GNOMON__INJECT_BUCKETS 256u

typedef struct gnomon__inject_table {
    const char *what; /* for the line at its limit */
    uint32_t made;
    uint32_t chosen; /* of our ids */
    gnomon__inject_entry *buckets[GNOMON__INJECT_BUCKETS];
} gnomon__inject_table;

/* NULL: there is none. */
gnomon__inject_entry *gnomon__inject_find(const gnomon__inject_table *table,
                                          const gnomon__inject_domain *domain,
                                          uint64_t id);

/* Adds it under the program's own id, or a new one where that is 0. Returns what
 * has the id now, which may have been there before; NULL where the id is none
 * that a program may choose, or the table is full: `known` is the caller's. */
gnomon__inject_entry *gnomon__inject_add(gnomon__inject_table *table,
                                         gnomon__inject_entry *known,
                                         const gnomon__inject_domain *domain,
                                         uint64_t id);

/* A field that leaves something: a number with a name, the event's text, its
 * category. All fields never change. */
typedef struct gnomon__inject_field {
    struct gnomon__inject_field *next;
    uint64_t offset;
    uint64_t units;         /* of a text: 0: as far as its terminator */
    uint64_t length_offset; /* where there is a length's type */
    uint16_t type;          /* NVTX_PAYLOAD_ENTRY_TYPE_*, but no schema */
    uint16_t length_type;
    uint32_t is_pointer;
    const char *name; /* "a.b"; "": of an enum, a text, a category */
} gnomon__inject_field;

/* A registered layout with all that is nested in it; also an enum, whose only
 * field is its number. */
typedef struct gnomon__inject_schema {
    gnomon__inject_entry known;
    gnomon__inject_field *fields;
    uint64_t size; /* 0: nobody knows */
    uint32_t align;
    uint8_t is_enum, is_union;
    uint16_t tells;   /* whether a text or a category is among the fields */
    const char *name; /* NULL: none */
} gnomon__inject_schema;

const gnomon__inject_schema *
gnomon__inject_schema_of(const gnomon__inject_domain *domain, uint64_t id);
uint64_t NVTX_API gnomon__inject_schema_register(
    nvtxDomainHandle_t handle, const nvtxPayloadSchemaAttr_t *attributes);
uint64_t NVTX_API gnomon__inject_enum_register(
    nvtxDomainHandle_t handle, const nvtxPayloadEnumAttr_t *attributes);

/* An event's place once its payloads had their say: `place` is what its own
 * attributes said, or NULL. Never NULL. */
gnomon__inject_regions *
gnomon__inject_payload_regions(gnomon__inject_domain *domain,
                               gnomon__inject_regions *regions,
                               const nvtxPayloadData_t *payloads, size_t count);

/* Samples their numbers. A field without a name is its place's own. */
void gnomon__inject_field_sample(gnomon__inject_regions *regions,
                                 const gnomon__inject_field *field,
                                 double value);
void gnomon__inject_payload_sample(const gnomon__inject_domain *domain,
                                   gnomon__inject_regions *regions,
                                   const nvtxPayloadData_t *payloads,
                                   size_t count);

/* By slot, from 0. */
typedef struct gnomon__inject_extension {
    uint32_t id;
    uint32_t count;
    const NvtxFunctionPointer *functions; /* NULL: none of ours */
} gnomon__inject_extension;

extern const gnomon__inject_extension
    gnomon__inject_payloads; /* nvtx_payload.c */
extern const gnomon__inject_extension
    gnomon__inject_counters; /* nvtx_counters.c */

#endif
#endif
