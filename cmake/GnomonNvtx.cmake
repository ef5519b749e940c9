# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Sets GNOMON_NVTX_INCLUDE_DIR, the folder of nvtx3/nvToolsExt.h; false if there is
# none. NVTX 3 consists only of headers: nothing is linked, and they fit every
# processor, so a cross build may use those of this machine.
include_guard(GLOBAL)
find_path(GNOMON_NVTX_INCLUDE_DIR nvtx3/nvtxDetail/nvtxTypes.h
  PATHS "${CUDAToolkit_ROOT}" ENV CUDA_HOME ENV CUDA_PATH /usr/local/cuda
    "${PROJECT_SOURCE_DIR}/build/nvtx"
  PATH_SUFFIXES include NO_DEFAULT_PATH NO_CMAKE_FIND_ROOT_PATH)
find_path(GNOMON_NVTX_INCLUDE_DIR nvtx3/nvtxDetail/nvtxTypes.h) # the system's
mark_as_advanced(GNOMON_NVTX_INCLUDE_DIR)
if(GNOMON_NVTX_INCLUDE_DIR)
  message(STATUS "NVTX: ${GNOMON_NVTX_INCLUDE_DIR}")
else()
  message(STATUS "NVTX: no nvtx3/nvToolsExt.h: what needs it is left out; "
    "install the CUDA toolkit, or unpack its headers to build/nvtx/include")
endif()
