/* callers.h - who calls, and which label sets they see */
#ifndef ND_STORE_READ_CALLERS_H
#define ND_STORE_READ_CALLERS_H

#include "base/system/threads.h"
#include "store/catalog/label_sets.h"
#include "store/store.h"

/* Numbers of label sets, which grow; the owner's. */
struct nd_set_list {
    uint32_t *number;
    size_t n, capacity;
};

/* A caller that a write needs after its session has let it go. */
struct nd_caller *nd_caller_hold(const struct nd_caller *caller);

/* The sets with numbers below a bound that the caller sees, ascending.  ND_ENOMEM. */
enum nd_status nd_caller_sets(const struct nd_caller *caller, uint32_t below,
                              struct nd_set_list *sets, struct nd_error *err);
/* Whether a set, by its canonical bytes, is a subset of the caller's labels. */
bool nd_caller_sees(const struct nd_caller *caller, struct nd_view bytes);

#endif
