# write_pc.cmake - the pkg-config files, with paths relative to where they stand
string(REGEX REPLACE "[^/]+" ".." up "${libdir}/pkgconfig")
set(directory "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}/${libdir}/pkgconfig")
configure_file("${templates}/neardup.pc.in" "${directory}/neardup.pc" @ONLY)
message(STATUS "Installing: ${directory}/neardup.pc")
if(with_files)
    configure_file("${templates}/neardup-files.pc.in" "${directory}/neardup-files.pc" @ONLY)
    message(STATUS "Installing: ${directory}/neardup-files.pc")
endif()
