/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The files of the page, which cmake/embed.cmake makes of page.html, .css and .js. */
#ifndef GNOMON_PAGE_TEMPLATE_H
#define GNOMON_PAGE_TEMPLATE_H

#include <stddef.h>

typedef struct gnomon__template {
    const char *text; /* with a final NUL, which is not counted */
    size_t size;
    const unsigned char *sha256; /* 32 bytes */
} gnomon__template;

extern const gnomon__template gnomon__template_html, gnomon__template_css,
    gnomon__template_js;

#endif
