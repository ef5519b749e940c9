/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <gnomon.h>
#include <gnomon/tool.h>
#include <stdio.h>
#include <string.h>

int main(void)
{
    int i;
    for (i = 0; i < 3; i++) {
        GNOMON_SCOPE("consumer_step");
        gnomon_step();
    }
    printf("gnomon %s\n", gnomon_version());
    return strcmp(gnomon_version(), GNOMON_VERSION) == 0 ? 0 : 1;
}
