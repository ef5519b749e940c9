# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# How the library reaches its thread-local words (src/platform/tls.h):
#
#   descriptors   the loader tells once where the words are, if it had room for
#                 them beside those of the program's start: from then on one
#                 load and one test. Else as "dynamic". Loads late, also where
#                 that room is used up, and under musl. x86-64; elsewhere what
#                 the compiler makes of "dynamic" is as good
#   dynamic       what the compiler does by itself: in a library that is a call
#                 for each half of a mark, in an executable nothing
#   initial-exec  one load. Only for what no process loads with dlopen
#
# "auto": descriptors where compiler and assembler know them, else dynamic.
# gnomon::executable is always initial-exec.
include(CheckCSourceCompiles)

set(GNOMON_TLS auto CACHE STRING
  "Thread-local storage: auto, descriptors, dynamic or initial-exec")
set_property(CACHE GNOMON_TLS PROPERTY STRINGS
  auto descriptors dynamic initial-exec)

set(GNOMON_TLS_DEFINITIONS)
if(GNOMON_TLS MATCHES "^(auto|descriptors)$")
  check_c_source_compiles("
    #if !defined(__x86_64__) || !defined(__LP64__) || !defined(__SEG_FS)
    #error
    #endif
    __thread int word;
    int main(void)
    {
        void *d;
        __asm__(\"leaq word@tlsdesc(%%rip), %0\" : \"=a\"(d));
        return d == 0;
    }" GNOMON_HAS_TLS_NEAR)
  if(GNOMON_HAS_TLS_NEAR AND NOT GNOMON_SANITIZE) # which follow no distance
    set(GNOMON_TLS_DEFINITIONS GNOMON_TLS_NEAR)
  elseif(GNOMON_TLS STREQUAL "descriptors" AND
      CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
    message(FATAL_ERROR "GNOMON_TLS=descriptors: not with ${CMAKE_C_COMPILER} "
      "or a sanitizer. Say GNOMON_TLS=dynamic")
  endif()
elseif(GNOMON_TLS STREQUAL "initial-exec")
  set(GNOMON_TLS_DEFINITIONS GNOMON_TLS_INITIAL_EXEC)
elseif(NOT GNOMON_TLS STREQUAL "dynamic")
  message(FATAL_ERROR "GNOMON_TLS=${GNOMON_TLS}: say auto, descriptors, "
    "dynamic or initial-exec")
endif()
