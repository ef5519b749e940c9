# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Tests of a cross build run under CMAKE_CROSSCOMPILING_EMULATOR; elsewhere
# nothing here does anything.
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

# What `target` executes runs under the emulator too, where it has to.
function(gnomon_emulate_children target)
  if(GNOMON_EMULATED)
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:test_exec>)
    foreach(call execv execve execl execvp posix_spawn posix_spawnp)
      target_link_options(${target} PRIVATE LINKER:--wrap=${call})
    endforeach()
    # Its list of tests says which are skipped, and is made when it is linked.
    set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS
      "${GNOMON_EMULATED_SKIPPED}")
  endif()
endfunction()

# A test that says why it is skipped.
function(gnomon_skipped_test name label why)
  add_test(NAME ${name} COMMAND sh -c "echo 'skipped: ${why}'; exit 77")
  set_tests_properties(${name} PROPERTIES LABELS ${label} SKIP_RETURN_CODE 77)
endfunction()
