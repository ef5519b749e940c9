# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#   cmake -D SOURCE=<this project> -D OUT=<folder> -P next.cmake
#
# The next release, played. Writes below OUT
#   include/     the public headers, in which each struct that may grow, that is each
#                one that has a struct_size, has one field more at its end
#   src/         the sources: profile/entity.c has a row for that field in each table
#   gnomon.c     its library as one file, by cmake/amalgamate.cmake
#   structs.txt  the names of the structs that have no rows: those of no profile
# Fails where a struct with a struct_size does not grow, where a struct of a profile
# has no rows, and where a new struct has no struct_size.
cmake_minimum_required(VERSION 3.22)

# Structs that never grow: plain values and one pointer. A new one has a struct_size.
set(closed gnomon_cell gnomon_forwards gnomon_link gnomon_profile gnomon_sum)

set(field "    uint64_t next_release;\n")
file(REMOVE_RECURSE "${OUT}/src")
file(COPY "${SOURCE}/src" "${SOURCE}/bindings" DESTINATION "${OUT}"
  FILES_MATCHING PATTERN "*.[ch]" PATTERN "*.hpp")

# Sets `out` to the pieces of `text` that match; lists keep no brackets or semicolons.
function(pieces out expression text)
  string(REGEX REPLACE "[][;]" "," text "${text}")
  string(REGEX MATCHALL "${expression}" found "${text}")
  set(${out} "${found}" PARENT_SCOPE)
endfunction()

file(READ "${SOURCE}/src/profile/entity.c" text)
pieces(rows "#define S gnomon_[a-z_]+" "${text}")
list(TRANSFORM rows REPLACE "#define S " "")
string(REPLACE "};\n#undef S\n" "    FIELD(U64, next_release, 0),\n};\n#undef S\n"
  text "${text}")
pieces(grown "next_release" "${text}")
list(LENGTH rows want)
list(LENGTH grown have)
if(NOT have EQUAL want)
  message(FATAL_ERROR "entity.c: ${want} tables, but ${have} have grown")
endif()
file(WRITE "${OUT}/src/profile/entity.c" "${text}")

set(open "")
file(GLOB_RECURSE headers RELATIVE "${SOURCE}/include" "${SOURCE}/include/*.h")
foreach(header IN LISTS headers)
  file(READ "${SOURCE}/include/${header}" text)
  string(REGEX REPLACE
    "(struct gnomon_[a-z_]+ {\n[^{}]*uint[0-9]+_t struct_size;[^{}]*)}"
    "\\1${field}}" text "${text}")
  pieces(sizes "_t struct_size," "${text}")
  pieces(structs "struct gnomon_[a-z_]+ {[^{}]*(next_release,\n)?}" "${text}")
  foreach(struct IN LISTS structs)
    string(REGEX MATCH "gnomon_[a-z_]+" name "${struct}")
    if(struct MATCHES "next_release")
      list(APPEND open "${name}")
      list(POP_FRONT sizes)
    elseif(NOT name IN_LIST closed)
      message(FATAL_ERROR "${header}: ${name} has no struct_size")
    endif()
  endforeach()
  if(sizes)
    message(FATAL_ERROR "${header}: a struct with a struct_size has not grown")
  endif()
  file(WRITE "${OUT}/include/${header}" "${text}")
endforeach()

foreach(name IN LISTS rows)
  if(NOT name IN_LIST open)
    message(FATAL_ERROR "entity.c: ${name} has not grown")
  endif()
  list(REMOVE_ITEM open "${name}")
endforeach()
foreach(name IN LISTS open)
  if(name MATCHES "_info$" AND NOT name MATCHES "gnomon_(option|field)_info")
    message(FATAL_ERROR "entity.c has no rows of ${name}")
  endif()
endforeach()
list(SORT open)
list(JOIN open "\n" text)
file(WRITE "${OUT}/structs.txt" "${text}\n")

execute_process(COMMAND "${CMAKE_COMMAND}" -D "SOURCE=${OUT}" -D "OUT=${OUT}/one"
  -P "${SOURCE}/cmake/amalgamate.cmake" COMMAND_ERROR_IS_FATAL ANY)
file(RENAME "${OUT}/one/gnomon.c" "${OUT}/gnomon.c")
file(REMOVE_RECURSE "${OUT}/one")
