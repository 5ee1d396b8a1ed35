/* comparable.h - which documents are compared with one another */
#ifndef ND_READING_COMPARABLE_H
#define ND_READING_COMPARABLE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <neardup/dedup.h>
#include <neardup/run.h>
#include <neardup/types.h>

#include "base/groups.h"
#include "base/thread/pool.h"
#include "feature/text_list.h"
#include "reading/fields.h"

/* The number of the value at an index (fields.h). */
bool nd_groups_number_field(struct nd_groups *g, const struct nd_document *document, int index,
                            uint32_t *number);

/*
 * The engine compares documents of one group only.  By `within` the group is the value of a field;
 * a document of `never` is alone in its group, so that it finds no other and no other finds it:
 * "asserting that certain documents never have duplicates" (Manku 2007, §6 B).  Groups of values
 * are numbered from 1 up, those of single documents from UINT32_MAX down.
 */
struct nd_comparable {
    struct nd_pool *pool; /* whose lock guards `values` */
    int within;           /* index of the field; -1: all are of group 0 */
    struct nd_groups values;
    int security; /* index of the field with security labels; -1: no document has any */
    struct nd_groups label, set; /* labels; sets of their numbers, as nd_dedup_item has them */
    struct nd_text_list text;    /* scratch: the labels of a document, */
    struct nd_buffer numbers;    /* and their numbers */
    const struct nd_run_value *never;
    size_t n_never;
    struct nd_field_set *fields; /* that `never` names among them */
    atomic_uint n_alone;         /* documents that are, old ones too */
    atomic_uint n_old_alone;     /* old documents that are */
};
void nd_comparable_release(struct nd_comparable *c);

/* Ask for the fields of `never`, and watch for them.  ND_EINVAL: there are too many; ND_ENOMEM. */
enum nd_status nd_comparable_want(const struct nd_comparable *c, struct nd_error *err);
enum nd_status nd_comparable_watch(const struct nd_comparable *c, struct nd_error *err);

/* Whether a document is one of `never`. */
bool nd_comparable_is_never(const struct nd_comparable *c, const struct nd_document *document);
/* The group of a document, as any thread.  False: out of memory. */
bool nd_comparable_group(struct nd_comparable *c, const struct nd_document *document,
                         uint32_t *group);

/*
 * The set of a document's security labels, as any thread: its number, 0 for none.  The field has a
 * label, or a JSON array of them; empty ones are none.  False: out of memory.
 */
bool nd_comparable_labels(struct nd_comparable *c, const struct nd_document *document,
                          uint32_t *set);
/* The set of this number, for an engine.  It stays until the release. */
const uint32_t *nd_comparable_set(const struct nd_comparable *c, uint32_t set);
/* Give an item its group and labels. */
bool nd_comparable_item(struct nd_comparable *c, const struct nd_document *document,
                        struct nd_dedup_item *item);
/* The memory that the values take, about. */
uint64_t nd_comparable_bytes(const struct nd_comparable *c);
/* The group of an old document, which is not counted as one of the inputs. */
bool nd_comparable_group_old(struct nd_comparable *c, const struct nd_document *document,
                             uint32_t *group);

#endif
