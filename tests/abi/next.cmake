# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#   cmake -D SOURCE=<this project> -D OUT=<folder> -P next.cmake
#
# The next release, played. Writes OUT/include, the public headers, in which each
# struct that may grow (that begins with its struct_size) has one field more at
# its end, `next_release`; and OUT/entity.c, src/profile/entity.c with a row for
# that field in each table.
cmake_minimum_required(VERSION 3.22)

# How often `what` is in `text`.
function(count_of out text what)
  string(LENGTH "${text}" all)
  string(REPLACE "${what}" "" text "${text}")
  string(LENGTH "${text}" left)
  string(LENGTH "${what}" one)
  math(EXPR count "(${all} - ${left}) / ${one}")
  set(${out} ${count} PARENT_SCOPE)
endfunction()

# Fails unless `text`, made of `name`, has as many new fields as structs to grow.
function(check_all name text begin)
  count_of(want "${text}" "${begin}")
  count_of(have "${text}" "next_release")
  if(NOT have EQUAL want)
    message(FATAL_ERROR "${name}: ${want} structs, but ${have} have grown")
  endif()
endfunction()

set(size "    uint32_t struct_size;")
file(GLOB_RECURSE headers RELATIVE "${SOURCE}/include" "${SOURCE}/include/*.h")
foreach(header IN LISTS headers)
  file(READ "${SOURCE}/include/${header}" text)
  string(REGEX REPLACE "{\n${size}([^{}]*)\n}"
    "{\n${size}\\1\n    uint64_t next_release;\n}" text "${text}")
  check_all("${header}" "${text}" "{\n${size}")
  file(WRITE "${OUT}/include/${header}" "${text}")
endforeach()

file(READ "${SOURCE}/src/profile/entity.c" text)
string(REPLACE "};\n#undef S\n" "    FIELD(U64, next_release, 0),\n};\n#undef S\n"
  text "${text}")
check_all(entity.c "${text}" "#define S ")
file(WRITE "${OUT}/entity.c" "${text}")
