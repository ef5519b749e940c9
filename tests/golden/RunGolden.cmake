# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Plays CASE with GOLDEN and PROFILER and compares what it writes into a new
# folder OUT with the files beside CASE, byte for byte.
separate_arguments(LAUNCHER)
get_filename_component(name "${CASE}" NAME_WLE)
string(REGEX REPLACE "\\.json$" "" want "${CASE}")
file(REMOVE_RECURSE "${OUT}")
file(MAKE_DIRECTORY "${OUT}")
execute_process(RESULT_VARIABLE status
  COMMAND ${LAUNCHER} "${GOLDEN}" -p "${PROFILER}" -o "${OUT}" "${CASE}")
if(NOT status EQUAL 0)
  message(FATAL_ERROR "golden: status ${status}")
endif()
foreach(kind txt prof)
  if(kind STREQUAL "prof" AND NOT EXISTS "${want}.prof")
    continue() # not every case has one
  endif()
  execute_process(RESULT_VARIABLE different
    COMMAND ${CMAKE_COMMAND} -E compare_files
      "${want}.${kind}" "${OUT}/${name}.${kind}")
  if(different)
    execute_process(COMMAND diff -a "${want}.${kind}" "${OUT}/${name}.${kind}")
    message(FATAL_ERROR "${name}: not the bytes of ${want}.${kind}")
  endif()
endforeach()
