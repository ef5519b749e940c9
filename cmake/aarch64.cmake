# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Builds for aarch64 with Debian's cross compiler, and runs the result with
# qemu-user. Tests know it by GNOMON_EMULATED (tests/emulated/).
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(gnomon_triple aarch64-linux-gnu)
set(CMAKE_C_COMPILER ${gnomon_triple}-gcc)
set(CMAKE_CXX_COMPILER ${gnomon_triple}-g++)

# Tools come from this machine; headers and libraries come from Debian's folder for
# cross compiling. QEMU_LD_PREFIX names another folder.
set(gnomon_root "$ENV{QEMU_LD_PREFIX}")
if(gnomon_root STREQUAL "")
  set(gnomon_root /usr/${gnomon_triple})
endif()
set(CMAKE_FIND_ROOT_PATH "${gnomon_root}")
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)

find_program(GNOMON_QEMU NAMES qemu-aarch64 qemu-aarch64-static)
mark_as_advanced(GNOMON_QEMU)
if(GNOMON_QEMU)
  set(CMAKE_CROSSCOMPILING_EMULATOR "${GNOMON_QEMU}" -L "${gnomon_root}")
endif()
