/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A program that has gnomon and NVTX's marks: both tell of one run. Its words:
 *
 *     host    three scopes of its own, each with two of NVTX's inside
 *     nvtx    two of NVTX's alone
 *     off     nothing is attached from now on
 *     on      simple is
 *     cross   NVTX's ranges that are open while that changes
 *     domains ranges of two domains that end crosswise */
#include <stdio.h>
#include <string.h>

#include <gnomon.h>
#include <nvtx3/nvToolsExt.h>

static void use_nvtx(const char *name)
{
    for (int i = 0; i < 2; i++) {
        nvtxRangePushA(name);
        nvtxRangePop();
    }
}

/* A pop always meets its push, so what comes after is counted once. */
static void cross(void)
{
    int before = nvtxRangePushA("before"); /* while it is on */
    gnomon_attach(NULL, NULL, "");
    int between = nvtxRangePushA("between");
    gnomon_attach(NULL, NULL, "simple");
    int after = nvtxRangePushA("after");
    int out[] = {nvtxRangePop(), nvtxRangePop(), 0, 0};
    gnomon_attach(NULL, NULL, "");
    out[2] = nvtxRangePop();
    gnomon_attach(NULL, NULL, "simple");
    out[3] = nvtxRangePop();
    use_nvtx("later");
    printf("%d %d %d: %d %d %d %d\n", before, between, after, out[0], out[1],
           out[2], out[3]);
}

static void domains(void)
{
    nvtxDomainHandle_t lib = nvtxDomainCreateA("lib");
    nvtxEventAttributes_t a = {0};
    a.version = NVTX_VERSION;
    a.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    a.messageType = NVTX_MESSAGE_TYPE_ASCII;
    a.message.ascii = "inner";
    nvtxRangePushA("outer");
    nvtxDomainRangePushEx(lib, &a);
    nvtxRangePop();
    nvtxRangePushA("innermost");
    nvtxRangePop();
    nvtxDomainRangePop(lib);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "host") == 0)
            for (int k = 0; k < 3; k++) {
                GNOMON_SCOPE("host");
                use_nvtx("inside");
            }
        else if (strcmp(argv[i], "nvtx") == 0)
            use_nvtx("alone");
        else if (strcmp(argv[i], "off") == 0)
            gnomon_attach(NULL, NULL, "");
        else if (strcmp(argv[i], "on") == 0)
            gnomon_attach(NULL, NULL, "simple");
        else if (strcmp(argv[i], "cross") == 0)
            cross();
        else if (strcmp(argv[i], "domains") == 0)
            domains();
    }
    return 0;
}
