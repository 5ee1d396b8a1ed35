/* metadata_list.h - the lists of `fields` and `force` */
#ifndef ND_FEATURE_METADATA_LIST_H
#define ND_FEATURE_METADATA_LIST_H

#include <neardup/error.h>
#include <neardup/feature.h>
#include <neardup/types.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ND_METADATA_FIELDS 32 /* of a list, at most */

/* A number in 10^-9. */
typedef __int128 nd_decimal;

/* An entry of `fields`, or of `force`. */
struct nd_metadata_field {
    struct nd_view name;
    uint32_t share; /* in units of 1 / ND_WEIGHT_ONE; of `force`: n */
    bool is_numeric;
    bool is_weighted;     /* a JSON object of values and their weights */
    unsigned buckets;     /* of a numeric field; 0: none */
    nd_decimal low, high; /* of a numeric field */
};

struct nd_metadata_list {
    struct nd_metadata_field at[ND_METADATA_FIELDS];
    size_t count;
};

/* The names lie in `text`.  ND_EINVAL: the message names the list and the entry. */
enum nd_status nd_metadata_read_fields(struct nd_metadata_list *list, const char *text,
                                       struct nd_error *err);
enum nd_status nd_metadata_read_force(struct nd_metadata_list *list, const char *text,
                                      struct nd_error *err);

/* A decimal number, whole: "12", "-0.5", "1e6"; digits beyond 10^-9 are cut, 10^18 is the greatest.
 * False: it is none. */
bool nd_decimal_parse(const char *text, size_t len, nd_decimal *out);

#endif
