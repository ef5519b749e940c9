/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * trace: writes single executions as a trace that viewers open, at each end of a
 * schedule's cycle, or at the end of the run. It prints no report: the line that names
 * the file is all. Uses public headers and src/export only.
 *
 * libgnomon-trace.so is this file with all formats of src/export/gzip.h. The
 * library, which has Chrome's JSON only, loads it where the name of a file asks for
 * another one.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "export/export.h"
#ifdef GNOMON_TRACE_FORMS
#include "export/gzip.h"
#include "export/modules.h"
#endif
#include "gnomon/tool.h"

typedef struct trace_writer {
    const gnomon__exporter *form; /* NULL: Chrome's JSON */
    int writes;                   /* on_trace_ready */
    int modules;                  /* layers are modules of torch */
    int scheduled;                /* each cycle is a file */
    int streams;                  /* keep=stream: each part is a file */
    int few_steps;                /* keep=8steps: what is older is not missed */
    unsigned cycles;              /* that were delivered */
    uint64_t unwritten; /* events of parts that could not be written ... */
    unsigned unwritten_parts; /* ... and how many these are */
    void (*log)(const char *line);
} trace_writer;

static const gnomon__exporter *trace_form(const gnomon_options *options)
{
#ifdef GNOMON_TRACE_FORMS
    const char *file = options->text(options, "file");
    return file ? gnomon__trace_form(file) : NULL;
#else
    (void)options;
    return NULL;
#endif
}

static int trace_create(const gnomon_options *options, void **self)
{
    const char *word = options->text(options, "on_trace_ready");
    const char *schedule = options->text(options, "schedule");
    const char *keep = options->text(options, "keep");
    int writes = strcmp(word, "chrome") == 0;
    if (!writes && strcmp(word, "none") != 0) {
        char line[96];
        (void)snprintf(line, sizeof line,
                       "trace: on_trace_ready=%.48s: say chrome or none", word);
        options->log(line);
        writes = 1;
    }
    trace_writer *t = calloc(1, sizeof *t);
    if (!t)
        return GNOMON_ENOMEM;
    t->form = trace_form(options);
    t->writes = writes;
#ifdef GNOMON_TRACE_FORMS
    t->modules = options->number(options, "modules") != 0;
#else
    if (options->number(options, "modules"))
        options->log("trace: modules=on: no libgnomon-trace.so is there");
#endif
    t->scheduled = schedule && *schedule;
    t->streams = keep && strcmp(keep, "stream") == 0;
    t->few_steps = keep && *keep >= '0' && *keep <= '9';
    t->log = options->log;
    *self = t;
    return GNOMON_OK;
}

/* ---- What is missing --------------------------------------------------------------- */

/* Losses that a trace shows as gaps. */
static uint64_t trace_missing(const gnomon_profile *p)
{
    uint64_t missing = 0;
    gnomon_loss_info l;
    for (size_t i = 1; !gnomon_profile_loss(p, i, &l); i++)
        if (strncmp(l.kind, "events_", 7) == 0)
            missing += l.count;
    return missing;
}

/* Without events there is no file, but a line says what is missing. */
static void trace_tell_none(const trace_writer *t, const gnomon_profile *p)
{
    char line[96];
    uint64_t lost = trace_missing(p);
    if (lost && !t->few_steps) {
        snprintf(line, sizeof line,
                 "trace: no file, as %" PRIu64
                 " event%s missing: mem= makes room",
                 lost, lost == 1 ? " is" : "s are");
        t->log(line);
    }
}

static void trace_tell(const trace_writer *t, const gnomon_profile *p,
                       const char *path)
{
    char line[512], missing[96] = "";
    uint64_t events = gnomon_profile_count(p, GNOMON_EVENTS);
    uint64_t lost = trace_missing(p);
    if (lost)
        snprintf(missing, sizeof missing,
                 t->few_steps ? "; %" PRIu64 " older %s not kept"
                              : "; %" PRIu64
                                " more %s missing: mem= makes room",
                 lost,
                 !t->few_steps ? (lost == 1 ? "is" : "are")
                 : lost == 1   ? "one is"
                               : "ones are");
    size_t length = strlen(path);
    const char *shown = length > 300 ? path + length - 300 : path;
    snprintf(line, sizeof line, "trace: %" PRIu64 " event%s in %s%s%s", events,
             events == 1 ? "" : "s", shown == path ? "" : "...", shown,
             missing);
    t->log(line);
}

/* ---- Files ------------------------------------------------------------------------- */

typedef struct trace_job {
    const trace_writer *of;
    const gnomon_profile *profile;
} trace_job;

static int trace_make(void *context, const gnomon_writer *file)
{
    const trace_job *job = context;
    const gnomon__export what = {
#ifdef GNOMON_TRACE_FORMS
        .layer = job->of->modules ? gnomon__chrome_layer : NULL,
#endif
        .profiles = &job->profile,
        .count = 1};
    const gnomon__exporter *form = job->of->form;
    return (form ? form : &gnomon__export_chrome)->write(&what, file);
}

/* Cycles are files of their own: cycle1, cycle2, ...; parts of a stream are part1, ... */
static int trace_events(void *self, const gnomon_profile *profile,
                        const gnomon_writer *out)
{
    trace_writer *t = self;
    char part[32];
    trace_job job = {t, profile};
    t->cycles++;
    if (!t->writes)
        return GNOMON_OK;
    if (!gnomon_profile_count(profile, GNOMON_EVENTS)) {
        trace_tell_none(t, profile);
        return GNOMON_OK;
    }
    snprintf(part, sizeof part, "%s%u", t->streams ? "part" : "cycle",
             t->cycles);
    int code = out->stream(out, t->scheduled || t->streams ? part : NULL,
                           t->form ? t->form->extension : ".pt.trace.json",
                           trace_make, &job);
    if (!code)
        trace_tell(t, profile, out->path(out));
    if (code) {
        t->unwritten += gnomon_profile_count(profile, GNOMON_EVENTS) +
                        trace_missing(profile);
        t->unwritten_parts++;
    }
    /* If a file could not be written, a line has said why. */
    return code == GNOMON_ENOMEM ? code : GNOMON_OK;
}

/* For a stream only the first part that could not be written had a line. */
static void trace_destroy(void *self)
{
    trace_writer *t = self;
    char line[128];
    snprintf(line, sizeof line,
             "trace: %" PRIu64 " event%s of %u part%s could not be written",
             t->unwritten, t->unwritten == 1 ? "" : "s", t->unwritten_parts,
             t->unwritten_parts == 1 ? "" : "s");
    if (t->streams && t->unwritten)
        t->log(line);
    free(t);
}

static const gnomon_option_info trace_options[] = {
    {.struct_size = sizeof(gnomon_option_info),
     .key = "on_trace_ready",
     .type = GNOMON_OPTION_TEXT,
     .preset = "chrome",
     .help = "after each cycle of schedule=, or the run: chrome, none"},
    {.struct_size = sizeof(gnomon_option_info),
     .key = "keep",
     .type = GNOMON_OPTION_TEXT,
     .preset = "last",
     .help = "events to keep when mem= is full: last, first, or 8steps, of the "
             "last 8; stream: written while the run goes on"},
    {.struct_size = sizeof(gnomon_option_info),
     .key = "modules",
     .type = GNOMON_OPTION_BOOL,
     .preset = "off",
     .help = "layers as modules of torch"},
    {.key = NULL}};

static const gnomon_profiler tracer = {
    .struct_size = sizeof tracer,
    .abi = GNOMON_ABI,
    .wants = GNOMON_WANT_TREE | GNOMON_WANT_EVENTS,
    .name = "trace",
    .help = "a timeline of single executions, for Perfetto and Chrome",
    .options = trace_options,
    .create = trace_create,
    .events = trace_events,
    .destroy = trace_destroy,
};

GNOMON_PLUGIN(tracer);
