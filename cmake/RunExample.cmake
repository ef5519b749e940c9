# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Runs PROGRAM with ENVIRONMENT and compares what it writes, stdout before
# stderr, with the file EXPECTED. In both every number becomes N, and a run of
# blanks, dashes or equals signs becomes one, because the width of columns varies.
# The rows of a table are sorted by name, because their order depends on times.
# With $UPDATE_EXPECTED set it writes the file instead, with the real numbers.
separate_arguments(ENVIRONMENT UNIX_COMMAND "${ENVIRONMENT}")
execute_process(
  COMMAND ${CMAKE_COMMAND} -E env ${ENVIRONMENT} ${LAUNCHER} "${PROGRAM}"
  OUTPUT_VARIABLE out ERROR_VARIABLE err RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "${PROGRAM}: exit status ${status}\n${out}${err}")
endif()
if(DEFINED ENV{UPDATE_EXPECTED})
  file(WRITE "${EXPECTED}" "${out}${err}")
endif()

function(normalize text out)
  string(REGEX REPLACE "[0-9]+(\\.[0-9]+)?([eE][-+]?[0-9]+)?" "N"
    text "${text}")
  string(REGEX REPLACE "--+" "--" text "${text}")
  string(REGEX REPLACE "==+" "==" text "${text}")
  string(REGEX REPLACE "[ \t]+" " " text "${text}")
  string(REGEX REPLACE " ?\n" "\n" text "${text}")
  set(${out} "${text}" PARENT_SCOPE)
endfunction()

function(sort_rows text out)
  string(REPLACE ";" "\\;" text "${text}")
  string(REPLACE "\n" ";" lines "${text}")
  set(sorted "")
  set(rows "")
  foreach(line IN LISTS lines)
    if(line MATCHES "^\\| " AND NOT line MATCHES "^\\| (Action|Total) ")
      list(APPEND rows "${line}")
      continue()
    endif()
    list(SORT rows)
    foreach(row IN LISTS rows)
      string(APPEND sorted "${row}\n")
    endforeach()
    string(APPEND sorted "${line}\n")
    set(rows "")
  endforeach()
  set(${out} "${sorted}" PARENT_SCOPE)
endfunction()

file(READ "${EXPECTED}" expected)
normalize("${expected}" want)
normalize("${out}${err}" got)
sort_rows("${want}" want)
sort_rows("${got}" got)
if(NOT got STREQUAL want)
  message("expected (${EXPECTED}):\n${want}\nwritten:\n${got}")
  message(FATAL_ERROR "${PROGRAM} wrote something else than expected")
endif()
