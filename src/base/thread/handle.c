/* handle.c - who uses a handle now, whether it can still be used, and when it goes */
#include "base/thread/handle.h"

/* The state: two flags, and in the lower bits the number of calls that read the handle. */
#define CHANGED (1u << 31) /* a call that changes it is in it */
#define FREED (1u << 30)   /* it was freed; the last call in it frees its memory */

enum nd_status nd_handle_enter(struct nd_handle *handle, enum nd_call call, struct nd_error *err)
{
    unsigned state = atomic_load(&handle->state);
    int broken = atomic_load(&handle->broken);

    if (broken != ND_OK)
        return nd_fail(err, ND_EINVAL, "an earlier call failed (%s): the handle can only be freed",
                       nd_status_name((enum nd_status)broken));
    do {
        if (call == ND_CALL_CHANGES ? state != 0 : (state & (CHANGED | FREED)) != 0)
            return nd_fail(err, ND_EINVAL,
                           "the handle is in use: this call comes from inside its own callback or "
                           "from another thread");
    } while (!atomic_compare_exchange_weak(&handle->state, &state,
                                           call == ND_CALL_CHANGES ? CHANGED : state + 1));
    return ND_OK;
}

void nd_handle_break(struct nd_handle *handle, enum nd_status status)
{
    int whole = ND_OK;

    (void)atomic_compare_exchange_strong(&handle->broken, &whole, status);
}

bool nd_handle_leave(struct nd_handle *handle, enum nd_call call)
{
    const unsigned mine = call == ND_CALL_CHANGES ? CHANGED : 1;

    return atomic_fetch_sub(&handle->state, mine) == (mine | FREED);
}

bool nd_handle_may_free(struct nd_handle *handle)
{
    return atomic_fetch_or(&handle->state, FREED) == 0;
}
