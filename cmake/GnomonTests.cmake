# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Sets `out` to definitions that say to test.h what the tests of a file are called, in how
# many seconds each ends, whether they start threads ("some" or "none"), and, behind that,
# their further labels.
function(gnomon_test_names out suite timeout threads)
  string(REPLACE ";" " " words "${timeout};${threads};${suite};${ARGN}")
  set(${out} "TEST_SUITE=\"${suite}.\"" "TEST_WORDS=\"${words}\"" PARENT_SCOPE)
endfunction()

# Makes each TEST of the program `target` a test of ctest. Their names are known once
# the program is built; until then it counts as one failing test. A program of one
# suite may give its name, timeout and labels here.
function(gnomon_discover_tests target)
  if(ARGC GREATER 1)
    list(POP_FRONT ARGN suite timeout)
    gnomon_test_names(names ${suite} ${timeout} some ${ARGN})
    target_compile_definitions(${target} PRIVATE ${names})
  endif()
  set(list "${CMAKE_CURRENT_BINARY_DIR}/${target}.cmake")
  add_custom_command(TARGET ${target} POST_BUILD VERBATIM
    BYPRODUCTS "${list}"
    COMMAND ${CMAKE_COMMAND} -D "PROGRAM=$<TARGET_FILE:${target}>"
      -D "LAUNCHER=${GNOMON_TEST_LAUNCHER}" -D "OUT=${list}"
      -D "SKIPPED=${GNOMON_EMULATED_SKIPPED}"
      -P "${PROJECT_SOURCE_DIR}/cmake/DiscoverTests.cmake")
  file(WRITE "${list}.in" "if(EXISTS \"${list}\")\n  include(\"${list}\")\n"
    "else()\n  add_test(${target}.not_built not_built)\nendif()\n")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES "${list}.in")
endfunction()
