# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Makes each TEST of the program `target` a test of ctest, `suite`.<test>, with a
# timeout of `timeout` seconds. Its labels are its suite and all further arguments.
# The names are known once the program is built; until then the program counts as
# one failing test.
function(gnomon_discover_tests target suite timeout)
  string(REPLACE ";" " " labels "${suite};${ARGN}")
  set(list "${CMAKE_CURRENT_BINARY_DIR}/${target}.cmake")
  add_custom_command(TARGET ${target} POST_BUILD VERBATIM
    BYPRODUCTS "${list}"
    COMMAND ${CMAKE_COMMAND} -D "PROGRAM=$<TARGET_FILE:${target}>"
      -D "LAUNCHER=${GNOMON_TEST_LAUNCHER}" -D SUITE=${suite}
      -D TIMEOUT=${timeout} -D "LABELS=${labels}" -D "OUT=${list}"
      -D "SKIPPED=${GNOMON_EMULATED_SKIPPED}"
      -P "${PROJECT_SOURCE_DIR}/cmake/DiscoverTests.cmake")
  file(WRITE "${list}.in" "if(EXISTS \"${list}\")\n  include(\"${list}\")\n"
    "else()\n  add_test(${suite}.not_built not_built)\nendif()\n")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES "${list}.in")
endfunction()
