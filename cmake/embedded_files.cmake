# embedded_files.cmake - files as C, for pages that the command writes: each is a struct nd_view
#
# usage: cmake -D output=embedded.c -D folder=web -D files=page.css,report/page.css -P embedded_files.cmake
set(arrays "")
string(REPLACE "," ";" names "${files}")
foreach(name IN LISTS names)
    file(READ ${folder}/${name} hex HEX)
    string(REGEX REPLACE "(..)" "0x\\1," bytes "${hex}")
    string(REGEX REPLACE "(................................................................................)"
        "\\1\n" bytes "${bytes}")
    string(REGEX REPLACE "[^a-z]" "_" word ${name})
    string(APPEND arrays "static const unsigned char ${word}[] = {\n${bytes}\n};\n"
        "const struct nd_view nd_web_${word} = {(const char *)${word}, sizeof ${word}};\n\n")
endforeach()
file(WRITE ${output}.new "/* Written by cmake/embedded_files.cmake. */
#include \"report/html_page.h\"

${arrays}")
file(RENAME ${output}.new ${output})
