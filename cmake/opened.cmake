# opened.cmake - the libraries that are opened when they are needed, not linked (docs/decisions/opened.md):
# of use here are the headers, and the name of the library that they are of

# A build for another system takes both from this one: versions with one name have the same functions,
# whichever processor they are for.
find_package(PkgConfig REQUIRED)
include(cmake/soname.cmake)
pkg_check_modules(LIBARCHIVE REQUIRED libarchive)
pkg_check_modules(LIBXML REQUIRED libxml-2.0)
pkg_check_modules(ZSTD REQUIRED libzstd)
pkg_check_modules(LZMA REQUIRED liblzma)
pkg_check_modules(ZLIB REQUIRED zlib)
find_library(BZ2_LINK_LIBRARIES bz2 REQUIRED HINTS ${ZLIB_LIBDIR}) # has no .pc
pkg_check_modules(GMIME gmime-3.0)
pkg_check_modules(BROTLI libbrotlidec)
name_opened_library(LIBARCHIVE src/input/library/library.c)
name_opened_library(LIBXML src/input/library/library.c)
set(opened_codecs LZMA BZ2)
if(NOT NEARDUP_CARRIED)
    list(APPEND opened_codecs ZSTD ZLIB)
endif()
foreach(codec IN LISTS opened_codecs)
    name_opened_library(${codec} src/input/library/library.c)
endforeach()
if(GMIME_FOUND)
    name_opened_library(GMIME src/input/library/library.c)
    set_property(SOURCE src/input/formats/mail_gmime.c src/input/library/library.c APPEND PROPERTY
        COMPILE_DEFINITIONS ND_WITH_GMIME)
else()
    message(STATUS "Without mail: there is no GMime")
endif()
if(BROTLI_FOUND)
    name_opened_library(BROTLI src/input/library/library.c)
    set_property(SOURCE src/input/formats/web_body.c src/input/library/library.c APPEND PROPERTY
        COMPILE_DEFINITIONS ND_WITH_BROTLI)
else()
    message(STATUS "Without brotli in web archives: there is no libbrotlidec")
endif()
if(NEARDUP_CARRIED)
    list(APPEND opened_include_dirs ${GMIME_INCLUDE_DIRS}) # the others are among the copied headers
    list(REMOVE_ITEM opened_include_dirs /usr/include)
else()
    set(opened_include_dirs ${LIBARCHIVE_INCLUDE_DIRS} ${LIBXML_INCLUDE_DIRS} ${GMIME_INCLUDE_DIRS}
        ${ZSTD_INCLUDE_DIRS} ${LZMA_INCLUDE_DIRS} ${ZLIB_INCLUDE_DIRS} ${BROTLI_INCLUDE_DIRS})
endif()
