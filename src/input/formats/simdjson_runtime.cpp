/* simdjson_runtime.cpp - the part of C++'s library that simdjson needs, for builds that carry it */

/*
 * A program for another system would otherwise be linked with a library of C++ that is compiled for
 * it first, which takes longer than all of neardup, and makes the program larger by a third.  With
 * -fno-exceptions, and the library's templates compiled in place, simdjson needs no more than this.
 */
#ifdef ND_CARRIED
extern "C" {
#include "base/system/threads.h"
}

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <string>

const std::nothrow_t std::nothrow{};

void *operator new(std::size_t bytes, const std::nothrow_t &) noexcept
{
    return std::malloc(bytes ? bytes : 1);
}

void *operator new[](std::size_t bytes, const std::nothrow_t &) noexcept
{
    return std::malloc(bytes ? bytes : 1);
}

/* Only strings of simdjson's list of processors come here (jsonl_simdjson.cpp makes room before). */
void *operator new(std::size_t bytes)
{
    void *room = std::malloc(bytes ? bytes : 1);

    if (!room)
        std::abort();
    return room;
}

void operator delete(void *room) noexcept
{
    std::free(room);
}

void operator delete(void *room, std::size_t) noexcept
{
    std::free(room);
}

void operator delete[](void *room) noexcept
{
    std::free(room);
}

/* Nothing here is aligned to more than malloc does it; unoptimised code names these and calls none. */
void *operator new(std::size_t, std::align_val_t)
{
    std::abort();
}

void operator delete(void *, std::size_t, std::align_val_t) noexcept
{
    std::abort();
}

extern "C" void __cxa_pure_virtual(void);
extern "C" void __cxa_pure_virtual(void)
{
    std::abort();
}

/*
 * A variable of a function is made by the first thread that comes; the others wait.  The first byte
 * of what guards it is 1 when it is made, as compiled code looks at it; the second is ours.
 */
struct variable_guard {
    std::atomic<std::uint8_t> is_made, is_being_made;
};
extern "C" int __cxa_guard_acquire(variable_guard *g);
extern "C" void __cxa_guard_release(variable_guard *g);

extern "C" int __cxa_guard_acquire(variable_guard *g)
{
    while (!g->is_made.load(std::memory_order_acquire)) {
        if (!g->is_being_made.exchange(1, std::memory_order_acquire))
            return 1;
        nd_thread_yield();
    }
    return 0;
}

extern "C" void __cxa_guard_release(variable_guard *g)
{
    g->is_made.store(1, std::memory_order_release);
}

#ifdef _LIBCPP_VERSION
/* Its header says that the library has the functions of strings, which are called if not inlined. */
template class std::basic_string<char>;

_LIBCPP_BEGIN_NAMESPACE_STD
void __libcpp_verbose_abort(const char *, ...) noexcept
{
    std::abort();
}
_LIBCPP_END_NAMESPACE_STD
#endif
#endif
