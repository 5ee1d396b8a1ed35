# carried.cmake - libraries that are compiled with neardup, for systems that have none of them: the
# objects neardup_carried, of sources that tools/fetch-carried.sh puts into build/
set(carried ${CMAKE_CURRENT_SOURCE_DIR}/build/carried)
execute_process(COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/tools/fetch-carried.sh ${carried}
    RESULT_VARIABLE fetched ERROR_VARIABLE reason)
if(NOT fetched EQUAL 0)
    message(FATAL_ERROR "${reason}")
endif()
enable_language(CXX)

file(GLOB carried_sources ${carried}/zlib/*.c ${carried}/isal/*.c ${carried}/zstd/common/*.c
    ${carried}/zstd/compress/*.c ${carried}/zstd/decompress/*.c)
add_library(neardup_carried STATIC ${carried_sources} ${carried}/simdjson/simdjson.cpp)
# Their warnings are theirs.  ISA-L and zstd have code in assembler, which is left out.
target_compile_options(neardup_carried PRIVATE -w -fno-sanitize=undefined)
target_compile_definitions(neardup_carried PRIVATE ZSTD_DISABLE_ASM ZSTD_MULTITHREAD=0)
target_include_directories(neardup_carried SYSTEM PUBLIC ${carried}/zlib ${carried}/zstd
    ${carried}/isal ${carried}/simdjson)
target_include_directories(neardup_options SYSTEM INTERFACE ${carried}/xxhash)
target_link_libraries(neardup_carried PRIVATE Threads::Threads)


# What reads archives, pages and mail is compiled as elsewhere, with headers of the build machine that
# are the same for all, and is never called: library.c says that the libraries are not there.
set(foreign ${CMAKE_CURRENT_BINARY_DIR}/foreign)
file(COPY /usr/include/archive.h /usr/include/archive_entry.h /usr/include/bzlib.h
    /usr/include/lzma.h /usr/include/lzma /usr/include/libxml2/libxml DESTINATION ${foreign})
file(READ ${foreign}/libxml/xmlversion.h libxml_parts)
string(REGEX REPLACE "define (LIBXML_(ICONV|ICU)_ENABLED)" "undef \\1" libxml_parts "${libxml_parts}")
file(WRITE ${foreign}/libxml/xmlversion.h "${libxml_parts}")
set(opened_include_dirs ${foreign})
set_property(SOURCE src/input/library/library.c APPEND PROPERTY COMPILE_DEFINITIONS ND_CARRIED)
