/* handle.h - who uses a handle now, whether it can still be used, and when it goes */
#ifndef ND_BASE_HANDLE_H
#define ND_BASE_HANDLE_H

#include <stdatomic.h>
#include <stdbool.h>

#include <neardup/error.h>

/*
 * A handle is in use by one call that changes it, or by any number of calls that only read it.  A
 * call that comes while another changes the handle (from inside its callback, or from another
 * thread without a lock) is refused.  Nobody waits here.  Starts from zeroes.
 */
struct nd_handle {
    atomic_uint state;
    atomic_int broken; /* the status of the call that left it half changed */
};

enum nd_call {
    ND_CALL_READS,
    ND_CALL_CHANGES,
};

/* ND_EINVAL, and nothing is to be left: the handle is in use, or broken. */
enum nd_status nd_handle_enter(struct nd_handle *handle, enum nd_call call, struct nd_error *err);

/* From now on every call is refused, but for the one that frees it. */
void nd_handle_break(struct nd_handle *handle, enum nd_status status);

/* The end of a call that was let in.  True: the handle was freed meanwhile, and this call was the
 * last one in it, which now has to give its memory back. */
bool nd_handle_leave(struct nd_handle *handle, enum nd_call call);

/* Whether its memory may be given back at once; if not, the last call in it does so. */
bool nd_handle_may_free(struct nd_handle *handle);

#endif
