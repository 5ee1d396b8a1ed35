# install.cmake - what `make install` puts where, and how other builds find it
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/neardup)

install(DIRECTORY include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(DIRECTORY recipes/ DESTINATION ${CMAKE_INSTALL_DATADIR}/neardup/recipes
    FILES_MATCHING PATTERN "*.ini")
install(DIRECTORY lab/ DESTINATION ${CMAKE_INSTALL_DATADIR}/neardup/lab
    FILES_MATCHING PATTERN "*.ini")
if(TARGET neardup)
    include(cmake/manual.cmake)
endif()
# Completions of shells, where each looks for them.
if(TARGET neardup)
    install(FILES completions/neardup.bash RENAME neardup
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
    if(CMAKE_INSTALL_PREFIX STREQUAL "/usr" AND EXISTS /etc/debian_version)
        set(zsh_dir zsh/vendor-completions)
    else()
        set(zsh_dir zsh/site-functions)
    endif()
    install(FILES completions/_neardup DESTINATION ${CMAKE_INSTALL_DATADIR}/${zsh_dir})
    install(FILES completions/neardup.fish
        DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
    # PowerShell looks nowhere: a profile names it.
    install(FILES completions/neardup.ps1 DESTINATION ${CMAKE_INSTALL_DATADIR}/neardup)
endif()

# The loader looks here first, so a tree that is installed, unpacked or moved as a whole finds its own parts.
# Packages of a system go without (CMAKE_SKIP_INSTALL_RPATH).
file(RELATIVE_PATH bin_to_lib ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
if(TARGET neardup_files)
    set_target_properties(neardup_files_shared PROPERTIES INSTALL_RPATH "$ORIGIN")
endif()
if(TARGET neardup)
    set_target_properties(neardup PROPERTIES INSTALL_RPATH
        "$ORIGIN/${bin_to_lib};$ORIGIN/${bin_to_lib}/neardup")
endif()

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
if(TARGET neardup-server)
    install(TARGETS neardup-server DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/neardup)
endif()
install(EXPORT neardupTargets NAMESPACE neardup:: DESTINATION ${package_dir})
configure_package_config_file(cmake/neardupConfig.cmake.in neardupConfig.cmake
    INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(neardupConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/neardupConfig.cmake
    ${CMAKE_CURRENT_BINARY_DIR}/neardupConfigVersion.cmake DESTINATION ${package_dir})

# pkg-config: written at install time, when the prefix is known for certain.
install(CODE "set(version ${PROJECT_VERSION})
    set(libdir ${CMAKE_INSTALL_LIBDIR})
    set(includedir ${CMAKE_INSTALL_INCLUDEDIR})
    string(REPLACE \";\" \" \" file_modules \"${file_modules}\")
    set(dl_flag \"$<$<BOOL:${CMAKE_DL_LIBS}>:-l${CMAKE_DL_LIBS}>\")
    set(with_files $<TARGET_EXISTS:neardup_files>)
    set(templates \"${CMAKE_CURRENT_SOURCE_DIR}/cmake\")")
install(SCRIPT cmake/write_pc.cmake)
