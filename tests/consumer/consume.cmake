# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# KIND: install, or the way in which project/ gets hold of gnomon.
set(project "${CMAKE_CURRENT_LIST_DIR}/project")
set(installed "${WORK}/installed")
set(prefix "${WORK}/moved here") # a blank, as some paths have
set(work "${WORK}/${KIND}")

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status
    OUTPUT_VARIABLE text ERROR_VARIABLE text)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${ARGN}: ${status}\n${text}")
  endif()
  set(text "${text}" PARENT_SCOPE)
endfunction()

# The program marks, and its report names what it marked.
function(check_program program)
  run("${CMAKE_COMMAND}" -E env GNOMON=simple ${ARGN} "${program}")
  if(NOT text MATCHES "consumer_step")
    message(FATAL_ERROR "${program}: no report of consumer_step:\n${text}")
  endif()
endfunction()

if(KIND STREQUAL "install")
  file(REMOVE_RECURSE "${installed}" "${prefix}")
  run("${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${installed}")
  file(RENAME "${installed}" "${prefix}")
  file(GLOB_RECURSE files "${prefix}/*.cmake" "${prefix}/*.pc")
  foreach(file IN LISTS files)
    file(STRINGS "${file}" fixed REGEX "${WORK}|${SOURCE}")
    if(fixed)
      message(FATAL_ERROR "${file} cannot be moved: ${fixed}")
    endif()
  endforeach()
  return()
endif()

file(REMOVE_RECURSE "${work}")
file(MAKE_DIRECTORY "${work}")

if(KIND MATCHES "^pkgconfig_(shared|static)$")
  set(linkage ${CMAKE_MATCH_1})
  find_program(PKG_CONFIG pkg-config)
  if(NOT PKG_CONFIG)
    message("skipped: no pkg-config here")
    return()
  endif()
  file(GLOB_RECURSE pc "${prefix}/*/gnomon.pc")
  get_filename_component(directory "${pc}" DIRECTORY)
  set(ENV{PKG_CONFIG_PATH} "${directory}")
  set(flag "")
  if(linkage STREQUAL "static")
    set(flag --static)
  endif()
  run("${PKG_CONFIG}" ${flag} --cflags --libs gnomon)
  string(STRIP "${text}" text)
  separate_arguments(flags UNIX_COMMAND "${text}")
  if(linkage STREQUAL "static")
    list(TRANSFORM flags REPLACE "^-lgnomon$" "-l:libgnomon.a")
  endif()
  foreach(language c cc)
    set(compiler "${CC}")
    if(language STREQUAL "cc")
      set(compiler "${CXX}")
    endif()
    run("${compiler}" "${project}/consumer.${language}" ${flags}
      -o "${work}/${language}")
    check_program("${work}/${language}" "LD_LIBRARY_PATH=${directory}/..")
  endforeach()
  return()
endif()

# Meson reads our CMake. What it would compile is the library and the program alone; that
# takes half a minute, so it is done in the soak.
if(KIND STREQUAL "meson")
  find_program(MESON meson)
  if(NOT MESON)
    message("skipped: no meson here")
    return()
  endif()
  file(COPY "${CMAKE_CURRENT_LIST_DIR}/meson/meson.build" "${project}/consumer.c"
    DESTINATION "${work}")
  file(MAKE_DIRECTORY "${work}/subprojects")
  file(CREATE_LINK "${SOURCE}" "${work}/subprojects/gnomon" SYMBOLIC)
  run("${MESON}" setup "${work}/build" "${work}")
  run(ninja -C "${work}/build" -n)
  if(text MATCHES "_tests_|_examples_|_bench_|_src_cli" OR NOT text MATCHES "src_run_setup")
    message(FATAL_ERROR "the library, and nothing else, is to be compiled:\n${text}")
  endif()
  if("$ENV{GNOMON_SOAK}")
    run(ninja -C "${work}/build")
    check_program("${work}/build/consumer")
  endif()
  return()
endif()

set(options -D "CMAKE_C_COMPILER=${CC}" -D "CMAKE_CXX_COMPILER=${CXX}")
if(KIND STREQUAL "find_package")
  list(APPEND options -D "CMAKE_PREFIX_PATH=${prefix}")
  set(programs shared_c shared_cc static_c static_cc)
elseif(KIND STREQUAL "add_subdirectory")
  # As the build has it, whose objects are taken where the commands are the same.
  set(launcher sh "${CMAKE_CURRENT_LIST_DIR}/compiled.sh")
  run(${launcher} --index "${WORK}/compiled.txt" "${BUILD}" "${CC}")
  list(APPEND options -D "GNOMON_SOURCE=${SOURCE}" -D CMAKE_BUILD_TYPE=Release
    -D "CMAKE_C_FLAGS_RELEASE=-O2 -DNDEBUG"
    -D "CMAKE_REQUIRED_FLAGS=-Wpedantic -Werror") # as a host's own flags
  set(ENV{CMAKE_C_COMPILER_LAUNCHER} "${launcher};${WORK}/compiled.txt")
elseif(KIND STREQUAL "onefile")
  file(GLOB_RECURSE source "${prefix}/*/gnomon.c")
  file(GLOB_RECURSE header "${prefix}/*/gnomon.h")
  get_filename_component(include "${header}" DIRECTORY)
  set(level -O0) # what the library shows is the same, in half of the time
  if("$ENV{GNOMON_SOAK}")
    set(level -O1)
  endif()
  list(APPEND options -D "GNOMON_C=${source}" -D "GNOMON_INCLUDE=${include}"
    -D GNOMON_LEVEL=${level})
  set(programs onefile_cc)
  set(project "${CMAKE_CURRENT_LIST_DIR}/onefile")
else()
  message(FATAL_ERROR "KIND=${KIND}?")
endif()

function(build_and_check)
  run("${CMAKE_COMMAND}" -G "${GENERATOR}" -S "${project}" -B "${work}"
    ${options} ${ARGN})
  run("${CMAKE_COMMAND}" --build "${work}")
  foreach(program IN LISTS programs)
    check_program("${work}/${program}")
  endforeach()
endfunction()

if(NOT KIND STREQUAL "add_subdirectory")
  build_and_check()
  if(KIND STREQUAL "onefile") # its library shows the public names, and no other
    run(sh -c "readelf -W --dyn-syms '${work}/libwith_gnomon.so' |
      awk '\$7 ~ /^[0-9]/ && \$6 != \"HIDDEN\" { print \$8 }' | sort > '${work}/shown' &&
      sed -e '/^#/d' -e 's/ .*//' '${SOURCE}/tests/symbols.txt' | sort |
      diff - '${work}/shown'")
  endif()
  return()
endif()
# In one folder, so that the library is compiled once: both kinds have its objects.
foreach(kind static shared)
  string(COMPARE EQUAL "${kind}" "shared" shared)
  set(programs ${kind}_c ${kind}_cc)
  build_and_check(-D BUILD_SHARED_LIBS=${shared})
endforeach()

# A host's flags change nothing of what the compiler is found to know.
file(STRINGS "${BUILD}/CMakeCache.txt" knows REGEX "^GNOMON_HAS_NO_")
file(STRINGS "${work}/CMakeCache.txt" found REGEX "^GNOMON_HAS_NO_")
list(REMOVE_ITEM found ${knows})
if(found)
  message(FATAL_ERROR "with a host's flags the compiler is found to know: ${found}")
endif()
