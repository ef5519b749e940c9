/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* One thread hands work to others. A link connects the two sides.
 * env: GNOMON=simple
 */
#include <gnomon.h>
#include <gnomon/profile.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

/* A link is a plain value, which is passed along with the work. */
static gnomon_link submitted;

static void *decode(void *name)
{
    gnomon_thread_name(name);
    GNOMON_SCOPE("decode");
    gnomon_link_in(&submitted, GNOMON_LINK_SUBMIT);
    usleep(3000);
    return NULL;
}

static void print_node(const gnomon_profile *profile, size_t number,
                       const char *after)
{
    gnomon_node_info node;
    gnomon_region_info region;
    gnomon_track_info track;
    gnomon_profile_node(profile, number, &node);
    gnomon_profile_region(profile, node.region, &region);
    gnomon_profile_track(profile, node.track, &track);
    printf("%s on %s%s", region.name, track.name, after);
}

int main(void)
{
    pthread_t threads[2];
    char names[2][16] = {"worker 0", "worker 1"};
    gnomon_profile *profile;
    gnomon_link_info link;
    {
        GNOMON_SCOPE("load_batch");
        submitted = gnomon_link_out();
        for (int i = 0; i < 2; i++)
            pthread_create(&threads[i], NULL, decode, names[i]);
        usleep(100000);
        for (int i = 0; i < 2; i++)
            pthread_join(threads[i], NULL);
    }
    /* A program can read the recorded data at any time. */
    if (gnomon_snapshot(&profile, "simple", 0) != GNOMON_OK)
        return 1;
    for (size_t i = 1; gnomon_profile_link(profile, i, &link) == 0; i++) {
        print_node(profile, link.from, " caused ");
        print_node(profile, link.to, "\n");
    }
    gnomon_profile_free(profile);
    return 0;
}
