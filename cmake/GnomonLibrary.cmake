# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# How the library is compiled and linked. The objects of the shared and the static
# library differ at most in how they reach thread-local words. Both are position
# independent, and both hide everything but what GNOMON_API declares.
include(CheckCCompilerFlag)
include(GnomonTls)

find_package(Threads REQUIRED)
set(GNOMON_SYSTEM_LIBRARIES Threads::Threads ${CMAKE_DL_LIBS})

# Each folder of src/ is globbed: a new file needs no registration. The files of the
# program, exports but Chrome's, and the JSON reader are not in the library
# (GnomonCli.cmake, which takes GNOMON_PROGRAM_EXPORTS), and
# src/inject, src/malloc and src/memory are libraries of their own (GnomonInject.cmake,
# GnomonMalloc.cmake, GnomonMemory.cmake).
set(GNOMON_LIBRARY_EXPORTS "/src/export/(text|forms|timeline|chrome[a-z_]*)\\.c$")
file(GLOB GNOMON_PROGRAM_EXPORTS CONFIGURE_DEPENDS
  "${PROJECT_SOURCE_DIR}/src/export/*.c")
list(FILTER GNOMON_PROGRAM_EXPORTS EXCLUDE REGEX "${GNOMON_LIBRARY_EXPORTS}")
function(gnomon_collect_sources out)
  file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/*/*.c")
  list(FILTER sources EXCLUDE REGEX
    "/src/((command|advice|page|merge|diff|report|nsys|cli|inject|malloc|memory)/|profile/json_[rsv][^/]*$)")
  foreach(source IN LISTS GNOMON_PROGRAM_EXPORTS)
    list(REMOVE_ITEM sources "${source}")
  endforeach()
  list(SORT sources)
  set(${out} ${sources} PARENT_SCOPE)
endfunction()

# For speed. Padding inside functions makes them use one more cache line of code; on the
# hot path vectorizing its few stores costs more than it saves.
set(GNOMON_SPEED_OPTIONS)
check_c_compiler_flag(-fno-align-jumps GNOMON_HAS_NO_ALIGN)
if(GNOMON_HAS_NO_ALIGN)
  list(APPEND GNOMON_SPEED_OPTIONS -fno-align-jumps -fno-align-labels)
endif()
set(GNOMON_HOT_OPTIONS ${GNOMON_SPEED_OPTIONS})
check_c_compiler_flag(-fno-tree-slp-vectorize GNOMON_HAS_NO_SLP)
if(GNOMON_HAS_NO_SLP)
  list(APPEND GNOMON_HOT_OPTIONS -fno-tree-slp-vectorize)
endif()
check_c_compiler_flag(-fno-semantic-interposition GNOMON_HAS_NO_INTERPOSITION)

# Most files are compiled for size: control calls, reports, gnomon's own thread. The second
# line of a file says otherwise:
#
#   compiled: for speed    steps call it, or it builds each node of a profile
#   compiled: for marks    with the options of the hot path
#
# gcc copies a test for each way that leads to it, for size too. Of a file for marks this
# is left out where its second line says so: NVTX asks one argument once for each of its
# functions, and gcc made 7 KB of that.
set(GNOMON_NO_JUMPS)
check_c_compiler_flag(-fno-thread-jumps GNOMON_HAS_NO_JUMPS)
if(GNOMON_HAS_NO_JUMPS)
  set(GNOMON_NO_JUMPS -fno-thread-jumps)
endif()

set(options -Os ${GNOMON_NO_JUMPS})
set(GNOMON_SIZE_OPTIONS "$<$<CONFIG:Release,RelWithDebInfo>:${options}>")

# These of gcc compute ahead, or keep in registers, what is used once or twice: the pushes
# and moves for it, and their unwind tables, are 7 KB of the library. Marks keep them: a
# range took five instructions more.
foreach(ahead move-loop-invariants tree-loop-im tree-dominator-opts
    caller-saves ira-hoist-pressure)
  # A macro's name in the check, where a host's -Wpedantic -Werror takes no hyphen.
  string(MAKE_C_IDENTIFIER "GNOMON_HAS_NO_${ahead}" has)
  check_c_compiler_flag(-fno-${ahead} ${has})
  if(${has})
    list(APPEND options -fno-${ahead})
  endif()
endforeach()
set(GNOMON_SMALL_OPTIONS "$<$<CONFIG:Release,RelWithDebInfo>:${options}>")

# Lets the linker remove unused functions, most of them from NVTX's headers.
set(GNOMON_SECTION_OPTIONS)
check_c_compiler_flag(-ffunction-sections GNOMON_HAS_SECTIONS)
if(GNOMON_HAS_SECTIONS)
  list(APPEND GNOMON_SECTION_OPTIONS -ffunction-sections -fdata-sections)
endif()

# The headers of NVTX for the profiler nvtx. They are system headers here, so that
# they cause no warnings.
function(gnomon_use_nvtx target)
  target_compile_definitions(${target} PRIVATE
    GNOMON_WITH_NVTX=${GNOMON_WITH_NVTX})
  if(GNOMON_WITH_NVTX)
    target_include_directories(${target} SYSTEM PRIVATE
      "${GNOMON_NVTX_INCLUDE_DIR}")
  endif()
endfunction()

function(gnomon_compile target)
  add_library(${target} OBJECT ${ARGN})
  set_target_properties(${target} PROPERTIES
    C_VISIBILITY_PRESET hidden POSITION_INDEPENDENT_CODE ON
    C_EXTENSIONS ON) # for __seg_fs: src/platform/tls.h
  target_include_directories(${target} PRIVATE
    "${PROJECT_SOURCE_DIR}/include" "${PROJECT_SOURCE_DIR}/src")
  target_compile_definitions(${target} PRIVATE _GNU_SOURCE
    GNOMON_WITH_MIMALLOC=$<BOOL:${GNOMON_MIMALLOC}>
    GNOMON_WITH_VALGRIND=${GNOMON_WITH_VALGRIND}
    ${GNOMON_TLS_DEFINITIONS})
  target_compile_options(${target} PRIVATE
    $<$<BOOL:${GNOMON_HAS_NO_INTERPOSITION}>:-fno-semantic-interposition>
    ${GNOMON_SECTION_OPTIONS})
  # A parent project may define GNOMON_DISABLE for all its targets.
  target_compile_options(${target} PRIVATE -UGNOMON_DISABLE)
  gnomon_use_nvtx(${target})
  gnomon_set_warnings(${target})
  foreach(source IN LISTS ARGN)
    if(source MATCHES "/src/(profilers|print|export)/")
      set_source_files_properties("${source}" PROPERTIES
        COMPILE_DEFINITIONS GNOMON_BUILTIN)
    endif()
    file(STRINGS "${source}" lines LIMIT_COUNT 2)
    if(lines MATCHES "compiled: for marks")
      set(options ${GNOMON_HOT_OPTIONS})
      if(lines MATCHES "no jump threaded")
        list(APPEND options ${GNOMON_NO_JUMPS})
      endif()
    elseif(lines MATCHES "compiled: for speed")
      set(options "${GNOMON_SPEED_OPTIONS}")
    elseif(source MATCHES "/src/mark/")
      set(options "${GNOMON_SIZE_OPTIONS}")
    else()
      set(options "${GNOMON_SMALL_OPTIONS}")
    endif()
    set_source_files_properties("${source}" PROPERTIES
      COMPILE_OPTIONS "${options}")
  endforeach()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${ARGN})
endfunction()

file(GLOB GNOMON_INNER_HEADERS CONFIGURE_DEPENDS
  "${PROJECT_SOURCE_DIR}/src/*/*.h")
file(GLOB GNOMON_HEADERS CONFIGURE_DEPENDS
  "${PROJECT_SOURCE_DIR}/include/*.h" "${PROJECT_SOURCE_DIR}/include/*/*.h")

# Sets `out` to those of the sources, given behind it, for which the preprocessor sees an
# #if of `macro` in a file of src/: their own, or a header that they include, or that
# includes. What is compiled again with another value of `macro` needs only these.
function(gnomon_sources_that_ask out macro)
  foreach(file IN LISTS GNOMON_INNER_HEADERS ARGN)
    file(STRINGS "${file}" lines REGEX
      "^#include \"[a-z]+/|^#[ a-z]*(if|elif).*${macro}")
    if(lines MATCHES "#[ a-z]*(if|elif)")
      set("asks_${file}" ON)
    endif()
    string(REGEX REPLACE "#include \"([^\"]+)\"" "${PROJECT_SOURCE_DIR}/src/\\1"
      "includes_${file}" "${lines}")
  endforeach()
  set(changed ON)
  while(changed)
    set(changed OFF)
    foreach(file IN LISTS GNOMON_INNER_HEADERS ARGN)
      foreach(header IN LISTS "includes_${file}")
        if(asks_${header} AND NOT asks_${file})
          set("asks_${file}" ON)
          set(changed ON)
        endif()
      endforeach()
    endforeach()
  endwhile()
  set(asking ${ARGN})
  foreach(file IN LISTS ARGN)
    if(NOT asks_${file})
      list(REMOVE_ITEM asking "${file}")
    endif()
  endforeach()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
    ${GNOMON_INNER_HEADERS})
  set(${out} ${asking} PARENT_SCOPE)
endfunction()

# Sets `out` to a regular expression of the objects of these sources.
function(gnomon_objects_of out)
  set(names ${ARGN})
  list(TRANSFORM names REPLACE "^.*/src/" "")
  list(JOIN names "|" names)
  string(REPLACE "." "\\." names "${names}")
  set(${out} "/src/(${names})\\.o$" PARENT_SCOPE)
endfunction()

# Sets `out` to the objects of the shared library: in a release gcc sees the files that no
# mark runs as one, and inlines what has one caller, which is 18 KB. Objects that others link
# stay plain: with gcc's own form in it an archive would fit one version of gcc.
function(gnomon_shared_objects out)
  set(${out} PARENT_SCOPE)
  check_c_compiler_flag(-flto GNOMON_HAS_LTO)
  if(NOT GNOMON_HAS_LTO OR NOT CMAKE_C_COMPILER_ID STREQUAL "GNU" OR
      NOT CMAKE_BUILD_TYPE MATCHES "Rel" OR GNOMON_SANITIZE OR GNOMON_COVERAGE)
    return()
  endif()
  set(joined)
  foreach(source IN LISTS ARGN)
    file(STRINGS "${source}" lines LIMIT_COUNT 2)
    if(NOT source MATCHES "/src/(mark|platform)/" AND NOT lines MATCHES "compiled: for")
      list(APPEND joined "${source}")
    endif()
  endforeach()
  gnomon_compile(gnomon_joined_objects ${joined})
  target_compile_options(gnomon_joined_objects PRIVATE -flto)
  gnomon_objects_of(compiled ${joined})
  set(${out} $<TARGET_OBJECTS:gnomon_joined_objects>
    "$<FILTER:$<TARGET_OBJECTS:gnomon_objects>,EXCLUDE,${compiled}>" PARENT_SCOPE)
endfunction()

file(GLOB_RECURSE GNOMON_CPP_HEADERS CONFIGURE_DEPENDS
  "${PROJECT_SOURCE_DIR}/bindings/cpp/*.hpp")

# Its objects follow behind its name; none: those of gnomon_objects.
function(gnomon_library target kind name)
  set(objects ${ARGN})
  if(NOT objects)
    set(objects $<TARGET_OBJECTS:gnomon_objects>)
  endif()
  add_library(${target} ${kind} ${objects})
  add_library(gnomon::${name} ALIAS ${target})
  target_include_directories(${target} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/bindings/cpp>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(${target} PRIVATE ${GNOMON_SYSTEM_LIBRARIES})
  set_target_properties(${target} PROPERTIES
    LINKER_LANGUAGE C EXPORT_NAME ${name})
endfunction()

# The shared library exports only the symbols of the map, with versions. It stays
# mapped once loaded, because threads that marked run its destructor when they end.
function(gnomon_export_symbols target)
  set(map "${PROJECT_SOURCE_DIR}/cmake/gnomon.map")
  target_link_options(${target} PRIVATE
    "LINKER:--version-script=${map}" LINKER:-z,nodelete)
  if(NOT GNOMON_SANITIZE)
    target_link_options(${target} PRIVATE LINKER:-z,defs)
  endif()
  if(GNOMON_HAS_SECTIONS)
    target_link_options(${target} PRIVATE LINKER:--gc-sections)
  endif()
  set_target_properties(${target} PROPERTIES LINK_DEPENDS "${map}")
endfunction()
