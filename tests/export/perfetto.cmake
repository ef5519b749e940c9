# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Reads traces with Perfetto's own messages, and asks its trace processor, also about
# those of the demo. Both are installed once, in a virtual environment in the build
# folder; what cannot be installed is skipped.
gnomon_test_program(export_perfetto_files
  "${CMAKE_CURRENT_SOURCE_DIR}/perfetto_files.c")
find_package(Python3 QUIET COMPONENTS Interpreter)
if(NOT Python3_FOUND)
  gnomon_skipped_test(perfetto.messages export "no python3")
  return()
endif()

set(venv "${CMAKE_CURRENT_BINARY_DIR}/perfetto-venv")
set(check "${CMAKE_CURRENT_SOURCE_DIR}/check_perfetto.py")
find_program(GNOMON_NODE node)
add_test(NAME perfetto.venv COMMAND sh
  "${PROJECT_SOURCE_DIR}/tests/prof/venv.sh" "${Python3_EXECUTABLE}" "${venv}"
  "${CMAKE_CURRENT_SOURCE_DIR}/perfetto.txt")
set_tests_properties(perfetto.venv PROPERTIES FIXTURES_SETUP perfetto_venv)
foreach(way messages sql)
  add_test(NAME perfetto.${way} COMMAND sh -c "
    [ -f '${venv}/requirements.txt' ] ||
      { echo 'skipped: no perfetto'; exit 77; }
    exec '${venv}/bin/python' -B \"$@\"" sh "${check}"
    "${CMAKE_CURRENT_BINARY_DIR}/perfetto-${way}" ${way} "${GNOMON_NODE}"
    ${GNOMON_TEST_LAUNCHER} $<TARGET_FILE:export_perfetto_files>)
  set_tests_properties(perfetto.${way} PROPERTIES
    FIXTURES_REQUIRED perfetto_venv)
endforeach()
set(of_demo "")
if(GNOMON_EXAMPLES AND TARGET gnomon_program)
  set(of_demo perfetto.demo)
  add_test(NAME perfetto.demo COMMAND sh -c "
    [ -f '${venv}/requirements.txt' ] ||
      { echo 'skipped: no perfetto'; exit 77; }
    exec '${venv}/bin/python' -B \"$@\"" sh
    "${CMAKE_CURRENT_SOURCE_DIR}/check_demo.py"
    "${CMAKE_CURRENT_BINARY_DIR}/perfetto-demo" "${GNOMON_NODE}"
    $<TARGET_FILE:gnomon_program>
    ${GNOMON_TEST_LAUNCHER} $<TARGET_FILE:train_gpt>)
  set_tests_properties(perfetto.demo PROPERTIES FIXTURES_REQUIRED perfetto_venv)
endif()
if(TARGET gnomon_program)
  foreach(of launches streams)
    list(APPEND of_demo perfetto.${of})
    add_test(NAME perfetto.${of} COMMAND sh -c "
      [ -f '${venv}/requirements.txt' ] ||
        { echo 'skipped: no perfetto'; exit 77; }
      exec '${venv}/bin/python' -B \"$@\"" sh
      "${CMAKE_CURRENT_SOURCE_DIR}/check_${of}.py"
      "${CMAKE_CURRENT_BINARY_DIR}/perfetto-${of}" "${GNOMON_NODE}"
      $<TARGET_FILE:gnomon_program> $<TARGET_FILE:fake_cuda_driver>
      $<TARGET_FILE:fake_cupti_cupti>
      ${GNOMON_TEST_LAUNCHER} $<TARGET_FILE:program_kernels>)
    set_tests_properties(perfetto.${of} PROPERTIES
      FIXTURES_REQUIRED perfetto_venv)
  endforeach()
endif()
set_tests_properties(
  perfetto.venv perfetto.messages perfetto.sql ${of_demo} PROPERTIES
  LABELS "export;packages" TIMEOUT 300 SKIP_RETURN_CODE 77
  ENVIRONMENT_MODIFICATION GNOMON=unset:)
