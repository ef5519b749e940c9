/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* From the text of a spec to attachments: parse, load the plugins it names,
 * look its words up, attach each profiler. Each error is one line; the rest of
 * the spec is still attached. Inside control calls. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "platform/error.h"
#include "platform/memory.h"
#include "spec/filter.h"
#include "spec/names.h"
#include "run/files.h"
#include "run/host.h"
#include "run/notes.h"
#include "run/step_marks.h"

static void follow(int on)
{
    char *spec = NULL;
    store_relaxed(&gnomon__spec_follows, on); /* snapshots read it */
    if (on) {
        size_t length = gnomon__spec_resolved(NULL, 0);
        spec = gnomon__alloc(length + 1);
        if (spec)
            gnomon__spec_resolved(spec, length + 1);
    }
    gnomon__fork_follow(spec);
}

/* Lines that do not begin with the spec's origin get it as a prefix. */
static void log_complaints(gnomon__complaints *c, const char *origin)
{
    size_t n = strlen(origin);
    for (unsigned i = 0; i < c->count; i++) {
        const char *line = c->line[i];
        if (strncmp(line, origin, n) == 0 && line[n] == ':')
            gnomon__log("%s", line);
        else
            gnomon__log("%s: %s", origin, line);
    }
    if (c->dropped)
        gnomon__log("%s: and %u more", origin, c->dropped);
}

/* ---- Help --------------------------------------------------------------------- */

static void print_options(gnomon__buffer *b, const gnomon_option_info *table)
{
    static const char *const types[] = {"yes/no", "number", "bytes", "duration",
                                        "text"};
    const gnomon_option_info *o;
    for (size_t i = 0; (o = gnomon__option_at(table, i)) != NULL; i++)
        b->writer.print(&b->writer, "      %-10s %-9s %s%s%s%s\n", o->key,
                        o->type >= 0 && o->type < 5 ? types[o->type] : "",
                        o->help, o->preset ? " [" : "",
                        o->preset ? o->preset : "", o->preset ? "]" : "");
}

static void print_help(void)
{
    gnomon__buffer b;
    gnomon__buffer_init(&b, NULL);
    const gnomon_writer *w = &b.writer;
    w->print(w,
             "gnomon %s: GNOMON=profiler[(option=value,...)][,...], @file, "
             "or /path/to/plugin.so\n\n",
             GNOMON_VERSION);
    size_t count;
    const gnomon_profiler *const *all = gnomon__profilers_known(&count);
    for (size_t i = 0; i < count; i++) {
        w->print(w, "  %-12s %s\n", all[i]->name,
                 all[i]->help ? all[i]->help : "");
        print_options(&b, gnomon__options_of(all[i]));
    }
    w->print(w,
             "  memory       memory that scopes took, by libgnomon-memory.so\n"
             "\n  Every profiler knows:\n");
    print_options(&b, gnomon__core_options);
    w->print(w, "\n  For the whole run:\n");
    print_options(&b, gnomon__run_options);
    gnomon__output_plain(b.text, b.length);
    gnomon__buffer_free(&b);
}

/* ---- Attaching ----------------------------------------------------------------- */

/* NULL: the spec has none. */
static const gnomon__setting *find_mem(const gnomon__spec *spec)
{
    for (size_t i = 0; i < spec->defaults.count; i++)
        if (gnomon__same_word(spec->defaults.at[i].key, "mem"))
            return &spec->defaults.at[i];
    return NULL;
}

/* Memory is mapped once: a later mem= of another size has no effect. */
static void compare_memory(const gnomon__spec *spec, int64_t budget)
{
    int64_t more = budget - (int64_t)gnomon__marks_arena.size;
    char have[16];
    gnomon__memory_print(have, sizeof have);
    const gnomon__setting *mem = find_mem(spec);
    if (mem && (more >= 65536 || more <= -65536))
        gnomon__complain(spec->complaints,
                         "mem=%s: recording has %s, taken once for the "
                         "process, and below 4GiB",
                         gnomon__spec_shown(mem->position, mem->value), have);
}

/* An option of the whole run. NULL: it is not given, or there is no profiler for it;
 * only mem= is for those that the program attaches, too. */
static const char *run_text(const gnomon__options *run,
                            const gnomon__spec *spec, const char *key)
{
    return run && spec->item_count ? gnomon__options_text(run, key) : NULL;
}

/* What the spec says of the whole run. */
static int take_run_options(const gnomon__spec *spec)
{
    gnomon__options *run = NULL;
    int64_t budget = GNOMON__DEFAULT_BUDGET;
    int code = gnomon__options_create(&run, NULL, spec, 0), stepped = 0;
    if (run && gnomon__options_number(run, "mem") > 0)
        budget = gnomon__options_number(run, "mem");
    const char *word = run_text(run, spec, "fork");
    if (word)
        store_relaxed(&gnomon__spec_follows, gnomon__same_word(word, "follow"));
    word = run_text(run, spec, "fold");
    if (word)
        store_relaxed(&gnomon__spec_folds,
                      gnomon__same_word(word, "off") ? "off" : "numbers");
    int mapped = gnomon__marks_map((uint64_t)budget);
    if (mapped)
        gnomon__complain(spec->complaints,
                         "no address space to record in: nothing is recorded: "
                         "raise the limit (ulimit -v)");
    else if (!code)
        compare_memory(spec, budget);
    word = run_text(run, spec, "step");
    if (word && !mapped)
        stepped = gnomon__steps_attach(word, spec->complaints);
    gnomon__options_destroy(run);
    return code ? code : mapped ? mapped : stepped;
}

/* Where a library stands beside gnomon, it is that one, else what the loader finds. */
static int load_beside(const gnomon_profiler **out, const char *file,
                       int *is_there)
{
    char *path =
        gnomon__alloc(PATH_MAX); /* a first mark's stack may be small */
    *is_there = 0;
    if (!path)
        return gnomon__fail(GNOMON_ENOMEM, "no memory to load %s", file);
    gnomon__os_beside(NULL, file, path, PATH_MAX);
    *is_there = !gnomon__os_is_missing(path);
    int code = gnomon__plugin_load(out, *is_there ? path : file, file);
    gnomon__free(path);
    return code;
}

/* A profiler that is not in the library may be in one named after it, libgnomon-NAME.so.
 * A reason is told only of one that is there, or that is known to exist: any other name
 * gets a line later. */
static int load_named(const char *name)
{
    char file[64];
    const gnomon_profiler *found;
    int is_there;
    const size_t length = strspn(name, "abcdefghijklmnopqrstuvwxyz");
    if (gnomon__profiler_named(name) || length > 32 || name[length])
        return GNOMON_OK;
    (void)snprintf(file, sizeof file, "libgnomon-%s.so", name);
    int code = load_beside(&found, file, &is_there);
    if (!code)
        return gnomon__profiler_add(found);
    if (is_there || strcmp(name, "memory") == 0 || strcmp(name, "malloc") == 0)
        return code;
    gnomon__fail_clear();
    return GNOMON_OK;
}

/* Runs before words are looked up, because plugins add options. A plugin that does not
 * load is complained of and removed. */
static int load_plugins(gnomon__spec *spec)
{
    int worst = GNOMON_OK;
    size_t kept = 0, plugins = 0;
    for (size_t i = 0; i < spec->item_count; i++) {
        gnomon__spec_item *item = &spec->items[i];
        int code = GNOMON_OK;
        if (!item->is_path && item->name)
            code = load_named(item->name);
        if (item->is_path && plugins++ < GNOMON__BITS)
            code = gnomon__plugin_load(
                &item->profiler, item->name,
                gnomon__spec_shown(item->position, item->name));
        if (!code) {
            spec->items[kept++] = *item;
            continue;
        }
        gnomon__spec_complain(spec, item->position, NULL, "%s",
                              gnomon_error_text());
        gnomon__settings_free(&item->settings);
        spec->lost_plugin = 1;
        worst = worst ? worst : code;
    }
    spec->item_count = kept;
    return worst;
}

/* The profiler, or, where its trace's name asks for a format that is not in the library,
 * or modules= does, that of libgnomon-trace.so, which has the same options. Where that is
 * not there, check_file_names says what else to do. */
static const gnomon_profiler *with_format(const gnomon_profiler *profiler,
                                          const gnomon__options *options)
{
    const gnomon_profiler *found = profiler;
    char line[256];
    int is_there;
    const char *file = gnomon__options_text(options, "file");
    if (!profiler->summary && profiler->events &&
        gnomon__profiler_is_builtin(profiler) &&
        (gnomon__options_number(options, "modules") ||
         (file && gnomon__file_misnamed(line, sizeof line, file, 1))) &&
        load_beside(&found, "libgnomon-trace.so", &is_there)) {
        gnomon__fail_clear();
        return profiler;
    }
    return found;
}

static int attach_item(const gnomon__spec *spec, size_t i, uint32_t batch)
{
    const gnomon__spec_item *item = &spec->items[i];
    const gnomon_profiler *profiler =
        item->is_path ? item->profiler
                      : gnomon__profiler_named(item->name); /* resolved */
    gnomon__options *options = NULL;
    int code = gnomon__options_create(&options, profiler, spec, i);
    int wrong = code; /* complained of; the valid options hold */
    if (options)
        code = gnomon__attach(with_format(profiler, options), NULL, item->name,
                              options, batch);
    if (!code)
        return wrong;
    if (code == GNOMON_ENOMEM && !options)
        gnomon__fail(code, "no memory for %s",
                     gnomon__spec_shown(item->position, item->name));
    gnomon__spec_complain(spec, item->position, NULL, "%s",
                          gnomon_error_text());
    return code;
}

/* Attaching is O(attached), so thousands would take a minute. More profilers than bits
 * are a mistake: none of them is attached. */
static int refuse_too_many(gnomon__spec *spec)
{
    if (spec->item_count <= GNOMON__BITS)
        return GNOMON_OK;
    gnomon__complain(spec->complaints,
                     "%zu profilers at once: %d fit: none is attached",
                     spec->item_count, GNOMON__BITS);
    while (spec->item_count > 0)
        gnomon__settings_free(&spec->items[--spec->item_count].settings);
    return GNOMON_EFULL;
}

/* Complains of the first path whose top folder does not exist: no report would come. */
static void check_paths(gnomon__complaints *complaints)
{
    const gnomon__attachment *a = gnomon__attachments;
    char *first = NULL;
    for (; a && !first; a = a->next)
        first = a->word ? gnomon__path_root_missing(a) : NULL;
    if (first)
        gnomon__complain(complaints,
                         "there is no %.64s: folders are made below one that "
                         "is there, never in /: is the path right?",
                         first);
    gnomon__free(first);
}

/* Without format= a report is text, whatever its file is called. Only built-in
 * profilers are checked: what others write is not known. */
static void check_file_names(gnomon__complaints *complaints)
{
    char line[256];
    for (const gnomon__attachment *a = gnomon__attachments; a; a = a->next) {
        const char *file = gnomon__options_text(a->options, "file");
        int is_trace = !a->profiler.summary && a->profiler.events;
        if (file && a->word && (a->profiler.summary || is_trace) &&
            gnomon__profiler_is_builtin(a->given) &&
            !gnomon__report_is_data(a) &&
            gnomon__file_misnamed(line, sizeof line, file, is_trace))
            gnomon__complain(complaints, "%s: file=%.64s: %s", a->profiler.name,
                             file, line);
    }
}

/* Complains of each file= for a profile that no profiler records. */
static int check_unrecorded(gnomon__complaints *complaints)
{
    int code = GNOMON_OK;
    for (const gnomon__attachment *a = gnomon__attachments; a; a = a->next) {
        const char *file = a->word ? gnomon__profile_unrecorded_file(a) : NULL;
        if (!file)
            continue;
        code = GNOMON_EINVAL;
        gnomon__complain(complaints,
                         "%s: file=%.64s: it records no profile: add 'profile'",
                         a->profiler.name, file);
    }
    return code;
}

int gnomon__configure(const char *text, const char *origin, int adds)
{
    gnomon__spec spec = {0};
    gnomon__complaints complaints = {0};
    gnomon__fork_watch();
    gnomon__notes_begin();
    if (text != gnomon__follows()) /* else they begin where the parent's do */
        gnomon__path_begin();
    int code = gnomon__spec_parse(&spec, NULL, text, origin, &complaints);
    if (code != GNOMON_ENOMEM) {
        int loaded = load_plugins(&spec);
        size_t count;
        const gnomon_profiler *const *known = gnomon__profilers_known(&count);
        int words = gnomon__spec_resolve(&spec, known, count);
        code = code ? code : loaded;
        code = code ? code : words;
    }
    int refused = refuse_too_many(&spec);
    code = refused ? refused : code;
    if (spec.wants_help)
        print_help();
    if (!adds) {
        store_relaxed(&gnomon__spec_follows, 0);
        store_relaxed(&gnomon__spec_folds, NULL);
    }
    if (spec.item_count || find_mem(&spec)) {
        int mapped = take_run_options(&spec);
        code = code ? code : mapped;
    }
    uint32_t batch = gnomon__batch();
    for (size_t i = 0; i < spec.item_count; i++) {
        int attached = attach_item(&spec, i, batch);
        code = code ? code : attached;
    }
    gnomon__steps_drop_alone();
    check_paths(&complaints);
    check_file_names(&complaints);
    int missed = check_unrecorded(&complaints);
    code = code ? code : missed;
    if (!gnomon__end_has_reports())
        gnomon__notes_marked();
    follow(gnomon__spec_follows && gnomon__attachments);
    log_complaints(&complaints, origin);
    if (complaints.count) {
        gnomon__fail(code, "%s", complaints.line[0]);
    } else if (code) {
        gnomon__fail(code, "%s: no memory for all of the spec", origin);
        gnomon__log("%s", gnomon_error_text());
    }
    gnomon__complaints_free(&complaints);
    gnomon__spec_free(&spec);
    return code;
}

int gnomon__configure_leave(const char *pattern)
{
    int is_any = !pattern;
    size_t length = pattern ? strlen(pattern) : 0;
    for (gnomon__attachment *a = gnomon__attachments; a; a = a->next) {
        const char *as = gnomon__options_text(a->options, "as");
        a->leaves = a->word &&
                    (!pattern ||
                     gnomon__glob(pattern, length, as ? as : a->profiler.name));
        is_any |= a->leaves;
    }
    return is_any
               ? GNOMON_OK
               : gnomon__fail(GNOMON_ENOENT,
                              "gnomon_attach: -%.128s: not attached", pattern);
}

void gnomon__configure_clear(void)
{
    gnomon__fork_follow(NULL);
    gnomon__attachment *a = gnomon__attachments;
    while (a) {
        gnomon__attachment *next = a->next;
        if (a->leaves && gnomon__detach(a))
            gnomon__log("%s: %s", a->profiler.name, gnomon_error_text());
        a = next;
    }
}
