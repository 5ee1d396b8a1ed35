/* beside.h - what signatures read of a document beside its text, as one hash */
#ifndef ND_RECORD_BESIDE_H
#define ND_RECORD_BESIDE_H

#include <stdbool.h>

#include <neardup/error.h>
#include <neardup/types.h>

#include "match/method.h"

/* The parts of a document that the signatures of a recipe read.  Starts from zeroes: none. */
struct nd_beside {
    bool markup, links, elements;
    char *names; /* of fields, each with a zero behind it */
    size_t n_names;
};
/* ND_EINVAL: a list of fields is wrong; ND_ENOMEM.  Either way nd_beside_release frees what was made. */
ND_API enum nd_status nd_beside_init(struct nd_beside *beside, const struct nd_method *method,
                                     struct nd_error *err);
ND_API void nd_beside_release(struct nd_beside *beside);

/* Whether the signatures read anything beside the text. */
static inline bool nd_beside_is_read(const struct nd_beside *beside)
{
    return beside->markup || beside->links || beside->elements || beside->n_names > 0;
}

/* Return a hash of these parts of a document; 0 where none is read.  Documents with the same text and
 * the same hash have the same signatures. */
ND_API uint64_t nd_beside_hash(const struct nd_beside *beside, const struct nd_document *document);

#endif
