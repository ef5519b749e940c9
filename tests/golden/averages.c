/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* torch's tables of key_averages(): rows that are added up already go to the
 * printer, events the whole way. */
#include "averages.h"

#include <stdlib.h>
#include <string.h>

#include "report/averages.h"

static const char *text_of(const json_t *of, const char *key)
{
    return json_string_value(json_object_get(of, key));
}

static int64_t whole_of(const json_t *of, const char *key, int64_t otherwise)
{
    const json_t *value = json_object_get(of, key);
    return json_is_integer(value) ? json_integer_value(value)
           : json_is_null(value)  ? -1
                                  : otherwise;
}

static bool is_true(const json_t *of, const char *key)
{
    return json_is_true(json_object_get(of, key));
}

/* As Python prints a list of lists. */
static char *shapes_text(const json_t *shapes)
{
    char *text = shapes && json_is_string(shapes)
                     ? strdup(json_string_value(shapes))
                     : NULL;
    if (!shapes || text)
        return text;
    return json_dumps(shapes, JSON_ENCODE_ANY);
}

/* A line for each. */
static char *frames_of(const json_t *of)
{
    const json_t *stack = json_object_get(of, "stack");
    char *text = calloc(1, 1);
    for (size_t i = 0; i < json_array_size(stack); i++) {
        const char *frame = json_string_value(json_array_get(stack, i));
        text = realloc(text, strlen(text) + strlen(frame) + 2);
        strcat(strcat(text, i ? "\n" : ""), frame);
    }
    return text;
}

static bool is_of_device(const json_t *of)
{
    return text_of(of, "device") && strcmp(text_of(of, "device"), "CPU") != 0;
}

static void read_event(const json_t *of, gnomon__average_event *e)
{
    const int64_t begin = whole_of(of, "start_ns", 0);
    const int64_t thread = whole_of(of, "thread", 0);
    *e = (gnomon__average_event){
        .name = text_of(of, "name"),
        .overload = text_of(of, "overload"),
        .shapes = shapes_text(json_object_get(of, "shapes")),
        .begin_ns = (uint64_t)begin,
        .end_ns = (uint64_t)whole_of(of, "end_ns", begin),
        .flops = (uint64_t)whole_of(of, "flops", 0),
        .thread = (uint64_t)thread,
        .end_thread = (uint64_t)whole_of(of, "end_thread", thread),
        .id = (uint64_t)whole_of(of, "id", 0),
        .linked = (uint64_t)whole_of(of, "linked_id", 0),
        .bytes = whole_of(of, "bytes", 0),
        .node = whole_of(of, "node_id", -1),
        .is_device = is_of_device(of),
        .is_annotation = is_true(of, "user_annotation"),
        .stack = frames_of(of)};
}

/* What the case keeps until it is printed. */
typedef struct averages_case {
    const json_t *given;
    gnomon__averages_by by;
    gnomon__average_event *events;
    char **texts; /* two of each */
} averages_case;

/* Each is a row of its own. */
static void read_rows(gnomon__report_rows *r)
{
    static const char numbers[][16] = {"cpu_total_ns", "device_total_ns",
                                       "cpu_mem",      "device_mem",
                                       "self_cpu_ns",  "self_device_ns",
                                       "self_cpu_mem", "self_device_mem",
                                       "count",        "flops"};
    averages_case *c = r->more;
    for (size_t i = 0; i < json_array_size(c->given); i++) {
        const json_t *of = json_array_get(c->given, i);
        gnomon__cell *cells = gnomon__report_row_of(r, 0);
        const char *overload = text_of(of, "overload");
        char **texts = &c->texts[2 * i];
        texts[0] = shapes_text(json_object_get(of, "shapes"));
        texts[1] = frames_of(of);
        gnomon__cell_text(&cells[GNOMON__AVERAGE_NAME], text_of(of, "name"));
        gnomon__cell_count(&cells[GNOMON__AVERAGE_KIND],
                           4 * i + 2u * is_of_device(of) +
                               is_true(of, "user_annotation"));
        gnomon__cell_text(&cells[GNOMON__AVERAGE_OVERLOAD],
                          overload ? overload : "");
        gnomon__cell_text(&cells[GNOMON__AVERAGE_LAYER], "");
        gnomon__cell_text(&cells[GNOMON__AVERAGE_SHAPES],
                          texts[0] ? texts[0] : "");
        gnomon__cell_text(&cells[GNOMON__AVERAGE_STACK], texts[1]);
        gnomon__cell_number(&cells[GNOMON__AVERAGE_NODE],
                            (double)whole_of(of, "node_id", -1));
        for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++)
            gnomon__cell_number(
                &cells[GNOMON__AVERAGE_CPU + k],
                (double)whole_of(of, numbers[k], 0) /
                    (strstr(numbers[k], "_ns") ? 1000.0 : 1.0)); /* us */
        gnomon__cell_count(&cells[GNOMON__AVERAGE_ORDER],
                           gnomon__average_order(i, is_true(of, "is_async"),
                                                 json_is_false(json_object_get(
                                                     of, "top_level"))));
    }
}

static void read_events(gnomon__report_rows *r)
{
    averages_case *c = r->more;
    const size_t count = json_array_size(c->given);
    for (size_t i = 0; i < count; i++) {
        read_event(json_array_get(c->given, i), &c->events[i]);
        c->texts[2 * i] = (char *)(uintptr_t)c->events[i].shapes;
        c->texts[2 * i + 1] = (char *)(uintptr_t)c->events[i].stack;
    }
    gnomon__averages_add(r, &c->by, c->events, count);
}

static void read_choice(const json_t *root, gnomon__averages_choice *choice)
{
    const json_t *table = json_object_get(root, "table");
    static char device[32];
    *choice = gnomon__averages_preset;
    choice->sort_by = text_of(table, "sort_by");
    choice->header = text_of(table, "header");
    choice->time_unit = text_of(table, "time_unit");
    choice->row_limit = whole_of(table, "row_limit", choice->row_limit);
    choice->name_width =
        whole_of(table, "max_name_column_width", choice->name_width);
    choice->shapes_width =
        whole_of(table, "max_shapes_column_width", choice->shapes_width);
    choice->source_width =
        whole_of(table, "max_src_column_width", choice->source_width);
    choice->is_top_level = is_true(table, "top_level_events_only");
    choice->has_memory = is_true(root, "profile_memory");
    choice->has_flops = is_true(root, "with_flops");
    choice->has_shapes = choice->has_stacks = choice->has_overloads = true;
    if (text_of(root, "use_device")) {
        snprintf(device, sizeof device, "%s", text_of(root, "use_device"));
        for (char *c = device; *c; c++)
            *c = (char)(*c >= 'a' && *c <= 'z' ? *c - 'a' + 'A' : *c);
        choice->device = device;
    }
}

static int put(const gnomon_writer *writer, const void *bytes, size_t size)
{
    return fwrite(bytes, 1, size, writer->context) == size ? GNOMON_OK
                                                           : GNOMON_EIO;
}

int golden_averages(const char *path, const json_t *root, FILE *out)
{
    const json_t *group = json_object_get(root, "group");
    const json_t *events = json_object_get(root, "events");
    averages_case c = {
        .given = events ? events : json_object_get(root, "rows"),
        .by = {.shapes = is_true(group, "by_input_shape"),
               .overloads = is_true(group, "by_overload_name"),
               .frames = (size_t)whole_of(group, "by_stack_n", 0)}};
    const size_t count = json_array_size(c.given);
    const gnomon_writer writer = {
        .struct_size = sizeof writer, .write = put, .context = out};
    gnomon__report report = gnomon__averages;
    gnomon__averages_choice choice;
    gnomon__report_rows rows;
    c.events = calloc(count + 1, sizeof *c.events);
    c.texts = calloc(2 * count + 1, sizeof *c.texts);
    report.read = events ? read_events : read_rows;
    read_choice(root, &choice);
    int code = gnomon__report_make(&rows, &report, &choice.table, &c, NULL);
    if (!code)
        code = gnomon__averages_text(&rows, &writer);
    gnomon__report_free(&rows);
    for (size_t i = 0; i < 2 * count; i++)
        free(c.texts[i]);
    free(c.texts);
    free(c.events);
    (void)path;
    return code != GNOMON_OK;
}
