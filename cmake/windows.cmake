# windows.cmake - cross build for Windows on x86-64 by zig's clang; the tests run under wine
set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
include(${CMAKE_CURRENT_LIST_DIR}/zig.cmake)
use_zig(x86_64-windows-gnu)
# The first thread gets the stack that it has elsewhere.
set(CMAKE_EXE_LINKER_FLAGS_INIT "-Wl,--stack,8388608")
find_program(WINE NAMES wine64-stable wine64 wine PATHS /usr/lib/wine)
if(WINE)
    set(CMAKE_CROSSCOMPILING_EMULATOR ${WINE})
endif()
