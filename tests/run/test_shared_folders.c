/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Folders that others may write to: whatever another user puts there, no
 * report goes into a private file or to that user, and a pipe without a
 * reader does not stop the host.
 *
 * links: testing
 * labels: guest */
#include <errno.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <gnomon.h>

#include "shared_folder.h"
#include "os_calls.h"

#define ONE "do=train_step"

/* ---- What is followed ---------------------------------------------------- */

TEST(links_of_one_s_own_are_followed_to_streams)
{
    char text[16] = "";
    child_folder();
    make_folder("logs", 0777);
    CHECK_EQ(mkfifo("pipe", 0600), 0);
    CHECK_EQ(symlink("logs", "folder"), 0);
    CHECK_EQ(symlink("../pipe", "logs/link"), 0);
    CHECK_EQ(symlink("link", "logs/longer"), 0);
    int reader = open("pipe", O_RDONLY | O_NONBLOCK);
    CHECK_EQ(publish("folder//longer"), 0);
    CHECK_EQ(read(reader, text, 15), 6);
    snprintf(text, sizeof text, "/dev/fd/%d", open("pipe", O_WRONLY));
    CHECK_EQ(publish(text), 0);
    CHECK_EQ(symlink(text, "logs/number"), 0);
    CHECK_EQ(publish("logs/number"), 0);
    CHECK_EQ(read(reader, text, 15), 12);
    /* Looping and dangling links are replaced. */
    CHECK_EQ(symlink("loop", "loop"), 0);
    CHECK_EQ(publish("loop/r"), ELOOP);
    CHECK_EQ(publish("loop"), 0);
    CHECK_STR(child_read("loop"), "report");
    CHECK_EQ(symlink("no/thing", "nowhere"), 0);
    CHECK_EQ(publish("nowhere/r"), ENOENT);
    CHECK_EQ(publish("nowhere"), 0);
    CHECK(access("no", F_OK) != 0);
    /* Folders are made below a link, and removed where that failed later. */
    make_folder("logs/taken", 0777);
    CHECK_EQ(publish("folder/a//b/../c/r"), 0);
    CHECK_STR(child_read("logs/a/c/r"), "report");
    CHECK_EQ(publish("folder/d//e/../../taken"), EISDIR);
    CHECK(access("logs/d", F_OK) != 0);
}

TEST(paths_of_any_length)
{
    char path[6000] = "./", link[3000] = "";
    child_folder();
    make_folder("f", 0777);
    for (size_t n = 2; n < sizeof path - 2; n += 2)
        memcpy(path + n, "./", 2);
    strcpy(path + 4000, "f/r");
    CHECK_EQ(publish(path), 0);
    CHECK_STR(child_read("f/r"), "report");
    memcpy(path + 4000, "././", 4);
    strcpy(path + 5000, "f/r");
    CHECK_EQ(publish(path), ENAMETOOLONG);
    for (size_t n = 0; n < sizeof link - 2; n += 2)
        memcpy(link + n, "./", 2);
    strcpy(link + sizeof link - 2, "f");
    CHECK_EQ(symlink(link, "long"), 0);
    CHECK_EQ(publish("long/r"), 0);
    memcpy(path, "long/", 5);
    strcpy(path + 2500, "/r");
    CHECK_EQ(publish(path), ENAMETOOLONG); /* together */
}

/* ---- Files of other users ------------------------------------------------ */

/* The host's report goes to stderr, after one line with the remedy. */
static void refused(const char *environment)
{
    child_result r = host(environment, "stage=fit", ONE, "end", ONE, "exit=7");
    CHECK_EQ(r.status, 7);
    CHECK_EQ(times_in(r.err, "another user's, in a folder that others may "
                             "write to"),
             1);
    CHECK_EQ(times_in(r.err, "give file= or dir= another path; here it is"), 1);
    if (!CHECK_EQ(times_in(r.err, "Profiler Report\n"), 2))
        fprintf(stderr, "    %s\n", r.err);
}

TEST(another_users_pipe_gets_nothing)
{
    char text[16] = "";
    child_folder();
    make_folder("sticky", 01777);
    make_folder("all", 0777);
    CHECK_EQ(mkfifo("sticky/pipe", 0666) | mkfifo("all/pipe", 0666), 0);
    CHECK_EQ(symlink("sticky/pipe", "link"), 0);
    int reader = open("sticky/pipe", O_RDONLY | O_NONBLOCK);
    CHECK_EQ(publish("sticky/pipe"), 0); /* one's own */
    CHECK_EQ(read(reader, text, 15), 6);
    if (!give("sticky/pipe", STRANGER) || !give("all/pipe", STRANGER))
        SKIP("only root gives files away");
    refused("GNOMON=simple,file=sticky/pipe");
    refused("GNOMON=simple,file=all/pipe");
    refused("GNOMON=simple,file=link");
    CHECK_EQ(read(reader, text, 15), 0);
    CHECK(give("sticky", STRANGER)); /* whose folder it is now */
    CHECK_EQ(publish("sticky/pipe"), 0);
    CHECK_EQ(read(reader, text, 15), 6);
}

TEST(another_users_file_stays_in_a_sticky_folder)
{
    struct stat info;
    child_folder();
    make_folder("sticky", 01777);
    put("private", "private");
    if (!give("private", STRANGER) || !give("sticky", OWNER))
        SKIP("only root gives files away");
    CHECK_EQ(link("private", "sticky/r.txt"), 0);
    CHECK_EQ(symlink("nothing", "sticky/link"), 0);
    CHECK(give("sticky/link", STRANGER));
    refused("GNOMON=simple,file=sticky/r.txt");
    refused("GNOMON=simple,file=sticky/link");
    CHECK_STR(child_read("private"), "private");
    CHECK_EQ(stat("private", &info), 0);
    CHECK_EQ(info.st_nlink, 2);
    CHECK(is_link("sticky/link"));
    /* The user's own file, linked there by another user, is replaced, not
     * written to. */
    put("own", "own");
    CHECK_EQ(link("own", "sticky/own.txt"), 0);
    CHECK_EQ(publish("sticky/own.txt"), 0);
    CHECK_STR(child_read("own"), "own");
    CHECK_STR(child_read("sticky/own.txt"), "report");
}

/* ---- Without a reader ---------------------------------------------------- */

/* Opened for reading, and never read. */
static void not_drained(const char *environment, const char *line)
{
    int reader = open("pipe", O_RDONLY | O_NONBLOCK);
    CHECK_EQ(fcntl(reader, F_SETPIPE_SZ, 4096), 4096);
    child_result r = host(environment, "many=x", "say=unharmed", "exit=7");
    CHECK_EQ(r.status, 7);
    CHECK_STR(r.out, "unharmed\n");
    if (!CHECK_EQ(times_in(r.err, line), 1))
        fprintf(stderr, "    %s\n", r.err);
    CHECK_EQ(times_in(r.err, "nobody reads it"), 1);
    CHECK_EQ(times_in(r.err, "|  x 199"), 1); /* here it is */
    close(reader);
}

TEST(a_pipe_that_nobody_drains_hangs_no_exit)
{
    child_folder();
    CHECK_EQ(mkfifo("pipe", 0600), 0);
    not_drained("GNOMON=simple,file=pipe",
                "gnomon: cannot write the report to pipe: nobody reads it: "
                "give file= or dir= another path; here it is\n");
    CHECK_EQ(rename("pipe", "run.gnomon"), 0);
    CHECK_EQ(symlink("run.gnomon", "pipe"), 0);
    not_drained("GNOMON=simple,file=run.gnomon",
                "gnomon: cannot write the profile to run.gnomon: nobody reads "
                "it: give file= another path\n");
}

TEST(a_socket_is_left_alone)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX, .sun_path = "socket"};
    struct stat info;
    child_folder();
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    CHECK_EQ(bind(fd, (struct sockaddr *)&name, sizeof name), 0);
    CHECK_EQ(listen(fd, 1), 0);
    CHECK_EQ(publish("socket"), ENXIO);
    CHECK_EQ(stat("socket", &info), 0);
    CHECK(S_ISSOCK(info.st_mode));
    close(fd);
}

/* The host waits once, however many reports there are. */
TEST(unread_files_are_waited_for_once)
{
    child_folder();
    CHECK_EQ(mkfifo("pipe", 0600), 0);
    int reader = open("pipe", O_RDONLY | O_NONBLOCK);
    CHECK_EQ(fcntl(reader, F_SETPIPE_SZ, 4096), 4096);
    dup2(open("err", O_WRONLY | O_CREAT | O_APPEND, 0600), 2);
    CHECK_EQ(gnomon_attach(NULL, NULL, "simple,file=pipe"), GNOMON_OK);
    gnomon__test_fail_calls("poll", UINT64_MAX, 1, 0); /* counts them */
    for (int stage = 0; stage < 3; stage++) {
        gnomon_stage_begin("fit");
        for (int i = 0; i < 200; i++) {
            char name[16];
            snprintf(name, sizeof name, "action %d", i);
            gnomon_start(name);
            gnomon_stop(name);
        }
        gnomon_stage_end();
    }
    CHECK_EQ(gnomon_attach(NULL, NULL, ""), GNOMON_OK);
    CHECK_EQ(gnomon__test_calls(), 1);
    CHECK_EQ(times_in(child_read("err"), "nobody reads it"), 1);
    close(reader);
}

TEST(a_terminal_that_nobody_reads_holds_no_exit_up)
{
    char environment[128], name[64];
    int terminal = posix_openpt(O_RDWR | O_NOCTTY);
    if (terminal < 0 || grantpt(terminal) || unlockpt(terminal) ||
        ptsname_r(terminal, name, sizeof name))
        SKIP("no terminals");
    /* Both ends are open, and the other one is never read. */
    int near = open(name, O_RDWR | O_NOCTTY);
    snprintf(environment, sizeof environment, "GNOMON=simple,file=%s", name);
    child_result r = host(environment, "many=x", "many=y", "many=z", "many=v",
                          "many=w", "say=unharmed", "exit=7");
    CHECK_EQ(r.status, 7);
    CHECK_STR(r.out, "unharmed\n");
    if (times_in(r.err, "nobody reads it") != 1)
        SKIP("the terminal holds it all");
    CHECK_EQ(times_in(r.err, "|  w 199"), 1);
    close(near);
    close(terminal);
}
