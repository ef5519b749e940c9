/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* How gnomon's thread-local words are reached. GNOMON__TLS stands behind each
 * of them, at its declaration and its definition.
 *
 * initial-exec is the fastest model, but it takes room of which a process
 * has little beyond what the libraries of its start use. So a dlopen fails
 * where others used that room, and always under musl. Whoever builds gnomon
 * says whether its module may be loaded late (cmake/GnomonTls.cmake); else
 * the compiler's flags decide. */
#ifndef GNOMON_PLATFORM_TLS_H
#define GNOMON_PLATFORM_TLS_H

#include <stdint.h>

#ifdef GNOMON_TLS_INITIAL_EXEC
#define GNOMON__TLS __attribute__((tls_model("initial-exec")))
#else
#define GNOMON__TLS
#endif

#ifdef GNOMON_TLS_NEAR

/* The distance of thread-local `word` from the thread's pointer if it is the
 * same for all threads, else 0.
 *
 * The loader gives a descriptor, {function, argument}. For a word in the
 * room of the start the function returns its argument, which is negative and
 * is the distance; for any other word the argument points to data for a
 * look-up. In an executable the linker replaces all this by the distance
 * itself. A descriptor's function changes no register but rax. */
#define gnomon__tls_distance(word) \
    __extension__({ \
        intptr_t gnomon__distance; \
        const intptr_t *gnomon__descriptor; \
        __asm__ volatile("movq %%rsp, %%rbx\n\t" \
                         "subq $128, %%rsp\n\t" \
                         "andq $-16, %%rsp\n\t" \
                         "leaq " #word "@tlsdesc(%%rip), %%rax\n\t" \
                         "movq %%rax, %1\n\t" \
                         "call *" #word "@tlscall(%%rax)\n\t" \
                         "movq %%rbx, %%rsp" \
                         : "=&a"(gnomon__distance), "=&r"(gnomon__descriptor) \
                         : \
                         : "rbx", "cc", "memory"); \
        (uintptr_t)( \
            gnomon__distance >= 0 || \
                    ((intptr_t)gnomon__descriptor != gnomon__distance && \
                     gnomon__descriptor[1] != gnomon__distance) \
                ? 0 \
                : gnomon__distance); \
    })

static inline uintptr_t gnomon__tls_pointer(void)
{
    uintptr_t pointer;
    __asm__("movq %%fs:0, %0" : "=r"(pointer));
    return pointer;
}

/* A pointer to such a word is its distance: the segment register adds the
 * thread's pointer. */
#define GNOMON__NEAR __seg_fs
#else
#define GNOMON__NEAR
#endif

#endif
