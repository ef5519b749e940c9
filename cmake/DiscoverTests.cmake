# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Runs after a test program is built. It asks the program for its tests, "NAME TIMEOUT
# THREADS LABEL..." on each line, and writes them to OUT, which ctest reads. A program
# without tests is an error.
execute_process(COMMAND ${LAUNCHER} "${PROGRAM}" --list
  OUTPUT_VARIABLE lines RESULT_VARIABLE status TIMEOUT 60)
if(NOT status EQUAL 0 OR lines STREQUAL "")
  file(REMOVE "${PROGRAM}")
  message(FATAL_ERROR "${PROGRAM} --list: no tests (status ${status})")
endif()
string(REGEX REPLACE "\n$" "" lines "${lines}")
string(REPLACE "\n" ";" lines "${lines}")
get_filename_component(folder "${PROGRAM}" DIRECTORY)

set(text "# Written by DiscoverTests.cmake.\n")
include("${CMAKE_CURRENT_LIST_DIR}/EmulatedSkip.cmake")
foreach(line IN LISTS lines)
  string(REGEX MATCHALL "[^ ]+" labels "${line}")
  list(POP_FRONT labels name timeout threads)
  gnomon_emulated_skip("${name}" why)
  if(name MATCHES "[.]soak_")
    list(APPEND labels soak)
    string(APPEND text "set(soak_timeout ${timeout})\n"
      "if(DEFINED ENV{GNOMON_SOAK})\n  set(soak_timeout 7200)\nendif()\n")
    set(timeout "\${soak_timeout}")
  endif()
  set(command "")
  set(words ${LAUNCHER} "${PROGRAM}" "${name}")
  if(why)
    set(words sh -c "echo 'skipped: ${why}' && exit 77")
  endif()
  foreach(word IN LISTS words)
    string(APPEND command " [==[${word}]==]")
  endforeach()
  string(APPEND text "add_test([==[${name}]==]${command})\n"
    "set_tests_properties([==[${name}]==] PROPERTIES\n"
    "  LABELS \"${labels}\" TIMEOUT ${timeout} SKIP_RETURN_CODE 77\n"
    "  WORKING_DIRECTORY [==[${folder}]==]\n"
    "  ENVIRONMENT_MODIFICATION GNOMON=unset:)\n")
endforeach()
file(WRITE "${OUT}" "${text}")
