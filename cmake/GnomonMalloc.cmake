# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# libgnomon-malloc.so, which `gnomon run --malloc` preloads and gnomon_watch_malloc loads. It
# contains a complete gnomon, whose symbols are hidden. With a sanitizer it is loaded only:
# its runtime has a malloc of its own, and must be the first library.
add_library(gnomon_malloc MODULE "${PROJECT_SOURCE_DIR}/src/malloc/malloc.c"
  "${PROJECT_SOURCE_DIR}/src/malloc/imports.c"
  $<TARGET_OBJECTS:gnomon_objects>)
set(map "${PROJECT_SOURCE_DIR}/cmake/gnomon-malloc.map")
set_target_properties(gnomon_malloc PROPERTIES OUTPUT_NAME gnomon-malloc
  C_VISIBILITY_PRESET hidden C_EXTENSIONS ON LINK_DEPENDS "${map}"
  LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}")
target_include_directories(gnomon_malloc PRIVATE
  "${PROJECT_SOURCE_DIR}/include" "${PROJECT_SOURCE_DIR}/src")
target_compile_definitions(gnomon_malloc PRIVATE _GNU_SOURCE
  ${GNOMON_TLS_DEFINITIONS})
target_compile_options(gnomon_malloc PRIVATE -UGNOMON_DISABLE)
gnomon_set_warnings(gnomon_malloc)
target_link_libraries(gnomon_malloc PRIVATE ${GNOMON_SYSTEM_LIBRARIES})
target_link_options(gnomon_malloc PRIVATE "LINKER:--version-script=${map}"
  LINKER:-z,nodelete)
if(NOT GNOMON_SANITIZE)
  target_link_options(gnomon_malloc PRIVATE LINKER:-z,defs)
endif()
if(GNOMON_INSTALL)
  install(TARGETS gnomon_malloc LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
endif()
