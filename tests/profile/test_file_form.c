/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* .gnomon files: what is written is read, and damaged, cut and forged files
 * crash nothing and are reported.
 * links: testing
 * threads: none
 * timeout: 300 */
#include "file_edit.h"
#include "sanitizer.h"
#include "full_profile.h"

#include "platform/memory.h"

TEST(what_is_written_is_read)
{
    const char *const orders[] = {"", "0", "01", "10"};
    for (int i = 0; i < 4; i++) {
        gnomon_profile *p = full_of(orders[i]);
        bytes once = bytes_of(p, "gnomon");
        gnomon_profile *q = read_back(&once);
        bytes twice = bytes_of(q, "gnomon");
        CHECK(bytes_equal(&once, &twice));
        for (int k = 0; k < GNOMON__ENTITIES; k++)
            CHECK_EQ(gnomon_profile_count(q, k), gnomon_profile_count(p, k));
        gnomon_profile_free(p);
        gnomon_profile_free(q);
        free(once.at);
        free(twice.at);
    }
}

/* NULL is not "", absent is not zero. */
TEST(absence_is_kept)
{
    gnomon_profile *p = full_of("01");
    bytes b = bytes_of(p, "gnomon");
    gnomon_profile *q = read_back(&b);
    gnomon_run_info run;
    gnomon_node_info node;
    gnomon_op_info op;
    gnomon_profile_run(q, 1, &run);
    CHECK(run.dir && !*run.dir && !run.attempt);
    gnomon_profile_run(q, 2, &run);
    CHECK(!run.dir && run.attempt && run.now_ns > INT64_MAX);
    gnomon_profile_node(q, 1, &node);
    CHECK(node.host && !node.device && node.memory && !node.work);
    gnomon_profile_node(q, 4, &node);
    CHECK(!node.host && node.device && !node.memory && !node.work);
    gnomon_profile_op(q, 1, &op);
    CHECK(gnomon_input_at(&op, 0)->strides &&
          !gnomon_input_at(&op, 1)->strides && !gnomon_input_at(&op, 2)->dims);
    CHECK_EQ(gnomon_input_at(&op, 0)->strides[0], -1);
    gnomon_profile_free(p);
    gnomon_profile_free(q);
    free(b.at);
}

/* More than one section of a kind, and of texts. */
TEST(many_nodes)
{
    enum { MANY = 30000 };
    gnomon_builder *b;
    gnomon_profile *p;
    gnomon_node_info n = {.track = 1, .first = 1};
    gnomon_cell cell = {5, 0, 1};
    const gnomon_stats s = {sizeof s, 0, 1, 5, 5, 5, 5, &cell, 1};
    const gnomon_run_info run = {.rank = 3};
    const gnomon_track_info track = {.run = 1, .device = -1};
    gnomon_builder_create(&b);
    gnomon_add_run(b, &run);
    gnomon_add_track(b, &track);
    for (int i = 0; i < MANY; i++) {
        char name[32];
        snprintf(name, sizeof name, "region number %d", i);
        const gnomon_region_info r = {.name = name};
        n.region = gnomon_add_region(b, &r);
        n.host = &s;
        gnomon_add_node(b, &n);
    }
    CHECK_EQ(gnomon_builder_finish(b, &p), GNOMON_OK);
    bytes file = bytes_of(p, "gnomon");
    gnomon_profile *q = read_back(&file);
    gnomon_region_info r;
    CHECK_EQ(gnomon_profile_count(q, GNOMON_NODES), MANY);
    gnomon_profile_region(q, MANY, &r);
    CHECK_STR(r.name, "region number 29999");
    CHECK(file.size > 3000000);
    gnomon_profile_free(p);
    gnomon_profile_free(q);
    free(file.at);
}

/* ---- Damage ---------------------------------------------------------------- */

/* Reads damaged bytes: a valid profile, or an error with a message. */
static void survives(const bytes *b)
{
    gnomon_profile *p = NULL;
    int code = gnomon_profile_read(&p, b->at, b->size);
    if (code) {
        CHECK(!p && *gnomon_error_text());
        CHECK_EQ(code, GNOMON_EINVAL);
        return;
    }
    CHECK_EQ(gnomon_profile_check(p), GNOMON_OK);
    bytes again = bytes_of(p, "gnomon");
    gnomon_profile_free(p);
    free(again.at);
}

static bytes exact_copy(const bytes *b, size_t size)
{
    bytes copy = {malloc(size ? size : 1), size, 0}; /* so that ASan sees */
    memcpy(copy.at, b->at, size);
    return copy;
}

TEST(cut_anywhere)
{
    gnomon_profile *p = full_of("01");
    bytes b = bytes_of(p, "gnomon");
    for (size_t n = 0; n < b.size; n++) {
        bytes part = exact_copy(&b, n);
        survives(&part);
        free(part.at);
    }
    bytes part = exact_copy(&b, b.size - 100);
    gnomon_profile *q = read_back(&part);
    CHECK_EQ(loss_of(q, "the end of the file"), 1);
    CHECK_EQ(gnomon_profile_count(q, GNOMON_NODES), 10);
    gnomon_profile_free(p);
    gnomon_profile_free(q);
    free(part.at);
    free(b.at);
}

TEST(a_byte_changed_anywhere)
{
    gnomon_profile *p = full_of("01");
    bytes b = bytes_of(p, "gnomon");
    for (size_t i = 0; i < b.size; i += EACH)
        for (int bit = 0; bit < 8; bit += 3) {
            bytes other = exact_copy(&b, b.size);
            other.at[i] = (char)(other.at[i] ^ 1 << bit);
            survives(&other);
            free(other.at);
        }
    gnomon_profile_free(p);
    free(b.at);
}

/* Each kind of section damaged in turn: all else is there. */
TEST(a_damaged_section_costs_itself)
{
    gnomon_profile *p = full_of("01");
    bytes b = bytes_of(p, "gnomon");
    for (int k = 0; k < GNOMON__ENTITIES; k++) {
        size_t at = find_section(
            &b, k == GNOMON_EVENTS ? "EVBK" : gnomon__structs[k].kind);
        bytes other = exact_copy(&b, b.size);
        other.at[at + GNOMON__SECTION_HEADER] ^= 1;
        gnomon_profile *q = read_back(&other);
        CHECK(at && loss_of(q, "unreadable: bytes") > 0);
        CHECK_EQ(gnomon_profile_count(q, GNOMON_NODES), 10);
        CHECK_EQ(gnomon_profile_check(q), GNOMON_OK);
        gnomon_profile_free(q);
        free(other.at);
    }
    size_t at = find_section(&b, "REGN");
    b.at[at + GNOMON__SECTION_HEADER] ^= 1;
    gnomon_profile *q = read_back(&b);
    gnomon_region_info r;
    CHECK_EQ(loss_of(q, "unreadable: regions"), 7);
    gnomon_profile_region(q, 1, &r);
    CHECK_STR(r.name, "(lost)");
    gnomon_profile_free(p);
    gnomon_profile_free(q);
    free(b.at);
}

/* As few as no section has. */
TEST(bytes_behind_the_last_section_are_counted)
{
    gnomon_profile *p = full_of("0");
    bytes b = bytes_of(p, "gnomon");
    for (size_t more = 0; more < GNOMON__SECTION_HEADER; more += 3) {
        bytes other = {calloc(1, b.size + more), b.size + more, 0};
        memcpy(other.at, b.at, b.size);
        gnomon_profile *q = read_back(&other);
        CHECK_EQ(loss_of(q, "unreadable: bytes"), more);
        gnomon_profile_free(q);
        free(other.at);
    }
    gnomon_profile_free(p);
    free(b.at);
}

/* ---- Other versions -------------------------------------------------------------- */

TEST(unknown_sections_are_named)
{
    gnomon_profile *p = full_of("0");
    bytes b = bytes_of(p, "gnomon");
    forge(&b, find_section(&b, "STEP"), 0, 0x03214241); /* "AB!\3" */
    gnomon_profile *q = read_back(&b);
    CHECK_EQ(loss_of(q, "unknown section AB!?"), 1);
    CHECK_EQ(gnomon_profile_count(q, GNOMON_NODES), 5);
    gnomon_profile_free(p);
    gnomon_profile_free(q);
    free(b.at);
}

TEST(a_later_format_is_refused)
{
    gnomon_profile *p = full_of("0"), *q;
    bytes b = bytes_of(p, "gnomon");
    gnomon__put_32(b.at + 8, GNOMON__FILE_VERSION + 1);
    gnomon__put_32(b.at + 12, gnomon__crc32(0, b.at, 12));
    CHECK_EQ(gnomon_profile_read(&q, b.at, b.size), GNOMON_EINVAL);
    CHECK(strstr(gnomon_error_text(), "later gnomon") != NULL);
    CHECK_EQ(gnomon_profile_read(&q, "not such a file at all", 22),
             GNOMON_EINVAL);
    CHECK_STR(gnomon_error_text(), "not a .gnomon file");
    CHECK_EQ(gnomon_profile_read(&q, NULL, 8), GNOMON_EINVAL);
    gnomon_profile_free(p);
    free(b.at);
}

/* Records of a later gnomon are longer, of an older one shorter. */
TEST(records_of_other_lengths)
{
    gnomon_profile *p = full_of("0");
    bytes b = bytes_of(p, "gnomon");
    size_t at = find_section(&b, "TRCK");
    uint32_t size = gnomon__get_32(b.at + at + 4);
    /* One record of the three's bytes. */
    forge(&b, at, 24, 1);
    forge(&b, at, 4, 3 * size);
    gnomon_profile *q = read_back(&b);
    gnomon_track_info t;
    gnomon_profile_track(q, 1, &t);
    CHECK_STR(t.name, "main");
    CHECK_EQ(loss_of(q, "unreadable: tracks"), 2);
    gnomon_profile_free(q);
    forge(&b, at, 4, 20); /* up to the name */
    q = read_back(&b);
    gnomon_profile_track(q, 1, &t);
    CHECK_STR(t.name, "main");
    CHECK_EQ(t.thread_count, 0);
    gnomon_profile_free(q);
    forge(&b, at, 4, 16); /* without its name */
    q = read_back(&b);
    gnomon_profile_track(q, 1, &t);
    CHECK_STR(t.name, "");
    gnomon_profile_free(p);
    gnomon_profile_free(q);
    free(b.at);
}

/* Counts that would take more memory than the file's size allows. */
TEST(sizes_in_a_file_are_checked)
{
    static const struct {
        size_t field;
        uint32_t value;
    } lies[] = {{8, 0xffffffff},  {12, 0xffffffff}, {16, 0x7fffffff},
                {20, 0x7fffffff}, {24, 0xffffffff}, {4, 0},
                {4, 0xffffffff}};
    gnomon_profile *p = full_of("0"), *q;
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++)
        for (int k = 0; k < GNOMON__ENTITIES; k++) {
            bytes b = bytes_of(p, "gnomon");
            forge(&b, find_section(&b, gnomon__structs[k].kind), lies[i].field,
                  lies[i].value);
            survives(&b);
            free(b.at);
        }
    bytes b = bytes_of(p, "gnomon");
    forge(&b, find_section(&b, "NODE"), 16, 0x7fffffff);
    CHECK_EQ(gnomon_profile_read(&q, b.at, b.size), GNOMON_EINVAL);
    CHECK_STR(gnomon_error_text(), "more is lost than the file can have had");
    gnomon_profile_free(p);
    free(b.at);
}

/* ---- What fails ---------------------------------------------------------------- */

TEST(a_writer_that_fails)
{
    gnomon_profile *p = full_of("0");
    for (size_t n = 1; n < 3000; n += 50) {
        bytes b = {NULL, 0, n};
        const gnomon_writer w = {
            .struct_size = sizeof w, .write = bytes_write, .context = &b};
        CHECK_EQ(gnomon_write(p, "gnomon", &w), GNOMON_EIO);
        free(b.at);
    }
    CHECK_EQ(gnomon_write(p, "gnomon", NULL), GNOMON_EINVAL);
    gnomon_profile_free(p);
}

/* So many ranks that the allocations of blocks, shapes and texts each fail
 * once; missing memory is an error, never taken for absence. */
TEST(each_allocation_may_fail)
{
    gnomon_profile *p = full_of("0123456789");
    bytes good = bytes_of(p, "gnomon");
    uint64_t before = gnomon__heap_bytes();
    int failed = 1;
    for (uint32_t n = 1; failed && n < 1000; n++) {
        bytes b = {NULL, 0, 0};
        gnomon_profile *q;
        const gnomon_writer w = {
            .struct_size = sizeof w, .write = bytes_write, .context = &b};
        gnomon__test_fail_allocation(n);
        int code = gnomon_write(p, "gnomon", &w);
        int read = gnomon_profile_read(&q, good.at, good.size);
        failed = gnomon__test_allocations() >= n;
        gnomon__test_fail_allocation(0);
        CHECK(!failed || code == GNOMON_ENOMEM || read == GNOMON_ENOMEM);
        CHECK(failed || (!code && !read));
        if (!code)
            CHECK(bytes_equal(&b, &good));
        gnomon_profile_free(q);
        free(b.at);
        CHECK_EQ(gnomon__heap_bytes(), before);
    }
    CHECK(!failed);
    gnomon_profile_free(p);
    free(good.at);
}

/* The file is named, and the reason is there, however long the path is. */
TEST(errors_of_a_file_name_it)
{
    gnomon_profile *p;
    char path[] = "/tmp/gnomon-form-XXXXXX", deep[400] = "", *at = deep;
    int fd = mkstemp(path);
    CHECK_EQ(write(fd, "no profile, but long enough", 27), 27);
    close(fd);
    CHECK_EQ(gnomon_profile_load(&p, path), GNOMON_EINVAL);
    CHECK(strncmp(gnomon_error_text(), path, sizeof path - 1) == 0);
    CHECK_STR(gnomon_error_text() + sizeof path - 1, ": not a .gnomon file");
    while (at < deep + 300)
        at += sprintf(at, "/.");
    strcpy(at, path);
    CHECK_EQ(gnomon_profile_load(&p, deep), GNOMON_EINVAL);
    const char *text = gnomon_error_text(), *end = strrchr(text, ':');
    CHECK_STR(end, ": not a .gnomon file");
    CHECK(strncmp(text, deep, (size_t)(end - text)) == 0);
    unlink(path);
    CHECK_EQ(gnomon_profile_load(&p, deep), GNOMON_ENOENT);
    CHECK(strstr(gnomon_error_text(), "/.: No such file or directory"));
}

TEST(files_of_the_system)
{
    gnomon_profile *p = full_of("01"), *q;
    bytes b = bytes_of(p, "gnomon");
    char path[] = "/tmp/gnomon-form-XXXXXX";
    int fd = mkstemp(path);
    CHECK_EQ(write(fd, b.at, b.size), b.size);
    close(fd);
    CHECK_EQ(gnomon_profile_load(&q, path), GNOMON_OK);
    bytes again = bytes_of(q, "gnomon");
    CHECK(bytes_equal(&b, &again));
    gnomon_profile_free(q);
    unlink(path);
    CHECK_EQ(gnomon_profile_load(&q, path), GNOMON_ENOENT);
    CHECK(q == NULL);
    CHECK_EQ(gnomon_profile_load(&q, "/"), GNOMON_EIO);
    CHECK_STR(gnomon_error_text(), "/: Is a directory");
    CHECK_EQ(gnomon_profile_load(&q, NULL), GNOMON_EINVAL);
    gnomon_profile_free(p);
    free(b.at);
    free(again.at);
}
