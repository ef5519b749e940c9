# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# libgnomon-nvtx.so, which programs without gnomon load: it receives their NVTX marks. It
# consists of src/inject and a complete gnomon, whose symbols are hidden.
include(GnomonNvtx)
option(GNOMON_NVTX_IN "Build libgnomon-nvtx.so, if NVTX's headers are found"
  ${GNOMON_BOTH})
if(NOT GNOMON_NVTX_IN OR NOT GNOMON_NVTX_INCLUDE_DIR)
  return()
endif()

file(GLOB GNOMON_INJECT_SOURCES CONFIGURE_DEPENDS
  "${PROJECT_SOURCE_DIR}/src/inject/*.c")
add_library(gnomon_nvtx_objects OBJECT EXCLUDE_FROM_ALL ${GNOMON_INJECT_SOURCES})
set_target_properties(gnomon_nvtx_objects PROPERTIES
  C_VISIBILITY_PRESET hidden POSITION_INDEPENDENT_CODE ON)
target_include_directories(gnomon_nvtx_objects PRIVATE
  "${PROJECT_SOURCE_DIR}/include" "${PROJECT_SOURCE_DIR}/src")
target_include_directories(gnomon_nvtx_objects SYSTEM PRIVATE
  "${GNOMON_NVTX_INCLUDE_DIR}")
target_compile_definitions(gnomon_nvtx_objects PRIVATE _GNU_SOURCE)
target_compile_options(gnomon_nvtx_objects PRIVATE -UGNOMON_DISABLE)
gnomon_set_warnings(gnomon_nvtx_objects)

# It stays mapped even if NVTX refuses it and calls dlclose.
add_library(gnomon_nvtx MODULE $<TARGET_OBJECTS:gnomon_nvtx_objects>
  $<TARGET_OBJECTS:gnomon_objects>)
set(map "${PROJECT_SOURCE_DIR}/cmake/gnomon-nvtx.map")
set_target_properties(gnomon_nvtx PROPERTIES OUTPUT_NAME gnomon-nvtx
  LINKER_LANGUAGE C LINK_DEPENDS "${map}"
  LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}")
target_link_libraries(gnomon_nvtx PRIVATE ${GNOMON_SYSTEM_LIBRARIES})
target_link_options(gnomon_nvtx PRIVATE
  "LINKER:--version-script=${map}" LINKER:-z,nodelete)
if(NOT GNOMON_SANITIZE)
  target_link_options(gnomon_nvtx PRIVATE LINKER:-z,defs)
endif()
if(GNOMON_INSTALL)
  install(TARGETS gnomon_nvtx LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
endif()
