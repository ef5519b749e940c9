/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* torch's tables of key_averages(): rows that are added up already go to the
 * printer, events the whole way. */
#include "averages.h"

#include <stdlib.h>
#include <string.h>

#include "report/averages_events.h"

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

static const char **frames_of(const json_t *of, size_t *count)
{
    const json_t *stack = json_object_get(of, "stack");
    *count = json_array_size(stack);
    const char **frames = calloc(*count + 1, sizeof *frames);
    for (size_t i = 0; i < *count; i++)
        frames[i] = json_string_value(json_array_get(stack, i));
    return frames;
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
        .is_annotation = is_true(of, "user_annotation")};
    e->stack = frames_of(of, &e->stack_count);
}

static void read_row(const json_t *of, gnomon__average *row)
{
    *row = (gnomon__average){
        .name = text_of(of, "name"),
        .overload = text_of(of, "overload"),
        .shapes = shapes_text(json_object_get(of, "shapes")),
        .count = (uint64_t)whole_of(of, "count", 0),
        .flops = (uint64_t)whole_of(of, "flops", 0),
        .cpu_ns = whole_of(of, "cpu_total_ns", 0),
        .self_cpu_ns = whole_of(of, "self_cpu_ns", 0),
        .device_ns = whole_of(of, "device_total_ns", 0),
        .self_device_ns = whole_of(of, "self_device_ns", 0),
        .cpu_bytes = whole_of(of, "cpu_mem", 0),
        .self_cpu_bytes = whole_of(of, "self_cpu_mem", 0),
        .device_bytes = whole_of(of, "device_mem", 0),
        .self_device_bytes = whole_of(of, "self_device_mem", 0),
        .node = whole_of(of, "node_id", -1),
        .is_device = is_of_device(of),
        .is_annotation = is_true(of, "user_annotation"),
        .is_async = is_true(of, "is_async"),
        .is_inner = json_is_false(json_object_get(of, "top_level"))};
    row->stack = frames_of(of, &row->stack_count);
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

static int print_rows(const json_t *root, const gnomon__average *rows,
                      size_t count, FILE *out)
{
    gnomon__averages_choice choice;
    const gnomon_writer writer = {
        .struct_size = sizeof writer, .write = put, .context = out};
    read_choice(root, &choice);
    return gnomon__averages_print(rows, count, &choice, &writer);
}

static int play_rows(const json_t *root, const json_t *given, FILE *out)
{
    const size_t count = json_array_size(given);
    gnomon__average *rows = calloc(count + 1, sizeof *rows);
    for (size_t i = 0; i < count; i++)
        read_row(json_array_get(given, i), &rows[i]);
    const int code = print_rows(root, rows, count, out);
    for (size_t i = 0; i < count; i++) {
        free((void *)(uintptr_t)rows[i].shapes);
        free((void *)(uintptr_t)rows[i].stack);
    }
    free(rows);
    return code;
}

static int play_events(const json_t *root, const json_t *given, FILE *out)
{
    const json_t *group = json_object_get(root, "group");
    const size_t count = json_array_size(given);
    gnomon__average_event *events = calloc(count + 1, sizeof *events);
    gnomon__average *rows;
    size_t row_count;
    const gnomon__averages_by by = {
        .shapes = is_true(group, "by_input_shape"),
        .overloads = is_true(group, "by_overload_name"),
        .frames = (size_t)whole_of(group, "by_stack_n", 0)};
    for (size_t i = 0; i < count; i++)
        read_event(json_array_get(given, i), &events[i]);
    int code =
        gnomon__averages_of_events(events, count, &by, &rows, &row_count);
    if (!code)
        code = print_rows(root, rows, row_count, out);
    for (size_t i = 0; i < count; i++) {
        free((void *)(uintptr_t)events[i].shapes);
        free((void *)(uintptr_t)events[i].stack);
    }
    free(events);
    free(rows);
    return code;
}

int golden_averages(const char *path, const json_t *root, FILE *out)
{
    const json_t *events = json_object_get(root, "events");
    (void)path;
    return (events ? play_events(root, events, out)
                   : play_rows(root, json_object_get(root, "rows"), out)) !=
           GNOMON_OK;
}
