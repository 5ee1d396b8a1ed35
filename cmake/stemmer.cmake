# stemmer.cmake - Snowball's stemmers, of the version that is part of recipes, as the objects
# neardup_stemmer: from the sources that are carried along, or those that tools/fetch-libstemmer.sh
# puts into build/
file(STRINGS ${CMAKE_CURRENT_SOURCE_DIR}/src/feature/word/stemmer.h version_line REGEX "define ND_STEM_VERSION ")
string(REGEX MATCH "[0-9]+\\.[0-9]+\\.[0-9]+" stemmer_version "${version_line}")
set(stemmer_folder ${CMAKE_CURRENT_SOURCE_DIR}/third_party/libstemmer) # of a source distribution
if(NOT EXISTS ${stemmer_folder})
    set(stemmer_folder ${CMAKE_CURRENT_SOURCE_DIR}/build/libstemmer)
    execute_process(COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/tools/fetch-libstemmer.sh ${stemmer_folder}
        RESULT_VARIABLE fetched ERROR_VARIABLE reason)
    if(NOT fetched EQUAL 0)
        message(FATAL_ERROR "${reason}")
    endif()
endif()
file(STRINGS ${stemmer_folder}/VERSION found LIMIT_COUNT 1)
if(NOT found STREQUAL stemmer_version)
    message(FATAL_ERROR "${stemmer_folder} has version ${found} of Snowball, not ${stemmer_version}")
endif()

file(GLOB stemmer_sources ${stemmer_folder}/*/*.c)
add_library(neardup_stemmer OBJECT ${stemmer_sources})
set_property(SOURCE src/feature/word/stemmer.c APPEND PROPERTY COMPILE_DEFINITIONS ND_WITH_STEMMER)
set_property(SOURCE src/feature/word/stemmer.c APPEND PROPERTY INCLUDE_DIRECTORIES ${stemmer_folder}/include)
