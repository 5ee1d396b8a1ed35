/* code_places.h - where the code points of the normalised text stand in the original */
#ifndef ND_TEXT_CODE_PLACES_H
#define ND_TEXT_CODE_PLACES_H

#include <neardup/error.h>

#include <stddef.h>
#include <stdint.h>

/* Bytes of the original that gave a code point: those of the piece that it is of (text.md). */
struct nd_code_place {
    uint64_t offset, end;
};

/* Of each code point of the normalised text, in order: slow, by the plain algorithm.  *place is the
 * caller's, to free().  ND_ENOMEM. */
enum nd_status nd_text_code_places(const char *text, size_t len, struct nd_code_place **place,
                                   size_t *n_places);

#endif
