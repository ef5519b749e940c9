/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* In a folder that others may write to, names change while a report is written:
 * no report goes into a private file, or to another user.
 *
 * links: testing
 * labels: guest */
#include <errno.h>

#include <gnomon.h>

#include "shared_folder.h"
#include "os_calls.h"

/* ---- Names that change places --------------------------------------------- */

/* Calls of the library so far, and before which of them the names change places. */
static unsigned calls_made, flips_at[2];

static void flip(void)
{
    CHECK_EQ(rename("all/r", "all/third") | rename("all/other", "all/r") |
                 rename("all/third", "all/other"),
             0);
}

static void flip_at_call(void)
{
    int kept = errno;
    calls_made++;
    if (calls_made == flips_at[0] || calls_made == flips_at[1])
        flip();
    errno = kept;
}

/* One try; `arrange` brings the names to their places. */
static int report_once(void (*arrange)(void), int (*report)(void))
{
    arrange();
    calls_made = 0;
    gnomon__test_at_calls(flip_at_call);
    int code = report();
    gnomon__test_at_calls(NULL);
    return code;
}

/* The names change places before each call of `report` in turn, and back before each
 * later one: a name that is tested in one call and followed in another is found without
 * a second thread. In the last try there is no flip; returns what `report` returned. */
static int report_among_flips(void (*arrange)(void), int (*report)(void))
{
    for (flips_at[0] = 1;; flips_at[0]++)
        for (flips_at[1] = flips_at[0];; flips_at[1]++) {
            int code = report_once(arrange, report);
            if (calls_made < flips_at[0])
                return code;
            if (calls_made < flips_at[1])
                break;
        }
}

static const char *stream; /* to which all/r leads at first */
static uid_t links_of;     /* 0: one's own */

/* Links to `stream` and to a private file. */
static void make_links(void)
{
    (void)unlink("all/r");
    (void)unlink("all/other");
    CHECK_EQ(symlink(stream, "all/r"), 0);
    CHECK_EQ(symlink("../private", "all/other"), 0);
    if (links_of)
        CHECK(give("all/r", links_of) && give("all/other", links_of));
}

static int make_report(int fd, const void *unused)
{
    (void)unused;
    return gnomon__os_write(fd, "report", 6);
}

static int publish_there(void)
{
    return publish("all/r");
}

static int append_there(void)
{
    gnomon__os_file mine = {0, 0, 0};
    return gnomon__os_append_made("all/r", make_report, NULL, &mine);
}

/* What both ways of writing return without flips. */
static void no_report_into_private(mode_t mode, const char *to, uid_t user,
                                   int published, int appended)
{
    stream = to;
    links_of = user;
    make_folder("all", mode);
    put("private", "private");
    CHECK_EQ(report_among_flips(make_links, publish_there), published);
    CHECK_EQ(report_among_flips(make_links, append_there), appended);
    CHECK_STR(child_read("private"), "private");
    CHECK_EQ(system("rm -r all private"), 0);
}

TEST(no_report_into_a_private_file_by_a_link_that_flips)
{
    child_folder();
    no_report_into_private(0777, "/dev/null", 0, 0, 0);
    no_report_into_private(01777, "/dev/null", 0, 0, 0);
    CHECK_EQ(mkfifo("pipe", 0600), 0); /* which nobody reads */
    no_report_into_private(0777, "../pipe", 0, ENXIO, ENXIO);
}

static int other_is_link;

/* One's own pipe, and the private file or a link to it. */
static void make_pipe_and_file(void)
{
    (void)unlink("all/r");
    (void)unlink("all/other");
    CHECK_EQ(link("pipe", "all/r"), 0);
    CHECK_EQ(other_is_link ? symlink("../private", "all/other")
                           : link("private", "all/other"),
             0);
}

TEST(no_report_into_a_private_file_in_the_place_of_a_pipe)
{
    char bytes[64];
    child_folder();
    make_folder("all", 0777);
    put("private", "private");
    CHECK_EQ(mkfifo("pipe", 0600), 0);
    int reader = open("pipe", O_RDONLY | O_NONBLOCK);
    for (other_is_link = 0; other_is_link < 2; other_is_link++) {
        CHECK_EQ(report_among_flips(make_pipe_and_file, publish_there), 0);
        CHECK_EQ(report_among_flips(make_pipe_and_file, append_there), 0);
    }
    CHECK(read(reader, bytes, sizeof bytes) > 0);
    CHECK_STR(child_read("private"), "private");
}

TEST(no_report_by_a_link_of_another_user)
{
    child_folder();
    put("file", "");
    if (!give("file", STRANGER))
        SKIP("only root gives files away");
    no_report_into_private(0777, "/dev/null", STRANGER, 0, ENOENT);
    no_report_into_private(01777, "/dev/null", STRANGER, GNOMON__OS_FOREIGN,
                           ENOENT);
}

static void put_folder_first(void)
{
    if (is_link("all/r"))
        flip();
}

static int publish_below(void)
{
    return publish("all/r/report");
}

/* The folder itself: first a folder, then a link of another user to a
 * private one. */
TEST(no_report_into_a_private_folder)
{
    child_folder();
    make_folder("all", 0777);
    make_folder("all/r", 0755);
    make_folder("private", 0700);
    CHECK_EQ(symlink("../private", "all/other"), 0);
    if (!give("all/other", STRANGER))
        SKIP("only root gives files away");
    CHECK_EQ(report_among_flips(put_folder_first, publish_below), 0);
    CHECK(access("private/report", F_OK) != 0);
}

static struct stat own_pipe;

static void put_own_pipe_first(void)
{
    struct stat info;
    CHECK_EQ(lstat("all/r", &info), 0);
    if (info.st_ino != own_pipe.st_ino)
        flip();
}

/* It was the user's own when it was checked. */
TEST(a_pipe_is_checked_after_it_is_opened)
{
    char bytes[64];
    child_folder();
    make_folder("all", 0777);
    CHECK_EQ(mkfifo("all/r", 0600) | mkfifo("all/other", 0600), 0);
    if (!give("all/other", STRANGER))
        SKIP("only root gives files away");
    CHECK_EQ(lstat("all/r", &own_pipe), 0);
    int mine = open("all/r", O_RDONLY | O_NONBLOCK);
    int theirs = open("all/other", O_RDONLY | O_NONBLOCK);
    CHECK_EQ(report_among_flips(put_own_pipe_first, publish_there), 0);
    CHECK(read(mine, bytes, sizeof bytes) > 0);
    CHECK_EQ(read(theirs, bytes, sizeof bytes), 0);
}
