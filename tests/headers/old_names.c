/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Every name of gnomon/compat.h, as a source of before uses them: compiled with
 * `-include gnomon/compat.h`, linked and run, with GNOMON_DISABLE too. The exit status is
 * the line that went wrong. */
#include <gnomon.h>

static int summary(void *self, const gnomon_profile *profile,
                   const gnomon_writer *out)
{
    (void)self;
    (void)profile;
    return out->write(out, "mine\n", 5);
}

static const gnomon_profiler mine = {.struct_size = sizeof mine,
                                     .abi = GNOMON_ABI,
                                     .wants = GNOMON_WANT_TREE,
                                     .name = "mine",
                                     .summary = summary};

static int put(const gnomon_writer *out, const void *bytes, size_t size)
{
    size_t *sum = out->context;
    (void)bytes;
    *sum += size;
    return GNOMON_OK;
}

static int attached(const gnomon_writer *out)
{
    gnomon_profile *profile = NULL;
    gnomon_rows *rows = NULL;
    int self;
    if (gnomon_configure("tree") || gnomon_configure_n("tree+", 4) ||
        gnomon_register(&mine) || gnomon_attach_n(&mine, &self, "", 0))
        return __LINE__;
    if (gnomon_stage_begin_n("fitted", 3) ||
        gnomon_metadata_n("key", 3, "1", 1))
        return __LINE__;
    gnomon_start_n("action", 6);
    gnomon_stop_n("action", 6);
    if (gnomon_summary_n("mine!", 4, out) ||
        gnomon_snapshot_n(&profile, "tree!", 4, 0))
        return __LINE__;
    if (gnomon_report_n(profile, "tree!", 4, out) ||
        gnomon_rows_make(&rows, profile, GNOMON_ROWS_ALL) || rows->count != 1)
        return __LINE__;
    gnomon_rows_free(rows);
    if (gnomon_profile_write(profile, GNOMON_FORM_FILE, out) ||
        gnomon_export(profile, GNOMON_FORM_CHROME, out) ||
        gnomon_export_file(profile, GNOMON_FORM_JSON, "/dev/null"))
        return __LINE__;
    gnomon_profile_free(profile);
    return gnomon_detach(&mine, &self) || gnomon_stage_end() ||
                   gnomon_configure(NULL)
               ? __LINE__
               : 0;
}

static int is_on(const gnomon_writer *out)
{
    gnomon_region *region =
        gnomon_region_get_n("named", 4, "cat", 3, GNOMON_KIND_SCOPE);
    gnomon_field_info field = {.struct_size = sizeof field};
    char name[64];
    if (region == NULL || region->name[4] != 0 || gnomon_region_op(region))
        return __LINE__;
    if (gnomon_file_name("name", name, sizeof name) != 4 ||
        gnomon_entity_fields(GNOMON_NODES, &field, 1) < 5 ||
        gnomon_entity_name(GNOMON_NODES)[0] != 'n')
        return __LINE__;
    return attached(out);
}

static int told;

static int source_open(void *self, uint32_t number, uint32_t kinds,
                       const char **why)
{
    (void)self;
    (void)kinds;
    (void)why;
    told = (int)number;
    return GNOMON_OK;
}

int main(void)
{
    static gnomon_activity_source source = {.struct_size = sizeof source,
                                            .abi = GNOMON_ABI,
                                            .name = "toy",
                                            .open = source_open};
    size_t sum = 0;
    const gnomon_writer out = {
        .struct_size = sizeof out, .write = put, .context = &sum};
    gnomon_thread_name_n("worker 7", 6);
    gnomon_stream_name_n(NULL, NULL, "copies", 4);
    gnomon_log("a line");
    if (gnomon_fail(GNOMON_EIO, "why") != GNOMON_EIO ||
        gnomon_fail_n(GNOMON_EIO, "why", 2) != GNOMON_EIO)
        return __LINE__;
    if (gnomon_activity_source_add(&source))
        return __LINE__;
    gnomon_activity_launched(1, 1);
    gnomon_activity_put(1, NULL, 0);
    gnomon_activity_lost(1, 1);
    if (gnomon_activity_source_remove(&source))
        return __LINE__;
    if (gnomon_host_get() == NULL)
        return gnomon_configure("") || gnomon_now_ns() ||
                       gnomon_configure("tree") != GNOMON_ESTATE
                   ? __LINE__
                   : 0;
    int line = is_on(&out);
    return line ? line : sum > 5 && gnomon_now_ns() ? 0 : __LINE__;
}
