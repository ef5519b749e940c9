# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Installs the libraries, the headers, the library as one file, and the files by which
# builds find them: gnomonConfig.cmake and gnomon.pc. Both use paths relative to their
# own, so the installed tree may be moved.
include(CMakePackageConfigHelpers)

set(targets gnomon)
if(GNOMON_BOTH)
  list(APPEND targets gnomon_static gnomon_executable)
endif()
set(config_dir "${CMAKE_INSTALL_LIBDIR}/cmake/gnomon")

install(TARGETS ${targets} EXPORT gnomonTargets)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/"
  DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" FILES_MATCHING PATTERN "*.h")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/bindings/cpp/"
  DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" FILES_MATCHING PATTERN "*.hpp")
install(FILES "${PROJECT_SOURCE_DIR}/bindings/fortran/gnomon.f90"
  DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}") # a module's form is each compiler's own
install(EXPORT gnomonTargets NAMESPACE gnomon:: DESTINATION "${config_dir}")
configure_package_config_file(
  "${PROJECT_SOURCE_DIR}/cmake/gnomonConfig.cmake.in"
  "${PROJECT_BINARY_DIR}/gnomonConfig.cmake"
  INSTALL_DESTINATION "${config_dir}")
write_basic_package_version_file(
  "${PROJECT_BINARY_DIR}/gnomonConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/gnomonConfig.cmake"
  "${PROJECT_BINARY_DIR}/gnomonConfigVersion.cmake"
  DESTINATION "${config_dir}")

# Sets `path` below ${prefix}, or `path` itself if it is absolute.
function(join_prefix out path)
  if(IS_ABSOLUTE "${path}")
    set(${out} "${path}" PARENT_SCOPE)
  else()
    set(${out} "\${prefix}/${path}" PARENT_SCOPE)
  endif()
endfunction()
join_prefix(pc_libdir "${CMAKE_INSTALL_LIBDIR}")
join_prefix(pc_includedir "${CMAKE_INSTALL_INCLUDEDIR}")
if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}")
  set(pc_prefix "${CMAKE_INSTALL_PREFIX}")
else()
  file(RELATIVE_PATH up "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
  string(REGEX REPLACE "/$" "" pc_prefix "\${pcfiledir}/${up}")
endif()
set(pc_private "${CMAKE_THREAD_LIBS_INIT}")
foreach(library IN LISTS CMAKE_DL_LIBS)
  string(APPEND pc_private " -l${library}")
endforeach()
# If only the static library is built, -lgnomon links it, and needs its dependencies too.
if(GNOMON_BOTH OR BUILD_SHARED_LIBS)
  set(pc_public "")
else()
  set(pc_public "${pc_private}")
endif()
configure_file("${PROJECT_SOURCE_DIR}/cmake/gnomon.pc.in"
  "${PROJECT_BINARY_DIR}/gnomon.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/gnomon.pc"
  DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
if(PROJECT_IS_TOP_LEVEL) # as a subproject, the parent decides what is built
  install(FILES "${GNOMON_ONEFILE}/gnomon.c"
    DESTINATION "${CMAKE_INSTALL_DATADIR}/gnomon")
endif()
install(FILES "${PROJECT_SOURCE_DIR}/cmake/valgrind.supp"
  DESTINATION "${CMAKE_INSTALL_DATADIR}/gnomon")
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE"
  DESTINATION "${CMAKE_INSTALL_DOCDIR}")
