# soname.cmake - what dlopen() must be given to get the library that is compiled against

# Define ND_<PREFIX>_SONAME in a source; <PREFIX> is that of the pkg_check_modules before.
function(name_opened_library prefix source)
    list(GET ${prefix}_LINK_LIBRARIES 0 library)
    if(NOT IS_ABSOLUTE ${library}) # for another system, CMake looks for none of this one
        set(library ${${prefix}_LIBDIR}/lib${library}.so)
    endif()
    execute_process(COMMAND ${CMAKE_READELF} -d ${library} OUTPUT_VARIABLE dynamic)
    if(NOT dynamic MATCHES "\\(SONAME\\)[^\n]*\\[([^]]+)\\]")
        message(FATAL_ERROR "${library}: no shared library with a soname, as readelf shows it")
    endif()
    set_property(SOURCE ${source} APPEND PROPERTY
        COMPILE_DEFINITIONS "ND_${prefix}_SONAME=\"${CMAKE_MATCH_1}\"")
endfunction()
