# opened.cmake - the libraries of this system that read files: those that are linked, as
# neardup_linked, and those that are opened when they are needed
set(file_modules simdjson libisal)
pkg_check_modules(FILES REQUIRED IMPORTED_TARGET ${file_modules})
target_link_libraries(neardup_linked INTERFACE PkgConfig::FILES ${CMAKE_DL_LIBS})

# Opened when they are needed, not linked (docs/decisions/opened.md): of use here are the headers,
# and the name of the library that they are of.
include(cmake/soname.cmake)
pkg_check_modules(LIBARCHIVE REQUIRED libarchive)
pkg_check_modules(LIBXML REQUIRED libxml-2.0)
pkg_check_modules(ZSTD REQUIRED libzstd)
pkg_check_modules(LZMA REQUIRED liblzma)
pkg_check_modules(ZLIB REQUIRED zlib)
find_library(BZ2_LINK_LIBRARIES bz2 REQUIRED) # has no .pc
pkg_check_modules(GMIME gmime-3.0)
pkg_check_modules(BROTLI libbrotlidec)
name_opened_library(LIBARCHIVE src/input/library/library.c)
name_opened_library(LIBXML src/input/library/library.c)
foreach(codec ZSTD LZMA BZ2 ZLIB)
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
set(opened_include_dirs ${LIBARCHIVE_INCLUDE_DIRS} ${LIBXML_INCLUDE_DIRS} ${GMIME_INCLUDE_DIRS}
    ${ZSTD_INCLUDE_DIRS} ${LZMA_INCLUDE_DIRS} ${ZLIB_INCLUDE_DIRS} ${BROTLI_INCLUDE_DIRS})
