/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Kernels' names as they stand in their source. CUPTI tells those of the linker. */
#ifndef GNOMON_DEVICE_CUPTI_DEMANGLE_H
#define GNOMON_DEVICE_CUPTI_DEMANGLE_H

/* "void gemm<float>(float*)" of "_Z4gemmIfEvPT_". The same text where it is no such name,
 * or the process has no C++ runtime, which knows how. Of one thread at a time. */
const char *gnomon__cupti_demangled(const char *name);

/* Looks for that runtime, until it is found. Takes the loader's lock. */
void gnomon__cupti_demangle_begin(void);

#endif
