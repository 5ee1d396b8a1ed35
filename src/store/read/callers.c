/* callers.c - who calls, and which label sets they see */
#include "store/read/callers.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "store/read/store_state.h"

struct nd_caller {
    atomic_uint n_holders;
    const struct nd_label_sets *sets;
    char *labels; /* as canonical bytes (label_sets.h) */
    size_t len;
    bool sees_all;
    struct nd_rwlock *lock; /* of: */
    struct nd_visible_sets visible;
};

static void free_caller(struct nd_caller *caller)
{
    nd_visible_sets_release(&caller->visible);
    nd_rwlock_free(caller->lock);
    free(caller->labels);
    free(caller);
}

struct nd_caller *nd_caller_new(struct nd_store *store, const struct nd_view *labels, size_t n,
                                bool is_administrator, struct nd_error *err)
{
    struct nd_caller *caller = calloc(1, sizeof *caller);

    if (!caller) {
        nd_fail(err, ND_ENOMEM, "out of memory for a caller");
        return NULL;
    }
    atomic_init(&caller->n_holders, 1);
    caller->sets = store->sets;
    caller->sees_all = is_administrator;
    caller->lock = nd_rwlock_new();
    if (!caller->lock)
        nd_fail(err, ND_ENOMEM, "out of memory for a caller");
    else if (nd_label_set_bytes(labels, n, &caller->labels, &caller->len, err) == ND_OK)
        return caller;
    free_caller(caller);
    return NULL;
}

struct nd_caller *nd_caller_hold(const struct nd_caller *caller)
{
    struct nd_caller *held = (struct nd_caller *)caller;

    atomic_fetch_add(&held->n_holders, 1);
    return held;
}

void nd_caller_free(struct nd_caller *caller)
{
    if (caller && atomic_fetch_sub(&caller->n_holders, 1) == 1)
        free_caller(caller);
}

/* ---- Which sets they see ---- */

/* Look at the sets that are new; the caller's own memory of them is all that changes. */
static enum nd_status look_at_new(struct nd_caller *caller, uint32_t below)
{
    struct nd_view labels = {caller->labels, caller->len};
    enum nd_status status = ND_OK;

    nd_rwlock_write(caller->lock);
    if (caller->visible.seen < below)
        status = nd_visible_sets_update(&caller->visible, caller->sets, labels, caller->sees_all);
    nd_rwlock_unlock(caller->lock);
    return status;
}

static enum nd_status copy_sets(const struct nd_visible_sets *visible, uint32_t below,
                                struct nd_set_list *sets)
{
    sets->n = 0;
    if (!ND_RESERVE(sets->number, &sets->capacity, visible->n + 1))
        return ND_ENOMEM;
    while (sets->n < visible->n && visible->number[sets->n] < below) {
        sets->number[sets->n] = visible->number[sets->n];
        sets->n++;
    }
    return ND_OK;
}

enum nd_status nd_caller_sets(const struct nd_caller *caller, uint32_t below,
                              struct nd_set_list *sets, struct nd_error *err)
{
    enum nd_status status = ND_OK;
    bool is_new;

    nd_rwlock_read(caller->lock);
    is_new = caller->visible.seen < below;
    if (!is_new)
        status = copy_sets(&caller->visible, below, sets);
    nd_rwlock_unlock(caller->lock);
    if (is_new) {
        status = look_at_new((struct nd_caller *)caller, below);
        nd_rwlock_read(caller->lock);
        if (status == ND_OK)
            status = copy_sets(&caller->visible, below, sets);
        nd_rwlock_unlock(caller->lock);
    }
    return status == ND_OK ? ND_OK : nd_fail(err, status, "out of memory for label sets");
}

/* The next label of canonical bytes; false: there is none. */
static bool next_label(struct nd_view *rest, struct nd_view *label)
{
    if (rest->len == 0)
        return false;
    *label = (struct nd_view){rest->data, strlen(rest->data)};
    rest->data += label->len + 1;
    rest->len -= label->len + 1;
    return true;
}

bool nd_caller_sees(const struct nd_caller *caller, struct nd_view bytes)
{
    struct nd_view mine = {caller->labels, caller->len}, label, own = {"", 0};

    if (caller->sees_all)
        return true;
    while (next_label(&bytes, &label)) {
        bool has_own = true;

        while ((has_own = next_label(&mine, &own)) && strcmp(own.data, label.data) < 0)
            ;
        if (!has_own || strcmp(own.data, label.data) != 0)
            return false;
    }
    return true;
}
