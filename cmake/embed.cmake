# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Makes OUT, a C file with the bytes of page.html, .css and .js of the folder FROM, and
# their SHA-256: cmake -D FROM=... -D OUT=... -P embed.cmake
set(c "#include \"page/template.h\"\n")
foreach(kind html css js)
  file(READ "${FROM}/page.${kind}" hex HEX)
  file(SHA256 "${FROM}/page.${kind}" hash)
  string(LENGTH "${hex}" size)
  math(EXPR size "${size} / 2")
  string(REGEX REPLACE "(..)" "0x\\1," hex "${hex}00")
  string(REGEX REPLACE "(..)" "0x\\1," hash "${hash}")
  string(APPEND c "static const unsigned char ${kind}_text[] = {${hex}};\n"
    "static const unsigned char ${kind}_hash[] = {${hash}};\n"
    "const gnomon__template gnomon__template_${kind} = {\n"
    "    (const char *)${kind}_text, ${size}, ${kind}_hash};\n")
endforeach()
file(WRITE "${OUT}" "${c}")
