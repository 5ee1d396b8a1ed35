/* signature_places.h - under which keys of the table a set of values is listed, and asked for */
#ifndef ND_INDEX_SIGNATURE_PLACES_H
#define ND_INDEX_SIGNATURE_PLACES_H

#include "index/rarity.h"
#include "index/signatures.h"

/*
 * A set of n values that a match shares at least s of is listed under its n - s + 1 rarest values,
 * and asked for under as many of its own: the rarest value that two sets share is among both.
 *
 * Where sets that match are of like size, each is listed under its values with a class of sizes,
 * and asked for under the classes that can match.  Where only the lesser of two sets must share
 * much (containment), lesser ones are listed under their rarest values, and greater ones under
 * nearly all in other places ("whole").
 */

/*
 * Append where a row is listed, and where those are listed that match it, by one look-up of which
 * it has these n keys.  Sets of like size are listed and asked for under `more` values more, of
 * which a match then shares *shared: the rarest `more` + 1 that two sets share are among both, or
 * all that they share.  False: out of memory.
 */
bool nd_places_listed(const struct nd_rarity *r, const struct nd_signature_lookup *lookup,
                      const uint64_t *key, size_t n, size_t more, struct nd_key_list *out);
bool nd_places_asked(const struct nd_rarity *r, const struct nd_signature_lookup *lookup,
                     const uint64_t *key, size_t n, size_t more, struct nd_key_list *out,
                     size_t *shared);

/* The places that one of a row's n keys may have been listed under, whatever the order was then:
 * one, or two of containment. */
struct nd_places {
    uint64_t at[2];
    unsigned n;
};
struct nd_places nd_places_of(const struct nd_signature_lookup *lookup, uint64_t key, size_t n);

#endif
