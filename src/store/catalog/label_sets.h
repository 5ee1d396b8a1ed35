/* label_sets.h - label sets by number, and which of them a caller sees */
#ifndef ND_STORE_CATALOG_LABEL_SETS_H
#define ND_STORE_CATALOG_LABEL_SETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <neardup/error.h>
#include <neardup/types.h>

/*
 * A label set as bytes: its labels in order of their bytes, each once, each with a zero behind it.
 * The empty set is the empty string.  Numbers are given in the order in which sets first occur, and
 * never shown to anyone.
 */
struct nd_label_sets;
struct nd_label_sets *nd_label_sets_new(void); /* NULL: out of memory */
void nd_label_sets_free(struct nd_label_sets *sets);

/* The canonical bytes of some labels; *bytes is the caller's to free.  ND_EINVAL: a label that is no
 * label (store.h); ND_ENOMEM. */
enum nd_status nd_label_set_bytes(const struct nd_view *labels, size_t n, char **bytes, size_t *len,
                                  struct nd_error *err);
/* Whether bytes are what nd_label_set_bytes makes of some labels. */
bool nd_label_set_is_canonical(struct nd_view bytes);

/* Any number of threads may find and get, while one adds. */
#define ND_NO_LABEL_SET UINT32_MAX
uint32_t nd_label_sets_find(const struct nd_label_sets *sets, struct nd_view bytes);
/* Add a set that was not there before, with the next number; ND_ENOMEM. */
enum nd_status nd_label_sets_add(struct nd_label_sets *sets, struct nd_view bytes,
                                 uint32_t *number);
uint32_t nd_label_sets_count(const struct nd_label_sets *sets);
/* The bytes, and the labels, of a set: valid for the life of the sets. */
struct nd_view nd_label_sets_bytes(const struct nd_label_sets *sets, uint32_t number);
const struct nd_view *nd_label_sets_labels(const struct nd_label_sets *sets, uint32_t number,
                                           size_t *n);

/* The sets below `count` that are subsets of a caller's labels: ascending numbers.  A caller (store.h)
 * keeps them, and looks at new sets when there are more. */
struct nd_visible_sets {
    uint32_t *number;
    size_t n, capacity;
    uint32_t seen; /* sets that were looked at */
};
enum nd_status nd_visible_sets_update(struct nd_visible_sets *visible,
                                      const struct nd_label_sets *sets, struct nd_view labels,
                                      bool all);
bool nd_visible_sets_has(const struct nd_visible_sets *visible, uint32_t number);
void nd_visible_sets_release(struct nd_visible_sets *visible);

#endif
