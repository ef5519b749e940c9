# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# gnomon_testing: the library with a clock that tests advance, and calls of the heap, the
# loader and the system that they let fail. Its objects are those of the library but for
# the sources that ask for GNOMON_TESTING, which are compiled once more. In all of them the
# calls of the table in tests/os_calls.c have the names of its functions. The clock is
# tests/clock.c.
#
# Profilers, src/print and src/export use public headers only, so they call libc's heap and
# loader directly. Their objects are joined to one, in which these calls have the names of
# functions that can fail.

# Makes `name`.o of `objects`, which may be an expression, and sets `out` to its path.
function(gnomon_calls_that_fail out name objects)
  set(joined "${PROJECT_BINARY_DIR}/${name}.o")
  set(renamed "")
  foreach(call calloc realloc dlopen dlsym)
    list(APPEND renamed --redefine-sym ${call}=gnomon__test_${call})
  endforeach()
  add_custom_command(OUTPUT "${joined}"
    COMMAND ${CMAKE_C_COMPILER} -r -nostdlib -o "${joined}" ${objects}
    COMMAND ${CMAKE_OBJCOPY} ${renamed} "${joined}"
    DEPENDS ${objects} COMMAND_EXPAND_LISTS VERBATIM)
  set_source_files_properties("${joined}" PROPERTIES
    EXTERNAL_OBJECT ON GENERATED ON)
  set(${out} "${joined}" PARENT_SCOPE)
endfunction()

gnomon_sources_that_ask(sources GNOMON_TESTING ${GNOMON_SOURCES})
gnomon_objects_of(compiled ${sources})
list(REMOVE_ITEM sources "${PROJECT_SOURCE_DIR}/src/platform/clock.c")
list(APPEND sources "${PROJECT_SOURCE_DIR}/tests/clock.c")
gnomon_compile(gnomon_testing_objects ${sources})
target_compile_definitions(gnomon_testing_objects PRIVATE GNOMON_TESTING)

set(outer "/src/(profilers|print|export)/")
set(objects "$<TARGET_OBJECTS:gnomon_objects>")
gnomon_calls_that_fail(calls gnomon_testing_calls
  "$<FILTER:${objects},INCLUDE,${outer}>")
add_library(gnomon_testing STATIC $<TARGET_OBJECTS:gnomon_testing_objects>
  "$<FILTER:$<FILTER:${objects},EXCLUDE,${outer}>,EXCLUDE,${compiled}>" "${calls}")
set_target_properties(gnomon_testing PROPERTIES LINKER_LANGUAGE C)

set(table "${PROJECT_SOURCE_DIR}/tests/os_calls.c")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${table}")
file(READ "${table}" text)
string(REGEX MATCHALL "\n    CALL\\([a-z_0-9]+" lines "${text}")
set(renamed "")
foreach(line IN LISTS lines)
  string(REGEX REPLACE ".*\\(" "" call "${line}")
  list(APPEND renamed --redefine-sym ${call}=gnomon__test_${call})
endforeach()
add_custom_command(TARGET gnomon_testing POST_BUILD
  COMMAND ${CMAKE_OBJCOPY} ${renamed} $<TARGET_FILE:gnomon_testing>
  COMMAND_EXPAND_LISTS VERBATIM)

gnomon_compile(gnomon_os_calls_object "${table}")
target_compile_definitions(gnomon_os_calls_object PRIVATE GNOMON_TESTING)
add_library(gnomon_os_calls STATIC $<TARGET_OBJECTS:gnomon_os_calls_object>)
set_target_properties(gnomon_os_calls PROPERTIES LINKER_LANGUAGE C)
target_link_libraries(gnomon_os_calls PRIVATE gnomon_testing)

target_compile_definitions(gnomon_testing PUBLIC GNOMON_TESTING)
target_include_directories(gnomon_testing PUBLIC include)
target_link_libraries(gnomon_testing PRIVATE gnomon_os_calls
  ${GNOMON_SYSTEM_LIBRARIES})
