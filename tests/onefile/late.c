/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* late LIBRARY: a program that knows nothing of gnomon, and the app_main() of a
 * library that has a copy of its own. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    int (*run)(void);
    void *library, *symbol;
    if (argc != 2)
        return 2;
    library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    symbol = library != NULL ? dlsym(library, "app_main") : NULL;
    if (symbol == NULL) {
        fprintf(stderr, "late: %s\n", dlerror());
        return 2;
    }
    memcpy(&run, &symbol, sizeof run);
    return run();
}
