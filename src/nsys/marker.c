/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The rules are those of PyProf's parser, in its order, by which the same ranges are the
 * same markers. Unlike it, a number may be followed by torch's op_id and sizes. */
#include "nsys/marker.h"

#include <stdlib.h>
#include <string.h>

#include "ops/torch_text.h"
#include "platform/memory.h"
#include "platform/utf8.h"

static const char *after(const char *text, const char *words)
{
    const char *at = strstr(text, words);
    return at ? at + strlen(words) : NULL;
}

/* In either quotes: PyProf's are those of Python. */
static bool has_keys(const char *text, const char *const *keys)
{
    for (; *keys; keys++) {
        const size_t n = strlen(*keys);
        const char *at = text;
        while ((at = strstr(at, *keys)) &&
               (at == text || !strchr("'\"", at[-1]) || at[n] != at[-1]))
            at += n;
        if (!at)
            return false;
    }
    return true;
}

static bool is_backward_name(const char *text)
{
    return strstr(text, "_backward, seq =") ||
           strstr(text, "Backward, seq =") || strstr(text, "Backward0, seq =");
}

/* Without namespaces and the words of a backward pass. */
static void put_forward_name(const char *name, size_t length, char *out)
{
    static const char *const left_out[] = {
        "autograd::engine::evaluate_function: ",
        "torch",
        "autograd",
        "_backward",
        "::",
        "jit",
        "(anonymous namespace)",
        "Backward"};
    size_t n = 0, i = 0;
    while (i < length) {
        size_t skipped = 0, k = 0;
        for (; !skipped && k < sizeof left_out / sizeof *left_out; k++) {
            const size_t m = strlen(left_out[k]);
            if (m <= length - i && !memcmp(name + i, left_out[k], m))
                skipped = m;
        }
        if (skipped && k == sizeof left_out / sizeof *left_out)
            break; /* nothing behind "Backward" */
        if (skipped)
            i += skipped;
        else
            out[n++] = name[i++];
    }
    out[n] = 0;
}

static void read_seq(gnomon__marker *m)
{
    static const char *const fields[] = {
        ", seq = ", ", op_id = ", ", sizes = ", ", input_op_ids = "};
    const char *sizes = after(m->text, fields[2]);
    m->kind = GNOMON__MARKER_SEQ;
    m->name_length = m->length;
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        const char *at = strstr(m->text, fields[i]);
        if (at && (size_t)(at - m->text) < m->name_length)
            m->name_length = (size_t)(at - m->text);
    }
    m->is_backward = is_backward_name(m->text) ||
                     gnomon__torch_is_backward(m->text, m->name_length);
    m->sizes = sizes && *sizes == '[' ? sizes : NULL;
    char *op = m->text + m->length + 1;
    if (m->is_backward) {
        put_forward_name(m->text, m->name_length, op);
    } else {
        memcpy(op, m->text, m->name_length);
        op[m->name_length] = 0;
    }
}

/* Behind the text and the operation there is room for a SEQ's. */
static const char *name_of(gnomon__marker *m)
{
    static const char engine[] = "autograd::engine::evaluate_function: ";
    const char *from = after(m->text, engine);
    const char *name;
    char *to;
    switch (m->kind) {
    case GNOMON__MARKER_SEQ:
        from = from && from < m->text + m->name_length ? from : m->text;
        to = m->text + m->length + 1;
        to += strlen(to) + 1;
        memcpy(to, from, (size_t)(m->text + m->name_length - from));
        to[m->text + m->name_length - from] = 0;
        return to;
    case GNOMON__MARKER_ARGS:
        name = gnomon__literal_text_of(m->value, "name");
        return name ? name : gnomon__literal_text_of(m->value, "op");
    case GNOMON__MARKER_LAYER:
        return strchr(m->text, ':') + 1;
    case GNOMON__MARKER_OTHER:
        return m->text;
    default:
        return NULL;
    }
}

static void classify_other(gnomon__marker *m)
{
    m->kind = GNOMON__MARKER_OTHER;
    if (strstr(m->text, ", seq = ") || strstr(m->text, ", op_id = "))
        read_seq(m);
}

static void classify(gnomon__marker *m)
{
    static const char *const args[] = {"mod", "op", "args", "type", NULL};
    const char *text = m->text;
    if (strstr(text, "CheckpointFunctionBackward"))
        m->kind = GNOMON__MARKER_IGNORED;
    else if (is_backward_name(text))
        read_seq(m);
    else if (*text == '{' && has_keys(text, args))
        m->kind = GNOMON__MARKER_ARGS;
    else if (strstr(text, "layer:"))
        m->kind = GNOMON__MARKER_LAYER;
    else if (strstr(text, "traceMarker"))
        m->kind = GNOMON__MARKER_TRACE;
    else if (strstr(text, "strRepr"))
        m->kind = GNOMON__MARKER_REPR;
    else
        classify_other(m);
    if (*text == '{')
        m->value = gnomon__literal_read(&m->literals, text, m->length);
    const gnomon__literal *backward = gnomon__literal_get(m->value, "backward");
    if (backward && m->kind == GNOMON__MARKER_ARGS)
        m->is_backward = backward->of.integer == 1;
    m->name = name_of(m);
    if (m->name && !*m->name)
        m->name = NULL;
}

bool gnomon__marker_set(gnomon__marker *m, const char *text, size_t length)
{
    const size_t most = 3 * length; /* what is no UTF-8 grows so much */
    if (!gnomon__grow(&m->text, &m->room, 3 * most + 3, 1))
        return false;
    gnomon__utf8_clean(text, length, m->text, most + 1, NULL);
    *m = (gnomon__marker){.text = m->text,
                          .length = strlen(m->text),
                          .room = m->room,
                          .literals = m->literals};
    m->name_length = m->length;
    classify(m);
    return true;
}

void gnomon__marker_free(gnomon__marker *m)
{
    gnomon__free(m->text);
    gnomon__literals_free(&m->literals);
    *m = (gnomon__marker){0};
}

FILE *gnomon__marker_begin(gnomon__marker_text *t)
{
    if (t->to)
        rewind(t->to);
    else
        t->to = open_memstream(&t->text, &t->size);
    return t->to;
}

bool gnomon__marker_end(gnomon__marker_text *t, gnomon__marker *m)
{
    fputc(0, t->to);
    return !fflush(t->to) && gnomon__marker_set(m, t->text, strlen(t->text));
}

void gnomon__marker_text_free(gnomon__marker_text *t)
{
    if (t->to)
        fclose(t->to);
    free(t->text);
}
