/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What structured payloads (nvtx3/nvToolsExtPayload.h) say of their event: its text,
 * its category and its numbers. If several payloads give a text or a category, the
 * last one counts, as NVTX's header says. An event of payloads without a text has the
 * name of the first layout that has one.
 *
 * Invariant: nothing is read past the end that a payload and its layout state. Only a
 * pointer to a text outside all payloads is trusted, as the core's texts are. */
#include <string.h>

#include "inject/nvtx.h"

#if GNOMON__INJECT_EXTENSIONS

/* How many bytes of a payload may be read. If the program gives no size, it is
 * that of the layout or type. */
static size_t bytes_of(const nvtxPayloadData_t *payload,
                       const gnomon__inject_schema *schema)
{
    size_t size = schema ? schema->size : 0;
    if (!payload->payload)
        return 0;
    if (payload->size == SIZE_MAX)
        return schema ? size : gnomon__inject_type_size(payload->schemaId);
    return size && size < payload->size ? size : payload->size;
}

/* ---- Texts ------------------------------------------------------------------- */

/* The text and category that an event's payloads give it. */
typedef struct payload_message {
    const gnomon__inject_field *text;
    const nvtxPayloadData_t *from; /* the payload with the text */
    size_t from_bytes;
    const char *schema; /* NULL: no layout has a name */
    uint32_t category;
    uint32_t has_category;
} payload_message;

/* Bytes from `at` to the end of the payload that holds it; SIZE_MAX: none does. */
static size_t room_at(const char *at, const nvtxPayloadData_t *payloads,
                      size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uintptr_t begin = (uintptr_t)payloads[i].payload;
        uintptr_t offset = (uintptr_t)at - begin;
        if (begin && payloads[i].size != SIZE_MAX && offset < payloads[i].size)
            return payloads[i].size - offset;
    }
    return SIZE_MAX;
}

/* Units of `width` bytes before the first that is zero, at most `most`. */
static size_t length_of(const char *at, size_t width, size_t most)
{
    static const char zero[4];
    size_t n = 0;
    if (width == 1)
        return most < SIZE_MAX ? strnlen(at, most) : strlen(at);
    while (n < most && memcmp(at + n * width, zero, width) != 0)
        n++;
    return n;
}

/* Reads a text that is not a registered one; "(null)" where it is not within its
 * payload. */
static void read_message(gnomon__inject_text *out, const payload_message *s,
                         const nvtxPayloadData_t *payloads, size_t count)
{
    const gnomon__inject_field *f = s->text;
    const char *base = s->from->payload, *at = base + f->offset;
    size_t bytes = s->from_bytes, width = gnomon__inject_text_unit(f->type);
    size_t room = f->offset < bytes ? bytes - f->offset : 0;
    double length = 0;
    out->kept = NULL;
    out->text = "(null)";
    if (f->length_type && (f->length_offset >= bytes ||
                           !gnomon__inject_number(&length, f->length_type,
                                                  base + f->length_offset,
                                                  bytes - f->length_offset)))
        return;
    if (!width || room < (f->is_pointer ? sizeof at : width))
        return;
    if (f->is_pointer) {
        uintptr_t address;
        memcpy(&address, at, sizeof address);
        if (!address)
            return;
        at = (const char *)address;
        room = room_at(at, payloads, count);
    }
    size_t most = room == SIZE_MAX ? room : room / width;
    if (f->units && f->units < most)
        most = f->units;
    if (f->length_type && !(length >= (double)most))
        most = length > 0 ? (size_t)length : 0;
    gnomon__inject_units(out, at, length_of(at, width, most), width);
}

static gnomon__inject_regions *text_regions(gnomon__inject_domain *domain,
                                            uint32_t category,
                                            const payload_message *s,
                                            const nvtxPayloadData_t *payloads,
                                            size_t count)
{
    gnomon__inject_text text;
    gnomon__inject_name *name = NULL;
    if (s->text->type ==
        NVTX_PAYLOAD_ENTRY_TYPE_NVTX_REGISTERED_STRING_HANDLE) {
        size_t at = s->text->offset;
        if (at < s->from_bytes && s->from_bytes - at >= sizeof name)
            memcpy(&name, (const char *)s->from->payload + at, sizeof name);
        if (name && name->domain == domain)
            return gnomon__inject_regions_of(name, category);
        return gnomon__inject_inline(NULL, domain, category,
                                     name ? name->text : NULL);
    }
    read_message(&text, s, payloads, count);
    /* Not cached: the next text may be at the same address. */
    gnomon__inject_regions *p =
        gnomon__inject_inline(NULL, domain, category, text.text);
    gnomon__inject_text_free(&text);
    return p;
}

/* ---- Regions ----------------------------------------------------------------- */

static void read_schema(payload_message *s, const gnomon__inject_schema *schema,
                        const nvtxPayloadData_t *payload)
{
    size_t bytes = bytes_of(payload, schema);
    const gnomon__inject_field *f = schema->has_texts ? schema->fields : NULL;
    if (!s->schema)
        s->schema = schema->name;
    for (; f && bytes; f = f->next) {
        if (f->type == NVTX_PAYLOAD_ENTRY_TYPE_CATEGORY) {
            if (f->offset >= bytes || bytes - f->offset < sizeof s->category)
                continue;
            memcpy(&s->category, (const char *)payload->payload + f->offset,
                   sizeof s->category);
            s->has_category = 1;
        } else if (!gnomon__inject_is_number(f->type)) {
            s->text = f;
            s->from = payload;
            s->from_bytes = bytes;
        }
    }
}

gnomon__inject_regions *
gnomon__inject_payload_regions(gnomon__inject_domain *domain,
                               gnomon__inject_regions *regions,
                               const nvtxPayloadData_t *payloads, size_t count)
{
    payload_message s = {.text = NULL};
    for (size_t i = 0; payloads && i < count; i++) {
        const gnomon__inject_schema *schema =
            gnomon__inject_schema_of(domain, payloads[i].schemaId);
        if (schema)
            read_schema(&s, schema, &payloads[i]);
    }
    uint32_t category = s.has_category ? s.category
                        : regions      ? regions->category
                                       : 0;
    if (s.text)
        return text_regions(domain, category, &s, payloads, count);
    if (!regions)
        return gnomon__inject_inline(NULL, domain, category, s.schema);
    if (category == regions->category || regions->name->domain != domain)
        return regions;
    return gnomon__inject_regions_of(regions->name, category);
}

/* ---- Numbers ----------------------------------------------------------------- */

void gnomon__inject_field_sample(gnomon__inject_regions *regions,
                                 const gnomon__inject_field *f, double value)
{
    gnomon_region *counter =
        *f->name ? gnomon__inject_field_counter_of(regions, f, f->name)
                 : &regions->counter;
    if (counter)
        gnomon_counter(counter, value);
}

static void sample_at(gnomon__inject_regions *regions,
                      const gnomon__inject_field *f,
                      const nvtxPayloadData_t *payload, size_t bytes)
{
    double value;
    if (f->offset < bytes &&
        gnomon__inject_number(&value, f->type,
                              (const char *)payload->payload + f->offset,
                              bytes - f->offset))
        gnomon__inject_field_sample(regions, f, value);
}

void gnomon__inject_payload_sample(const gnomon__inject_domain *domain,
                                   gnomon__inject_regions *regions,
                                   const nvtxPayloadData_t *payloads,
                                   size_t count)
{
    for (size_t i = 0; payloads && i < count; i++) {
        const nvtxPayloadData_t *p = &payloads[i];
        const gnomon__inject_schema *schema =
            gnomon__inject_schema_of(domain, p->schemaId);
        size_t bytes = bytes_of(p, schema);
        const gnomon__inject_field *f = schema ? schema->fields : NULL;
        for (; f; f = f->next)
            sample_at(regions, f, p, bytes);
        size_t one = gnomon__inject_type_size(p->schemaId);
        gnomon__inject_field bare = {.type = (uint16_t)p->schemaId, .name = ""};
        if (one && bytes / one == 1) /* more are an array */
            sample_at(regions, &bare, p, bytes);
    }
}

#endif
