# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Sets why test `name` is skipped, from the list in the file SKIPPED (each line:
# pattern, blanks, reason). "" if it is not skipped, or there is no list.
function(gnomon_emulated_skip name out)
  set(why "")
  if(SKIPPED)
    file(STRINGS "${SKIPPED}" lines REGEX "^[a-z]")
    foreach(line IN LISTS lines)
      if(line MATCHES "^([^ ]+) +(.+)$")
        set(reason "${CMAKE_MATCH_2}")
        if(name MATCHES "^${CMAKE_MATCH_1}$")
          set(why "${reason}")
        endif()
      endif()
    endforeach()
  endif()
  set(${out} "${why}" PARENT_SCOPE)
endfunction()
