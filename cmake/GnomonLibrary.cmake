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
# src/inject is a library of its own (GnomonInject.cmake).
set(GNOMON_LIBRARY_EXPORTS "/src/export/(text|lanes|chrome[a-z_]*)\\.c$")
file(GLOB GNOMON_PROGRAM_EXPORTS CONFIGURE_DEPENDS
  "${PROJECT_SOURCE_DIR}/src/export/*.c")
list(FILTER GNOMON_PROGRAM_EXPORTS EXCLUDE REGEX "${GNOMON_LIBRARY_EXPORTS}")
function(gnomon_collect_sources out)
  file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/*/*.c")
  list(FILTER sources EXCLUDE REGEX
    "/src/((command|merge|diff|report|cli|inject)/|profile/json_[rsv][^/]*$)")
  foreach(source IN LISTS GNOMON_PROGRAM_EXPORTS)
    list(REMOVE_ITEM sources "${source}")
  endforeach()
  list(SORT sources)
  set(${out} ${sources} PARENT_SCOPE)
endfunction()

# For the hot path. Vectorizing its few stores costs more than it saves, and padding
# inside functions makes them use one more cache line of code.
set(GNOMON_HOT_OPTIONS)
check_c_compiler_flag(-fno-tree-slp-vectorize GNOMON_HAS_NO_SLP)
if(GNOMON_HAS_NO_SLP)
  list(APPEND GNOMON_HOT_OPTIONS -fno-tree-slp-vectorize)
endif()
check_c_compiler_flag(-fno-align-jumps GNOMON_HAS_NO_ALIGN)
if(GNOMON_HAS_NO_ALIGN)
  list(APPEND GNOMON_HOT_OPTIONS -fno-align-jumps -fno-align-labels)
endif()
check_c_compiler_flag(-fno-semantic-interposition GNOMON_HAS_NO_INTERPOSITION)

# Files that run rarely are compiled for size: control calls, the end of the process,
# gnomon's own thread, work done a few times a second. Files in GNOMON_FAST_SOURCES
# are not: marks and steps call them, or they build each node of a profile.
set(GNOMON_COLD_OPTIONS "$<$<CONFIG:Release,RelWithDebInfo>:-Os>")
string(CONCAT GNOMON_COLD_SOURCES
  "/src/(spec|record|profile|print|export|profilers|run)/"
  "|/src/platform/(clock_[a-z_]*|crc32|error|json[a-z_]*|m[a-z]*|os_[a-z]*"
  "|escape|utf8)\\.c$"
  "|/src/mark/(adopt|arena|calibrate|carry|close|cut|foreign|frame|frame_memory|health|intern|leave|link|names|outside"
  "|observer|op_copy|pretty|region|repair|segment|slow_begin|slow_end|tape_(blocks|idle|pages|queue|stream|taken)|thread|thread_name|thread_table|tree|tree_memory|waiting)\\.c$"
  "|/src/device/(clocks|cuda|cuda_driver|cuda_failures|cuda_timer|cupti_(buffers|clock|demangle|driver|flushes|names|reading|records|source)"
  "|describe|reader|reader_thread|stream_name|thread_timers)\\.c$")
string(CONCAT GNOMON_FAST_SOURCES
  "/src/(export/(text|lanes|chrome_around|chrome_calls|chrome_row|chrome_rows)|profile/(event_block|event_blocks|event_cache|fields|model|slots|texts)|record/snapshot_nodes|profilers/nvtx_calls"
  "|run/step)\\.c$")

# Lets the linker remove unused functions, most of them from NVTX's headers.
set(GNOMON_SECTION_OPTIONS)
check_c_compiler_flag(-ffunction-sections GNOMON_HAS_SECTIONS)
if(GNOMON_HAS_SECTIONS)
  list(APPEND GNOMON_SECTION_OPTIONS -ffunction-sections -fdata-sections)
endif()

# Profilers, src/print and src/export use public headers only, so they call libc's heap and
# loader directly. In tests these calls are replaced by ones that can fail.
set(testing_calls "")
foreach(call calloc realloc dlopen dlsym)
  list(APPEND testing_calls "$<$<STREQUAL:$<TARGET_PROPERTY:NAME>,\
gnomon_testing_objects>:${call}=gnomon__test_${call}>")
endforeach()

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
        COMPILE_DEFINITIONS "GNOMON_BUILTIN;${testing_calls}")
      if(source MATCHES "/nvtx_calls\\.c$") # it includes much code from NVTX's headers
        set_source_files_properties("${source}" PROPERTIES
          COMPILE_OPTIONS "${GNOMON_HOT_OPTIONS}")
      endif()
    elseif(source MATCHES "/src/mark/(scope|hook|callbacks|paths|trees)\\.c$")
      set_source_files_properties("${source}" PROPERTIES
        COMPILE_OPTIONS "${GNOMON_HOT_OPTIONS}")
    endif()
    if(source MATCHES "${GNOMON_COLD_SOURCES}" AND
       NOT source MATCHES "${GNOMON_FAST_SOURCES}")
      set_source_files_properties("${source}" PROPERTIES
        COMPILE_OPTIONS "${GNOMON_COLD_OPTIONS}")
    endif()
  endforeach()
endfunction()

file(GLOB GNOMON_INNER_HEADERS CONFIGURE_DEPENDS
  "${PROJECT_SOURCE_DIR}/src/*/*.h")
file(GLOB GNOMON_HEADERS CONFIGURE_DEPENDS
  "${PROJECT_SOURCE_DIR}/include/*.h" "${PROJECT_SOURCE_DIR}/include/*/*.h")

file(GLOB_RECURSE GNOMON_CPP_HEADERS CONFIGURE_DEPENDS
  "${PROJECT_SOURCE_DIR}/bindings/cpp/*.hpp")

function(gnomon_library target kind name)
  set(objects gnomon_objects)
  if(TARGET ${target}_objects)
    set(objects ${target}_objects)
  endif()
  add_library(${target} ${kind} $<TARGET_OBJECTS:${objects}>)
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
