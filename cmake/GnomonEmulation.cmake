# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Tests of a cross build run under CMAKE_CROSSCOMPILING_EMULATOR. In other builds
# these functions do nothing.
set(GNOMON_EMULATED OFF)
set(GNOMON_EMULATED_SKIPPED "")
if(CMAKE_CROSSCOMPILING AND CMAKE_CROSSCOMPILING_EMULATOR)
  set(GNOMON_EMULATED ON)
  set(GNOMON_TEST_LAUNCHER ${CMAKE_CROSSCOMPILING_EMULATOR})
  set(GNOMON_EMULATED_SKIPPED
    "${PROJECT_SOURCE_DIR}/tests/emulated/skipped.txt")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
    "${GNOMON_EMULATED_SKIPPED}")
endif()
set(SKIPPED "${GNOMON_EMULATED_SKIPPED}")
include(EmulatedSkip)

if(GNOMON_EMULATED)
  list(JOIN CMAKE_CROSSCOMPILING_EMULATOR " " words)
  add_library(test_exec OBJECT "${PROJECT_SOURCE_DIR}/tests/emulated/exec.c")
  target_compile_definitions(test_exec PRIVATE _GNU_SOURCE
    TEST_EMULATOR="${words}")
  gnomon_set_warnings(test_exec)
endif()

# Programs that `target` executes run under the emulator too, if they need it.
function(gnomon_emulate_children target)
  if(GNOMON_EMULATED)
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:test_exec>)
    foreach(call execv execve execl execvp posix_spawn posix_spawnp)
      target_link_options(${target} PRIVATE LINKER:--wrap=${call})
    endforeach()
    # The list of its tests is made when it is linked, and says which are skipped.
    set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS
      "${GNOMON_EMULATED_SKIPPED}")
  endif()
endfunction()

# Adds a test that only prints why it is skipped.
function(gnomon_skipped_test name label why)
  add_test(NAME ${name} COMMAND sh -c "echo 'skipped: ${why}'; exit 77")
  set_tests_properties(${name} PROPERTIES LABELS ${label} SKIP_RETURN_CODE 77)
endfunction()
