# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The Python package, in <build>/python. A Python that is not built with a sanitizer
# cannot load a module that is, nor one for another processor.
if(GNOMON_SANITIZE OR GNOMON_COVERAGE OR CMAKE_CROSSCOMPILING)
  message(STATUS "Python: no package in this kind of build")
  return()
endif()
find_package(Python3 QUIET COMPONENTS Interpreter Development.Module)
if(NOT Python3_Development.Module_FOUND)
  message(STATUS "Python: no package: install python3-dev")
  return()
endif()
if(NOT TARGET gnomon::static OR Python3_VERSION VERSION_LESS 3.9)
  message(STATUS "Python: no package: it needs Python 3.9 and GNOMON_BOTH=ON")
  return()
endif()
message(STATUS "Python: ${Python3_EXECUTABLE} (${Python3_VERSION})")
add_subdirectory(bindings/python)
