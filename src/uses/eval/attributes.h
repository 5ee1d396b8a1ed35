/* attributes.h - what pairs are divided by that is of their documents: site, length, a field */
#ifndef ND_USES_EVAL_ATTRIBUTES_H
#define ND_USES_EVAL_ATTRIBUTES_H

#include "uses/eval/scores.h"

enum nd_attribute {
    ND_ATTRIBUTE_NONE,
    ND_ATTRIBUTE_SITE,   /* the host of an address */
    ND_ATTRIBUTE_PREFIX, /* the part before the first ":" or "/", in place of a host */
    ND_ATTRIBUTE_LENGTH,
    ND_ATTRIBUTE_FIELD
};

/* Pairs that the truth calls the same and that have a value, by its number among the texts. */
struct nd_same_value {
    uint32_t value;
    struct nd_same_pairs pairs;
};

/* Starts from zeroes. */
struct nd_attributes {
    enum nd_attribute kind;
    const char *field;       /* unless of LENGTH: its name; points into what was parsed */
    struct nd_groups values; /* hosts, or values of the field */
    uint32_t *value;         /* by document - 1: the number of its value, 0: none; or its tokens */
    size_t n, capacity;
};
void nd_attributes_release(struct nd_attributes *a);

/* Parse the value of --by: "site:FIELD", "prefix:FIELD", "field:NAME", "length"; NONE: a column. */
void nd_attributes_parse(struct nd_attributes *a, const char *by);

/* Note the next document, in the order of the ids.  `field` is its value, data NULL: none. False: out
 * of memory. */
bool nd_attributes_add(struct nd_attributes *a, struct nd_view field, uint64_t tokens);

/* Give each pair the number of its value among r->texts: "same", "other" or "unknown" for sites; the
 * value of both, or "other" or "unknown"; the length of the shorter one, by doubling classes.  False:
 * out of memory. */
bool nd_attributes_apply(const struct nd_attributes *a, struct nd_relation *r);

/*
 * Divide the pairs that the truth calls the same likewise, by values whose texts are those of the
 * result, to which new ones are added.  *same, which the caller frees, gets n entries by rising value:
 * pairs within sets are counted by the documents of a set that have a value, and never listed.  False:
 * out of memory.
 */
bool nd_attributes_divide(const struct nd_attributes *a, const struct nd_relation *truth,
                          struct nd_groups *texts, struct nd_same_value **same, size_t *n);

#endif
