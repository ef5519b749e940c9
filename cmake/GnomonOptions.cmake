# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The options, and the compiler flags that they give every target of this project.

if(PROJECT_IS_TOP_LEVEL AND NOT DEFINED BUILD_SHARED_LIBS)
  set(both ON)
else()
  set(both OFF)
endif()
option(GNOMON_BOTH "Build the shared and the static library" ${both})
if(PROJECT_IS_TOP_LEVEL AND GNOMON_BOTH)
  set(whole ON)
else()
  set(whole OFF)
endif()
option(GNOMON_TESTS "Build the tests" ${whole})
option(GNOMON_EXAMPLES "Build the examples" ${whole})
option(GNOMON_BENCH "Build the benchmark" ${whole})
option(GNOMON_GPU "Build what needs NVIDIA's compiler: tests, bench, demo" OFF)
option(GNOMON_PYTHON "Build the Python package, if Python's headers are found" ${whole})
option(GNOMON_INSTALL "Install the library" ${PROJECT_IS_TOP_LEVEL})
option(GNOMON_MIMALLOC "Use mimalloc for gnomon's own heap if it is installed" ON)
option(GNOMON_VALGRIND
  "Tell helgrind and drd of atomic words, if Valgrind's headers are found" ON)
option(GNOMON_NVTX "Build the profiler nvtx if NVTX's headers are found" ON)
option(GNOMON_WARNINGS "Developers: all warnings, as errors" OFF)
option(GNOMON_COVERAGE "Developers: count what runs, for gcov" OFF)
set(GNOMON_SANITIZE "" CACHE STRING
  "Developers: address,undefined or thread; empty for none")

set(GNOMON_TEST_FOLDERS "" CACHE STRING
  "Developers: folders of tests/, or suites, that are built; empty for all")

foreach(part TESTS EXAMPLES BENCH GPU)
  if(GNOMON_${part} AND NOT GNOMON_BOTH)
    message(FATAL_ERROR "GNOMON_${part} needs both libraries: GNOMON_BOTH=ON")
  endif()
endforeach()

set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_CXX_STANDARD 11)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)

# Sanitizer reports need line numbers only, not full debug information.
if(GNOMON_SANITIZE)
  add_compile_options(-fsanitize=${GNOMON_SANITIZE} -fno-omit-frame-pointer
    -fno-sanitize-recover=all -g1 -O1)
  add_link_options(-fsanitize=${GNOMON_SANITIZE})
endif()
if(GNOMON_COVERAGE)
  add_compile_options(--coverage)
  add_link_options(--coverage)
endif()

# ThreadSanitizer cannot map its shadow memory if addresses are randomized widely.
set(GNOMON_TEST_LAUNCHER "")
if(GNOMON_SANITIZE MATCHES "thread")
  set(GNOMON_TEST_LAUNCHER setarch ${CMAKE_HOST_SYSTEM_PROCESSOR} -R)
  execute_process(COMMAND ${GNOMON_TEST_LAUNCHER} true
    RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
  if(failed)
    set(GNOMON_TEST_LAUNCHER "")
  endif()
endif()

set(warnings -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wundef -Wcast-qual
  -Wpointer-arith -Wvla -Wwrite-strings -Wformat=2 -Wdouble-promotion -Werror)
# The checks that a sanitizer adds cause false warnings of this kind.
if(GNOMON_SANITIZE AND CMAKE_C_COMPILER_ID STREQUAL "GNU")
  list(APPEND warnings -Wno-format-truncation)
endif()

# Only for this project's own targets, and only if asked for.
function(gnomon_set_warnings target)
  if(GNOMON_WARNINGS)
    target_compile_options(${target} PRIVATE
      "$<$<COMPILE_LANGUAGE:C,CXX>:${warnings}>"
      $<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes;-Wmissing-prototypes>
      $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra,-Wshadow,-Werror>)
  endif()
endfunction()

# mimalloc is opened at run time, never linked: the distributions' library
# exports malloc, and linking it would replace the host's.
if(GNOMON_MIMALLOC)
  find_library(GNOMON_MIMALLOC_FILE
    NAMES libmimalloc.so.2 libmimalloc.so.3 libmimalloc.so)
  mark_as_advanced(GNOMON_MIMALLOC_FILE)
  if(GNOMON_MIMALLOC_FILE)
    message(STATUS "mimalloc: ${GNOMON_MIMALLOC_FILE} (opened at run time)")
  else()
    message(STATUS "mimalloc: not found: gnomon's heap will be libc's; "
      "install libmimalloc2.0")
  endif()
else()
  message(STATUS "mimalloc: switched off: gnomon's heap is libc's")
endif()

set(GNOMON_WITH_VALGRIND 0)
if(GNOMON_VALGRIND)
  include(CheckIncludeFile)
  check_include_file(valgrind/helgrind.h GNOMON_HAS_VALGRIND)
  if(GNOMON_HAS_VALGRIND)
    set(GNOMON_WITH_VALGRIND 1)
  else()
    message(STATUS "Valgrind: no headers: helgrind and drd will report marks as races")
  endif()
endif()

set(GNOMON_WITH_NVTX 0)
if(GNOMON_NVTX)
  include(GnomonNvtx)
  if(GNOMON_NVTX_INCLUDE_DIR)
    set(GNOMON_WITH_NVTX 1)
  endif()
else()
  message(STATUS "NVTX: switched off: no profiler nvtx")
endif()
