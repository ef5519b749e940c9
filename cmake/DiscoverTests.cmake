# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Runs after a test program is built. It asks the program for the names of its tests
# and writes them to OUT, which ctest reads. A program without tests is an error.
execute_process(COMMAND ${LAUNCHER} "${PROGRAM}" --list
  OUTPUT_VARIABLE names RESULT_VARIABLE status TIMEOUT 60)
if(NOT status EQUAL 0 OR names STREQUAL "")
  file(REMOVE "${PROGRAM}")
  message(FATAL_ERROR "${PROGRAM} --list: no tests (status ${status})")
endif()
string(REGEX REPLACE "\n$" "" names "${names}")
string(REPLACE "\n" ";" names "${names}")
get_filename_component(folder "${PROGRAM}" DIRECTORY)

set(text "# Written by DiscoverTests.cmake.\n")
include("${CMAKE_CURRENT_LIST_DIR}/EmulatedSkip.cmake")
foreach(name IN LISTS names)
  gnomon_emulated_skip("${SUITE}.${name}" why)
  string(REGEX MATCHALL "[^ ]+" labels "${LABELS}")
  set(timeout "${TIMEOUT}")
  if(name MATCHES "^soak_")
    list(APPEND labels soak)
    set(timeout "\${soak_timeout}")
    string(APPEND text "set(soak_timeout ${TIMEOUT})\n"
      "if(DEFINED ENV{GNOMON_SOAK})\n  set(soak_timeout 7200)\nendif()\n")
  endif()
  set(command "")
  set(words ${LAUNCHER} "${PROGRAM}" "${name}")
  if(why)
    set(words sh -c "echo 'skipped: ${why}' && exit 77")
  endif()
  foreach(word IN LISTS words)
    string(APPEND command " [==[${word}]==]")
  endforeach()
  string(APPEND text "add_test([==[${SUITE}.${name}]==]${command})\n"
    "set_tests_properties([==[${SUITE}.${name}]==] PROPERTIES\n"
    "  LABELS \"${labels}\" TIMEOUT ${timeout} SKIP_RETURN_CODE 77\n"
    "  WORKING_DIRECTORY [==[${folder}]==]\n"
    "  ENVIRONMENT_MODIFICATION GNOMON=unset:)\n")
endforeach()
file(WRITE "${OUT}" "${text}")
