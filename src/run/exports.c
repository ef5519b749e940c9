/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Exports and reports of a profile that somebody holds. Nothing here looks at the run: a
 * profile never changes, so any number of threads may do this, without a lock. */
#include <errno.h>

#include "export/export.h"
#include "mark/op.h"
#include "platform/error.h"
#include "profile/model.h"
#include "profilers/table.h"
#include "run/files.h"
#include "run/host.h"
#include "spec/names.h"

/* ---- Exports ------------------------------------------------------------------------ */

static int export_form(const gnomon_profile *p, int form,
                       const gnomon_writer *out)
{
    gnomon__export_span span;
    span.is_known =
        gnomon__profile_span(p, &span.from_unix_ns, &span.until_unix_ns);
    const gnomon__export what = {.profiles = &p, .count = 1, .spans = &span};
    if (form != GNOMON__FORM_CHROME)
        return gnomon__profile_write(p, form, out);
    int code = gnomon__export_chrome.write(&what, out);
    code = code ? code : gnomon__profile_failed(p);
    return code == GNOMON_ENOMEM ? gnomon__fail(code, "no memory for the trace")
                                 : code;
}

/* -1, and a text: there is none. */
static int form_of(const char *format)
{
    int form = format ? gnomon__form_named(format) : -1;
    if (form < 0)
        gnomon__fail(GNOMON_EINVAL, "no such format: %.64s",
                     format ? format : "none is given");
    return form;
}

/* The writer, the caller's, is called while memory of ours is held. */
int gnomon_write(const gnomon_profile *profile, const char *format,
                 const gnomon_writer *out)
{
    gnomon__fail_clear();
    if (!profile || !out || !out->write)
        return gnomon__fail(GNOMON_EINVAL, "no profile, or no writer");
    int form = form_of(format);
    if (form < 0)
        return GNOMON_EINVAL;
    int cancel = gnomon__os_cancel_off();
    int code = export_form(profile, form, out);
    gnomon__os_cancel_back(cancel);
    return code;
}

typedef struct export_content {
    const gnomon_profile *profile;
    int form;
} export_content;

static int export_make(void *context, const gnomon_writer *out)
{
    const export_content *content = context;
    return export_form(content->profile, content->form, out);
}

int gnomon_write_file(const gnomon_profile *profile, const char *format,
                      const char *path)
{
    int code = GNOMON_OK;
    gnomon__fail_clear();
    if (!profile || !path || !*path)
        return gnomon__fail(GNOMON_EINVAL, "no profile, or no path");
    export_content content = {profile, form_of(format)};
    const gnomon__fd_job job = {export_make, &content, &code};
    if (content.form < 0)
        return GNOMON_EINVAL;
    int cancel = gnomon__os_cancel_off();
    int why = gnomon__os_publish_made(path, gnomon__fd_make, &job, NULL, 0);
    gnomon__os_cancel_back(cancel);
    if (why && (!code || code == GNOMON_EIO))
        code = gnomon__fail(why == ENOMEM ? GNOMON_ENOMEM : GNOMON_EIO,
                            "cannot write %s: %s", path,
                            code ? "the profile's file can no longer be read"
                                 : gnomon__os_error_text(why));
    return code;
}

/* ---- Reports ------------------------------------------------------------------------ */

/* Built-in ones only: those that are registered may go while this runs. */
static const gnomon_profiler *reporter_named(const char *name)
{
    gnomon__suggestion s = gnomon__suggest(name);
    for (size_t i = 0; gnomon__profilers[i]; i++) {
        const gnomon_profiler *p = *gnomon__profilers[i];
        if (!p->summary)
            continue;
        if (gnomon__same_word(p->name, name))
            return p;
        gnomon__suggest_offer(&s, p->name);
    }
    if (s.best)
        gnomon__fail(GNOMON_ENOENT, "no report '%.64s': did you mean '%s'?",
                     name, s.best);
    else
        gnomon__fail(GNOMON_ENOENT, "no report '%.64s'", name);
    return NULL;
}

/* What create has to say: its code becomes the call's. */
static void reporter_log(const char *line)
{
    (void)gnomon__fail(GNOMON_EINVAL, "%s", line);
}

static int report_by(const gnomon_profiler *by, gnomon__options *options,
                     const gnomon_profile *profile, gnomon__buffer *b)
{
    void *self = NULL;
    options->api.log = reporter_log;
    options->api.region_op = gnomon__region_op;
    int code = by->create ? by->create(&options->api, &self) : GNOMON_OK;
    if (code)
        return code;
    if (*gnomon_error_text()) /* of reporter_log: a profiler goes on without the word */
        code = GNOMON_EINVAL;
    else
        code = by->summary(self, profile, &b->writer);
    if (!code) /* events that cannot be read end as if there were no more */
        code = gnomon__profile_failed(profile);
    if (by->destroy)
        by->destroy(self);
    return b->code ? b->code : code;
}

/* What chooses what is recorded, and where reports go, is none of a report's. */
static int check_options(const gnomon__settings *settings)
{
    for (size_t i = 0; i < settings->count; i++)
        if (gnomon__option_find(gnomon__core_options, settings->at[i].key))
            return gnomon__fail(GNOMON_EINVAL, "a report has no option '%s'",
                                settings->at[i].key);
    return GNOMON_OK;
}

static int report_parsed(const gnomon__spec *spec,
                         const gnomon_profile *profile, gnomon__buffer *b)
{
    gnomon__options *options = NULL;
    if (spec->item_count != 1 || spec->defaults.count)
        return gnomon__fail(GNOMON_EINVAL,
                            "say one report: tree, or 'tree(limit=3)'");
    const gnomon_profiler *by = reporter_named(spec->items[0].name);
    if (!by)
        return GNOMON_ENOENT;
    int code = check_options(&spec->items[0].settings);
    if (!code)
        code = gnomon__options_create(&options, by, spec, 0);
    if (spec->complaints->count)
        code = gnomon__fail(GNOMON_EINVAL, "%s", spec->complaints->line[0]);
    if (!code && options)
        code = report_by(by, options, profile, b);
    gnomon__options_destroy(options);
    return code;
}

static int report_text_of(const char *words, const gnomon_profile *profile,
                          gnomon__buffer *b)
{
    gnomon__spec spec = {0};
    gnomon__complaints complaints = {0};
    int code =
        gnomon__spec_parse(&spec, NULL, words, "gnomon_report", &complaints);
    if (complaints.count)
        code = gnomon__fail(GNOMON_EINVAL, "%s", complaints.line[0]);
    if (!code)
        code = report_parsed(&spec, profile, b);
    gnomon__spec_free(&spec);
    gnomon__complaints_free(&complaints);
    return code;
}

/* A report is of one stage of one view of a run: to take them apart and to add runs up
 * is the program's. */
static int check_is_one(const gnomon_profile *p)
{
    if (gnomon_profile_count(p, GNOMON_RUNS) <= 1 &&
        gnomon_profile_count(p, GNOMON_STAGES) <= 1 &&
        gnomon_profile_count(p, GNOMON_VIEWS) <= 1)
        return GNOMON_OK;
    return gnomon__fail(GNOMON_ESTATE,
                        "it has several runs, stages or views: the program "
                        "`gnomon report` makes a report of each");
}

int gnomon__report_n(const gnomon_profile *profile, const char *report,
                     size_t length, const gnomon_writer *out)
{
    gnomon__buffer b;
    gnomon__fail_clear();
    if (!profile || !report || !out || !out->write)
        return gnomon__fail(GNOMON_EINVAL,
                            "no profile, no report or no writer");
    gnomon__text words = gnomon__text_of(report, length);
    int cancel = gnomon__os_cancel_off(); /* also in the caller's write */
    int code = check_is_one(profile);
    char *copy = code ? NULL : gnomon__strndup(words.at, words.length);
    gnomon__buffer_init(&b, NULL); /* so names are as they are */
    b.writer.columns = out->columns;
    b.writer.shows_bold = out->shows_bold;
    if (!code)
        code = copy ? report_text_of(copy, profile, &b) : GNOMON_ENOMEM;
    if (code == GNOMON_ENOMEM)
        gnomon__fail(code, "no memory for the report");
    if (!code && b.length)
        code = out->write(out, b.text, b.length);
    gnomon__buffer_free(&b);
    gnomon__free(copy);
    gnomon__os_cancel_back(cancel);
    return code;
}

int gnomon_report(const gnomon_profile *profile, const char *report,
                  const gnomon_writer *out)
{
    return gnomon__report_n(profile, report, GNOMON_TO_NUL, out);
}
