# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# How the library reaches its thread-local words (src/platform/tls.h):
#
#   descriptors   TLS descriptors: if the loader has room for the words in the static
#                 TLS area, a mark needs one load and one test. If not, it is like
#                 "dynamic". Works with dlopen, also when that area is full, and with
#                 musl. x86-64 only; elsewhere "dynamic" is as good
#   dynamic       the compiler's default: in a shared library a call for each half
#                 of a mark, in an executable no cost
#   initial-exec  one load. Only for code that no process loads with dlopen
#
# "auto": descriptors if compiler and assembler support them, else dynamic.
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
  if(GNOMON_HAS_TLS_NEAR AND NOT GNOMON_SANITIZE) # sanitizers do not understand it
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
