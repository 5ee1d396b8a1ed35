# install.cmake - what `make install` puts where, and how other builds find it
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/neardup)

install(DIRECTORY include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(DIRECTORY recipes/ DESTINATION ${CMAKE_INSTALL_DATADIR}/neardup/recipes
    FILES_MATCHING PATTERN "*.ini")
foreach(section 1 3 5 7)
    file(GLOB pages CONFIGURE_DEPENDS man/*.${section})
    if(pages)
        install(FILES ${pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man${section})
    endif()
endforeach()

# One package for both libraries: neardup::neardup, and neardup::neardup_files where it was built.
target_include_directories(neardup_shared INTERFACE
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
install(TARGETS neardup_shared EXPORT neardupTargets)
install(TARGETS neardup_core)
if(TARGET neardup_files)
    install(TARGETS neardup_files_shared EXPORT neardupTargets)
    install(TARGETS neardup_files)
endif()
if(TARGET neardup)
    install(TARGETS neardup)
endif()
install(EXPORT neardupTargets NAMESPACE neardup:: DESTINATION ${package_dir})
configure_package_config_file(cmake/neardupConfig.cmake.in neardupConfig.cmake
    INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(neardupConfigVersion.cmake COMPATIBILITY SameMajorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/neardupConfig.cmake
    ${CMAKE_CURRENT_BINARY_DIR}/neardupConfigVersion.cmake DESTINATION ${package_dir})

# pkg-config: written at install time, when the prefix is known for certain.
install(CODE "set(version ${PROJECT_VERSION})
    set(libdir ${CMAKE_INSTALL_LIBDIR})
    set(includedir ${CMAKE_INSTALL_INCLUDEDIR})
    string(REPLACE \";\" \" \" file_modules \"${file_modules}\")
    set(dl_flag \"$<$<BOOL:${CMAKE_DL_LIBS}>:-l${CMAKE_DL_LIBS}>\")
    set(stemmer_flag \"${stemmer_flag}\")
    set(with_files $<TARGET_EXISTS:neardup_files>)
    set(templates \"${CMAKE_CURRENT_SOURCE_DIR}/cmake\")")
install(SCRIPT cmake/write_pc.cmake)
