# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# libgnomon-memory.so: the recorder of memory and its report, as a plugin that GNOMON=memory
# loads. It links to nothing of gnomon but what prints tables.
file(GLOB GNOMON_MEMORY_SOURCES CONFIGURE_DEPENDS
  "${PROJECT_SOURCE_DIR}/src/memory/*.c")
add_library(gnomon_memory MODULE ${GNOMON_MEMORY_SOURCES}
  "$<FILTER:$<TARGET_OBJECTS:gnomon_objects>,INCLUDE,/src/print/>")
set(map "${PROJECT_SOURCE_DIR}/cmake/gnomon-plugin.map")
set_target_properties(gnomon_memory PROPERTIES OUTPUT_NAME gnomon-memory
  C_VISIBILITY_PRESET hidden LINK_DEPENDS "${map}"
  LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}")
target_include_directories(gnomon_memory PRIVATE
  "${PROJECT_SOURCE_DIR}/include" "${PROJECT_SOURCE_DIR}/src")
target_compile_definitions(gnomon_memory PRIVATE _GNU_SOURCE)
target_compile_options(gnomon_memory PRIVATE -UGNOMON_DISABLE)
gnomon_set_warnings(gnomon_memory)
target_link_options(gnomon_memory PRIVATE "LINKER:--version-script=${map}"
  LINKER:--gc-sections)
if(NOT GNOMON_SANITIZE)
  target_link_options(gnomon_memory PRIVATE LINKER:-z,defs)
endif()
if(GNOMON_INSTALL)
  install(TARGETS gnomon_memory LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
endif()
