/* handle.h - who uses a handle now, whether it can still be used, and when it goes */
#ifndef ND_BASE_THREAD_HANDLE_H
#define ND_BASE_THREAD_HANDLE_H

#include <stdatomic.h>
#include <stdbool.h>

#include <neardup/error.h>

/*
 * A handle may be in use by one call that changes it, or by any number of calls that only read it.
 * A call that comes while another changes the handle (from inside its callback, or from another
 * thread without a lock) is refused; nothing waits here. Starts from zeroes.
 */
struct nd_handle {
    atomic_uint state;
    atomic_int broken; /* the status of the call that failed half-way */
};

enum nd_call {
    ND_CALL_READS,
    ND_CALL_CHANGES,
};

/*
 * Enter a call. ND_EINVAL: the handle is in use or broken, and nd_handle_leave must not be called.
 */
enum nd_status nd_handle_enter(struct nd_handle *handle, enum nd_call call, struct nd_error *err);

/* From now on refuse every call except the one that frees the handle. */
void nd_handle_break(struct nd_handle *handle, enum nd_status status);

/*
 * Leave a call that was entered. True: the handle was freed meanwhile and this was the last call in
 * it, which must now free its memory.
 */
bool nd_handle_leave(struct nd_handle *handle, enum nd_call call);

/* Free the handle: whether its memory may be freed at once; if not, the last call in it does so. */
bool nd_handle_may_free(struct nd_handle *handle);

#endif
