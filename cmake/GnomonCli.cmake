# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The program `gnomon`, and gnomon_cli: all of it but its main, for tests too. It uses
# symbols that the shared library hides, so a static gnomon must be linked after it.
option(GNOMON_PROGRAM "Build the program gnomon" ${GNOMON_BOTH})
option(GNOMON_ZLIB "Write compressed exports, with zlib if it is installed" ON)
option(GNOMON_SQLITE "Read databases of Nsight Systems, with SQLite if it is installed" ON)
option(GNOMON_JSON "Read profiles in JSON, with jansson if it is installed" ON)
set(GNOMON_WITH_JANSSON 0)
if(GNOMON_JSON)
  find_path(JANSSON_INCLUDE_DIR jansson.h)
  find_library(JANSSON_LIBRARY jansson)
  mark_as_advanced(JANSSON_INCLUDE_DIR JANSSON_LIBRARY)
  if(JANSSON_INCLUDE_DIR)
    file(STRINGS "${JANSSON_INCLUDE_DIR}/jansson.h" jansson_version
      REGEX "^#define JANSSON_VERSION +\"")
    string(REGEX REPLACE ".*\"(.*)\".*" "\\1" jansson_version
      "${jansson_version}")
  endif()
  if(NOT JANSSON_INCLUDE_DIR OR NOT JANSSON_LIBRARY)
    message(STATUS "jansson: not found: no JSON will be read; "
      "install libjansson-dev")
  elseif(jansson_version VERSION_LESS 2.11)
    message(STATUS "jansson: ${jansson_version} is older than 2.11: "
      "no JSON will be read")
  else()
    message(STATUS "jansson: ${jansson_version}, ${JANSSON_LIBRARY}")
    set(GNOMON_WITH_JANSSON 1)
  endif()
else()
  message(STATUS "jansson: switched off: no JSON will be read")
endif()

set(GNOMON_WITH_ZLIB 0)
if(GNOMON_ZLIB)
  find_package(ZLIB QUIET)
  if(ZLIB_FOUND)
    message(STATUS "zlib: ${ZLIB_VERSION_STRING}")
    set(GNOMON_WITH_ZLIB 1)
  else()
    message(STATUS "zlib: not found: no .gz will be written; install zlib1g-dev")
  endif()
else()
  message(STATUS "zlib: switched off: no .gz will be written")
endif()

set(GNOMON_WITH_SQLITE 0)
if(GNOMON_SQLITE)
  find_package(SQLite3 QUIET)
  if(SQLite3_FOUND)
    message(STATUS "SQLite: ${SQLite3_VERSION}")
    set(GNOMON_WITH_SQLITE 1)
  else()
    message(STATUS "SQLite: not found: gnomon nsys will read nothing; "
      "install libsqlite3-dev")
  endif()
else()
  message(STATUS "SQLite: switched off: gnomon nsys will read nothing")
endif()

set(cli_sources)
foreach(room command advice page merge diff report nsys cli)
  file(GLOB files CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/${room}/*.c")
  list(APPEND cli_sources ${files})
endforeach()
list(APPEND cli_sources ${GNOMON_PROGRAM_EXPORTS}
  "${PROJECT_SOURCE_DIR}/src/memory/report.c")
# Without jansson json_read.c is still built: it only reports that jansson is missing.
list(APPEND cli_sources "${PROJECT_SOURCE_DIR}/src/profile/json_read.c")
list(FILTER cli_sources EXCLUDE REGEX "/main\\.c$")
if(NOT GNOMON_WITH_SQLITE) # what opens databases; the command says so
  list(FILTER cli_sources EXCLUDE REGEX "/nsys/(chains|collectives|database|groups|kernels|records|stats)\\.c$")
endif()
# The page that reports are embeds its template.
set(page "${PROJECT_SOURCE_DIR}/src/page")
set(template "${PROJECT_BINARY_DIR}/src/page/template.c")
add_custom_command(OUTPUT "${template}"
  COMMAND ${CMAKE_COMMAND} -D "FROM=${page}" -D "OUT=${template}"
    -P "${PROJECT_SOURCE_DIR}/cmake/embed.cmake"
  DEPENDS "${page}/page.html" "${page}/page.css" "${page}/page.js"
    "${PROJECT_SOURCE_DIR}/cmake/embed.cmake" VERBATIM)
list(APPEND cli_sources "${template}")
add_library(gnomon_cli STATIC EXCLUDE_FROM_ALL ${cli_sources})
set_target_properties(gnomon_cli PROPERTIES
  C_VISIBILITY_PRESET hidden POSITION_INDEPENDENT_CODE ON)
target_include_directories(gnomon_cli
  PUBLIC "${PROJECT_SOURCE_DIR}/include" "${PROJECT_SOURCE_DIR}/src")
file(RELATIVE_PATH lib_from_bin "${CMAKE_INSTALL_FULL_BINDIR}"
  "${CMAKE_INSTALL_FULL_LIBDIR}")
target_compile_definitions(gnomon_cli PRIVATE _GNU_SOURCE
  GNOMON_LIB_FROM_BIN="${lib_from_bin}" PUBLIC GNOMON_WITH_JANSSON=${GNOMON_WITH_JANSSON}
  GNOMON_WITH_ZLIB=${GNOMON_WITH_ZLIB} GNOMON_WITH_SQLITE=${GNOMON_WITH_SQLITE})
gnomon_set_warnings(gnomon_cli)
if(GNOMON_WITH_JANSSON)
  target_include_directories(gnomon_cli SYSTEM PUBLIC "${JANSSON_INCLUDE_DIR}")
  target_link_libraries(gnomon_cli PUBLIC "${JANSSON_LIBRARY}")
endif()
if(GNOMON_WITH_ZLIB)
  target_link_libraries(gnomon_cli PUBLIC ZLIB::ZLIB)
endif()
if(GNOMON_WITH_SQLITE)
  set(sqlite SQLite::SQLite3)
  if(TARGET SQLite3::SQLite3) # a newer CMake warns of the older name
    set(sqlite SQLite3::SQLite3)
  endif()
  target_link_libraries(gnomon_cli PUBLIC ${sqlite})
endif()

if(GNOMON_PROGRAM)
  if(NOT TARGET gnomon::static)
    message(FATAL_ERROR "GNOMON_PROGRAM needs the static library: GNOMON_BOTH=ON")
  endif()
  add_executable(gnomon_program "${PROJECT_SOURCE_DIR}/src/cli/main.c")
  set_target_properties(gnomon_program PROPERTIES OUTPUT_NAME gnomon)
  target_compile_definitions(gnomon_program PRIVATE _GNU_SOURCE)
  target_link_libraries(gnomon_program PRIVATE
    gnomon_cli gnomon::static ${GNOMON_SYSTEM_LIBRARIES} m)
  gnomon_set_warnings(gnomon_program)

  # The program prints its man page and completions itself. A cross-compiled program
  # cannot be run here, and one with a sanitizer is not.
  if(GNOMON_INSTALL)
    install(TARGETS gnomon_program RUNTIME)
  endif()
  if(GNOMON_INSTALL AND NOT CMAKE_CROSSCOMPILING AND NOT GNOMON_SANITIZE)
    set(printed "${PROJECT_BINARY_DIR}/printed")
    add_custom_command(OUTPUT "${printed}/gnomon.1" "${printed}/gnomon.bash"
        "${printed}/_gnomon" "${printed}/gnomon.fish"
      COMMAND ${CMAKE_COMMAND} -E make_directory "${printed}"
      COMMAND gnomon_program help --man > "${printed}/gnomon.1"
      COMMAND gnomon_program completion bash > "${printed}/gnomon.bash"
      COMMAND gnomon_program completion zsh > "${printed}/_gnomon"
      COMMAND gnomon_program completion fish > "${printed}/gnomon.fish"
      DEPENDS gnomon_program VERBATIM)
    add_custom_target(gnomon_printed ALL DEPENDS "${printed}/gnomon.1")
    install(FILES "${printed}/gnomon.1" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1")
    set(share "${CMAKE_INSTALL_DATADIR}")
    install(FILES "${printed}/gnomon.bash" RENAME gnomon
      DESTINATION "${share}/bash-completion/completions")
    install(FILES "${printed}/_gnomon"
      DESTINATION "${share}/zsh/site-functions")
    install(FILES "${printed}/gnomon.fish"
      DESTINATION "${share}/fish/vendor_completions.d")
  endif()
endif()
