# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# libgnomon-trace.so: the profiler trace with the formats that are not in the library. It
# is loaded where GNOMON=trace,file=... asks for one of them, and can be named as any
# other plugin. It links to nothing of gnomon but encoders.
set(encoders "$<FILTER:$<TARGET_OBJECTS:gnomon_objects>,INCLUDE,/src/(export|print)/>")
set(more "$<FILTER:$<TARGET_OBJECTS:gnomon_cli>,INCLUDE,/(perfetto|gzip|modules)>")
add_library(gnomon_trace MODULE "${PROJECT_SOURCE_DIR}/src/profilers/trace.c"
  "${encoders}" "${more}")
set(map "${PROJECT_SOURCE_DIR}/cmake/gnomon-plugin.map")
set_target_properties(gnomon_trace PROPERTIES OUTPUT_NAME gnomon-trace
  C_VISIBILITY_PRESET hidden LINK_DEPENDS "${map}"
  LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}")
target_include_directories(gnomon_trace PRIVATE
  "${PROJECT_SOURCE_DIR}/include" "${PROJECT_SOURCE_DIR}/src")
target_compile_definitions(gnomon_trace PRIVATE _GNU_SOURCE GNOMON_TRACE_FORMS)
target_compile_options(gnomon_trace PRIVATE -UGNOMON_DISABLE -UGNOMON_BUILTIN)
gnomon_set_warnings(gnomon_trace)
if(GNOMON_WITH_ZLIB)
  target_link_libraries(gnomon_trace PRIVATE ZLIB::ZLIB)
endif()
target_link_options(gnomon_trace PRIVATE "LINKER:--version-script=${map}"
  LINKER:--gc-sections)
if(NOT GNOMON_SANITIZE)
  target_link_options(gnomon_trace PRIVATE LINKER:-z,defs)
endif()
if(GNOMON_INSTALL)
  install(TARGETS gnomon_trace LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
endif()
