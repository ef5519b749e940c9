# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Finds NVIDIA's compiler, for tests/gpu, bench/gpu and train_gpt_cuda. Only included if
# GNOMON_GPU is on.
find_program(CMAKE_CUDA_COMPILER nvcc
  HINTS ENV CUDA_HOME ENV CUDA_PATH /usr/local/cuda PATH_SUFFIXES bin)
if(NOT CMAKE_CUDA_COMPILER)
  message(FATAL_ERROR "GNOMON_GPU needs NVIDIA's CUDA toolkit: no nvcc in PATH, "
    "in $CUDA_HOME/bin or in /usr/local/cuda/bin")
endif()

# For the GPUs of this machine, or for all if it has none.
if(NOT CMAKE_CUDA_ARCHITECTURES)
  set(capabilities "")
  find_program(GNOMON_NVIDIA_SMI nvidia-smi)
  if(GNOMON_NVIDIA_SMI)
    execute_process(
      COMMAND ${GNOMON_NVIDIA_SMI} --query-gpu=compute_cap --format=csv,noheader
      OUTPUT_VARIABLE capabilities ERROR_QUIET)
  endif()
  string(REGEX MATCHALL "[0-9]+[.][0-9]" architectures "${capabilities}")
  string(REPLACE "." "" architectures "${architectures}")
  list(REMOVE_DUPLICATES architectures)
  if(NOT architectures)
    set(architectures all-major)
  endif()
  set(CMAKE_CUDA_ARCHITECTURES "${architectures}" CACHE STRING "")
endif()
if(NOT DEFINED CMAKE_CUDA_FLAGS_RELEASE)
  set(CMAKE_CUDA_FLAGS_RELEASE "-O2 -DNDEBUG" CACHE STRING "")
endif()
enable_language(CUDA)
find_package(CUDAToolkit REQUIRED)
message(STATUS "CUDA ${CUDAToolkit_VERSION}, for ${CMAKE_CUDA_ARCHITECTURES}")

# cuBLAS: from the toolkit, or from PyPI's package in the folders of python3.
set(GNOMON_CUBLAS_ROOT "" CACHE PATH "A folder with cuBLAS' include/ and lib/")
if(NOT GNOMON_CUBLAS_ROOT)
  execute_process(COMMAND python3 -c
    "import glob, nvidia; [print(g) for p in nvidia.__path__
     for d in ('cu*', 'cublas') for g in glob.glob(p + '/' + d)]"
    OUTPUT_VARIABLE packages ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
  string(REPLACE "\n" ";" packages "${packages}")
endif()
find_path(GNOMON_CUBLAS_INCLUDE cublas_v2.h
  HINTS ${GNOMON_CUBLAS_ROOT}/include ${CUDAToolkit_INCLUDE_DIRS} ${packages}
  PATH_SUFFIXES include)
find_library(GNOMON_CUBLAS_LIBRARY
  NAMES cublas libcublas.so.${CUDAToolkit_VERSION_MAJOR}
  HINTS ${GNOMON_CUBLAS_ROOT}/lib ${CUDAToolkit_LIBRARY_DIR} ${packages}
  PATH_SUFFIXES lib lib64)
if(GNOMON_CUBLAS_INCLUDE AND GNOMON_CUBLAS_LIBRARY)
  message(STATUS "cuBLAS: ${GNOMON_CUBLAS_LIBRARY}")
  add_library(gnomon_cublas INTERFACE)
  target_include_directories(gnomon_cublas SYSTEM INTERFACE
    "${GNOMON_CUBLAS_INCLUDE}" ${CUDAToolkit_INCLUDE_DIRS})
  target_link_libraries(gnomon_cublas INTERFACE "${GNOMON_CUBLAS_LIBRARY}")
else()
  message(STATUS "cuBLAS: not found: no train_gpt_cuda, no test of a product; "
    "GNOMON_CUBLAS_ROOT names its folder")
endif()

# Kernels get only the warnings that CUDA's own headers do not cause.
function(gnomon_gpu_compile target)
  target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}/include")
  target_include_directories(${target} SYSTEM PRIVATE
    ${CUDAToolkit_INCLUDE_DIRS})
  target_compile_definitions(${target} PRIVATE _GNU_SOURCE)
  gnomon_set_warnings(${target})
endfunction()
