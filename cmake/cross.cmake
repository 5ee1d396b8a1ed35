# cross.cmake - cross build by zig's clang, for the system that NEARDUP_TARGET names; the tests run under
# an emulator, if there is one (tools/cross.sh)
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES NEARDUP_TARGET)

# The least version of the C library that a program needs stands in zig's name of a system.
set(zig_linux-x86_64 x86_64-linux-gnu.2.34)
set(zig_linux-x86_64-musl x86_64-linux-musl)
set(zig_linux-aarch64 aarch64-linux-gnu.2.34)
set(zig_linux-aarch64-musl aarch64-linux-musl)
set(zig_windows-x86_64 x86_64-windows-gnu)
set(zig_macos-arm64 aarch64-macos.11.0)
if(NOT zig_${NEARDUP_TARGET})
    message(FATAL_ERROR "NEARDUP_TARGET is none of the systems in cmake/cross.cmake: '${NEARDUP_TARGET}'")
endif()
string(REGEX MATCH "^([a-z]+)-(x86_64|aarch64|arm64)" parts ${NEARDUP_TARGET})
set(CMAKE_SYSTEM_PROCESSOR ${CMAKE_MATCH_2})
if(CMAKE_MATCH_1 STREQUAL "linux")
    set(CMAKE_SYSTEM_NAME Linux)
elseif(CMAKE_MATCH_1 STREQUAL "windows")
    set(CMAKE_SYSTEM_NAME Windows)
    find_program(EMULATOR NAMES wine64-stable wine64 wine PATHS /usr/lib/wine)
    # The first thread gets the stack that it has elsewhere.
    set(stack -Wl,--stack,8388608)
else()
    set(CMAKE_SYSTEM_NAME Darwin)
    set(CMAKE_INSTALL_NAME_TOOL true) # a program that does nothing: nothing is installed from here
endif()
if(CMAKE_SYSTEM_NAME STREQUAL "Linux" AND NOT CMAKE_SYSTEM_PROCESSOR STREQUAL CMAKE_HOST_SYSTEM_PROCESSOR)
    find_program(EMULATOR NAMES qemu-${CMAKE_SYSTEM_PROCESSOR}-static qemu-${CMAKE_SYSTEM_PROCESSOR})
endif()
if(EMULATOR)
    set(CMAKE_CROSSCOMPILING_EMULATOR ${EMULATOR})
endif()

set(zig_folder ${CMAKE_CURRENT_LIST_DIR}/../build/zig)
execute_process(COMMAND ${CMAKE_CURRENT_LIST_DIR}/../tools/fetch-zig.sh ${zig_folder}
    RESULT_VARIABLE zig_fetched ERROR_VARIABLE zig_reason)
if(NOT zig_fetched EQUAL 0)
    message(FATAL_ERROR "${zig_reason}")
endif()
foreach(language C CXX)
    # zig makes the system's libraries once for each level that it is told, and once more for programs
    # that are stripped: all commands say the same here, those by which CMake tries the compiler too.
    # Programs are as small as they are given away.  On macOS stripping later would break the signature.
    # zig's clang warns of constants of an enum in sums of doubles; gcc and Debian's clang do not.
    set(CMAKE_${language}_FLAGS_INIT "-target ${zig_${NEARDUP_TARGET}} -O3 -s -Wno-enum-float-conversion")
    foreach(tool AR RANLIB)
        string(TOLOWER ${tool} program)
        set(CMAKE_${tool} ${zig_folder}/${program})
        set(CMAKE_${language}_COMPILER_${tool} ${zig_folder}/${program})
    endforeach()
endforeach()
set(CMAKE_C_COMPILER ${zig_folder}/cc)
set(CMAKE_CXX_COMPILER ${zig_folder}/c++)
set(CMAKE_EXE_LINKER_FLAGS_INIT "${stack}")

set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(NEARDUP_CARRIED_DEFAULT ON)
# A program that is linked statically, as all are with musl, opens no libraries; those that Windows and
# macOS have are of other versions than the headers here.
if(NEARDUP_TARGET MATCHES "^linux-[a-z0-9_]+$")
    set(NEARDUP_OPENED_DEFAULT ON)
endif()
