# web_files.cmake - the files of web/ as C: a table of what the server gives as it is
#
# usage: cmake -D output=web_table.c -D folder=web -P web_files.cmake
file(GLOB files RELATIVE ${folder} ${folder}/*.html ${folder}/*.css ${folder}/*.mjs ${folder}/*.json
    ${folder}/*.svg)
set(type_html "text/html; charset=utf-8")
set(type_css "text/css; charset=utf-8")
set(type_mjs "text/javascript; charset=utf-8")
set(type_json "application/json")
set(type_svg "image/svg+xml")
set(arrays "")
set(rows "")
set(n 0)
foreach(name IN LISTS files)
    file(READ ${folder}/${name} hex HEX)
    file(SHA256 ${folder}/${name} hash)
    string(SUBSTRING ${hash} 0 32 hash)
    string(REGEX REPLACE "(..)" "0x\\1," bytes "${hex}")
    string(REGEX REPLACE "(................................................................................)"
        "\\1\n" bytes "${bytes}")
    string(REGEX REPLACE ".*\\." "" kind ${name})
    string(REGEX REPLACE "^index\\.html$" "" path ${name})
    string(APPEND arrays "static const unsigned char file_${n}[] = {\n${bytes}\n};\n")
    string(APPEND rows
        "    {\"/${path}\", \"${type_${kind}}\", file_${n}, sizeof file_${n}, \"\\\"${hash}\\\"\"},\n")
    math(EXPR n "${n} + 1")
endforeach()
file(WRITE ${output}.new "/* Written by cmake/web_files.cmake. */
#include \"server/wire/web_files.h\"

${arrays}
const struct nd_web_file nd_web_table[] = {
${rows}};
const size_t nd_web_table_count = ${n};
")
file(RENAME ${output}.new ${output})
