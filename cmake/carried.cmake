# carried.cmake - libraries that are compiled with neardup, for systems that have none of them: the
# objects neardup_carried, of sources that tools/fetch-carried.sh puts into build/
set(carried ${CMAKE_CURRENT_SOURCE_DIR}/build/carried)
execute_process(COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/tools/fetch-carried.sh ${carried}
    RESULT_VARIABLE fetched ERROR_VARIABLE reason)
if(NOT fetched EQUAL 0)
    message(FATAL_ERROR "${reason}")
endif()
enable_language(CXX)
# Without a library of C++ (src/input/formats/simdjson_runtime.cpp).
add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fno-exceptions>
    $<$<COMPILE_LANGUAGE:CXX>:-fno-rtti> $<$<COMPILE_LANGUAGE:CXX>:-D_LIBCPP_DISABLE_EXTERN_TEMPLATE>)

file(GLOB carried_sources ${carried}/zlib/*.c ${carried}/isal/*.c ${carried}/zstd/common/*.c
    ${carried}/zstd/compress/*.c ${carried}/zstd/decompress/*.c)
add_library(neardup_carried STATIC ${carried_sources} ${carried}/simdjson/simdjson.cpp)
set_target_properties(neardup_carried PROPERTIES C_EXTENSIONS ON)
# Their warnings are theirs.  ISA-L and zstd have code in assembler, which is left out.
target_compile_options(neardup_carried PRIVATE -w -fno-sanitize=undefined)
target_compile_definitions(neardup_carried PRIVATE ZSTD_DISABLE_ASM ZSTD_MULTITHREAD=0)
if(APPLE) # zlib takes it for the Mac OS of 1990, which has no such function
    target_compile_definitions(neardup_carried PRIVATE fdopen=fdopen)
endif()
target_include_directories(neardup_carried SYSTEM PUBLIC ${carried}/zlib ${carried}/zstd
    ${carried}/isal ${carried}/simdjson)
target_include_directories(neardup_options SYSTEM INTERFACE ${carried}/xxhash)
target_link_libraries(neardup_carried PRIVATE Threads::Threads)

set_property(SOURCE src/input/library/library.c src/input/formats/simdjson_runtime.cpp APPEND PROPERTY
    COMPILE_DEFINITIONS ND_CARRIED)

# Readers of archives, pages and mail are compiled with headers of the build machine, which are the same
# for all systems.
set(foreign ${CMAKE_CURRENT_BINARY_DIR}/foreign)
file(COPY /usr/include/archive.h /usr/include/archive_entry.h /usr/include/bzlib.h
    /usr/include/lzma.h /usr/include/lzma /usr/include/libxml2/libxml DESTINATION ${foreign})
if(EXISTS /usr/include/brotli)
    file(COPY /usr/include/brotli DESTINATION ${foreign})
endif()
file(READ ${foreign}/libxml/xmlversion.h libxml_parts)
string(REGEX REPLACE "define (LIBXML_(ICONV|ICU)_ENABLED)" "undef \\1" libxml_parts "${libxml_parts}")
file(WRITE ${foreign}/libxml/xmlversion.h "${libxml_parts}")
set(opened_include_dirs ${foreign})
if(NEARDUP_OPENED)
    include(cmake/opened.cmake)
else()
    set_property(SOURCE src/input/library/library.c APPEND PROPERTY COMPILE_DEFINITIONS ND_OPENS_NONE)
endif()
