/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The profile's side of the library of the next release: src/, against its
 * headers, with its rows (next.cmake). */
#include "profile/json_read.h"
#include "release.h"

static const release_library library = {
    gnomon_builder_create, gnomon_builder_add, gnomon_builder_finish,
    gnomon_profile_check,  gnomon_write,       gnomon_profile_read,
    gnomon__json_read,     gnomon_error_text};

__attribute__((visibility("default"))) release_library_get library_of_release;

const release_library *library_of_release(void)
{
    return &library;
}
