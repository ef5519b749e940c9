# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#   cmake -D SOURCE=<this project> -D OUT=<folder> -P cmake/amalgamate.cmake
#
# Writes the whole library as one file, OUT/gnomon.c, and the public headers below
# OUT/include. A host compiles the file with its own and needs only libc.
#
# The folders of src/ come in the order of their dependencies; each header of src/
# comes before its first use. System and public headers are included at the top,
# because everything after them has hidden visibility, whatever flags the host
# compiles with. Names of statics are unique in src/, so nothing is renamed here.
cmake_minimum_required(VERSION 3.22)

set(rooms platform spec ops profile mark record device print export profilers run)
# The #if condition for a system header, if it needs one.
set(wanted_cpuid.h "defined(__x86_64__)")
set(wanted_nvtx3/nvToolsExt.h "GNOMON_WITH_NVTX")
set(wanted_nvtx3/nvToolsExtCounters.h
  "GNOMON_WITH_NVTX && __has_include(<nvtx3/nvToolsExtCounters.h>)")
set(wanted_nvtx3/nvToolsExtPayload.h
  "GNOMON_WITH_NVTX && __has_include(<nvtx3/nvToolsExtPayload.h>)")
set(wanted_valgrind/drd.h
  "defined GNOMON_WITH_VALGRIND && GNOMON_WITH_VALGRIND")
set(wanted_valgrind/helgrind.h "${wanted_valgrind/drd.h}")

set(known "|") # headers that are already written
set(system "") # includes, one on each line
set(public "")
set(body "")

# Appends src/`path` to `body`, with the headers of src/ that it includes before it.
# It works on whole strings, because CMake lists lose brackets and semicolons.
function(append path)
  file(READ "${SOURCE}/src/${path}" text)
  string(REGEX REPLACE "^/[*] SPDX[^\n]*\n" "" text "${text}")
  set(mine "")
  while(text MATCHES "(^|\n)(#include [<\"]([^\n>\"]+)[>\"])")
    set(include "${CMAKE_MATCH_2}")
    set(name "${CMAKE_MATCH_3}")
    string(FIND "${text}" "${include}" at)
    string(SUBSTRING "${text}" 0 ${at} before)
    string(SUBSTRING "${text}" ${at} -1 text)
    string(FIND "${text}" "\n" end) # of the line, with its comment
    string(SUBSTRING "${text}" ${end} -1 text)
    string(APPEND mine "${before}")
    if(known MATCHES "[|]${name}[|]")
      continue()
    endif()
    string(APPEND known "${name}|")
    if(EXISTS "${SOURCE}/src/${name}")
      append("${name}")
    elseif(EXISTS "${SOURCE}/include/${name}")
      string(APPEND public "${include}\n")
    elseif(DEFINED wanted_${name})
      string(APPEND system "#if ${wanted_${name}}\n${include}\n#endif\n")
    else()
      string(APPEND system "${include}\n")
    endif()
  endwhile()
  string(APPEND mine "${text}")
  string(REGEX REPLACE "\n\n\n+" "\n\n" mine "${mine}")
  string(APPEND body "\n/* ======== src/${path} ======== */\n${mine}")
  foreach(variable known system public body)
    set(${variable} "${${variable}}" PARENT_SCOPE)
  endforeach()
endfunction()

foreach(room IN LISTS rooms)
  file(GLOB files RELATIVE "${SOURCE}/src" "${SOURCE}/src/${room}/*.c")
  # What is in the program only: as in GnomonLibrary.cmake.
  list(FILTER files EXCLUDE REGEX "^profile/json_(read|struct|value)\\.c$")
  if(room STREQUAL "export")
    list(FILTER files INCLUDE REGEX "/(text|forms|lanes|timeline|chrome[a-z_]*)\\.c$")
  endif()
  list(SORT files)
  foreach(file IN LISTS files)
    append("${file}")
  endforeach()
endforeach()

file(STRINGS "${SOURCE}/include/gnomon.h" version
  REGEX "^#define GNOMON_VERSION \"")
string(REGEX REPLACE ".*\"(.*)\".*" "\\1" version "${version}")
set(top "/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* gnomon ${version} in one file, generated: changes belong into src/.
 *
 *     cc -std=gnu11 -O2 -Iinclude gnomon.c app.c
 *
 * Needs libc alone. If mimalloc is installed, it is loaded at run time as gnomon's
 * own heap; with -DGNOMON_WITH_MIMALLOC=0 it is not. -DGNOMON_WITH_NVTX=1 and
 * -isystem with the headers of NVTX 3 add the profiler nvtx. The compiler's flags
 * choose the model of thread-local storage. The module that this is linked into
 * exports only what the public headers declare. */
#ifdef __cplusplus
#error \"gnomon.c is C: compile it with cc -std=gnu11 -c, not with a C++ compiler, and link gnomon.o\"
#else
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#ifndef GNOMON_WITH_MIMALLOC
#define GNOMON_WITH_MIMALLOC 1
#endif
#ifndef GNOMON_WITH_NVTX
#define GNOMON_WITH_NVTX 0
#endif
#define GNOMON_BUILTIN
#define NVTX_NO_IMPL

")
file(WRITE "${OUT}/gnomon.c" "${top}${public}
#ifdef GNOMON_DISABLE
typedef int gnomon__disabled; /* ISO C forbids an empty file */
#else

${system}
#pragma GCC visibility push(hidden)
${body}
#pragma GCC visibility pop
#endif
#endif
")
file(GLOB headers RELATIVE "${SOURCE}/include"
  "${SOURCE}/include/*.h" "${SOURCE}/include/*/*.h")
foreach(header IN LISTS headers)
  configure_file("${SOURCE}/include/${header}" "${OUT}/include/${header}"
    COPYONLY)
endforeach()
# Those of C++ stand beside them.
file(GLOB_RECURSE headers RELATIVE "${SOURCE}/bindings/cpp"
  "${SOURCE}/bindings/cpp/*.hpp")
foreach(header IN LISTS headers)
  configure_file("${SOURCE}/bindings/cpp/${header}" "${OUT}/include/${header}"
    COPYONLY)
endforeach()
