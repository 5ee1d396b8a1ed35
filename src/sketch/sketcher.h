/* sketcher.h - what the layers above may use of a sketcher beside the public functions */
#ifndef ND_SKETCH_SKETCHER_H
#define ND_SKETCH_SKETCHER_H

#include <neardup/sketch.h>

#include "sketch/shingle_set.h"

enum nd_status nd_sketch_params_check(const struct nd_sketch_params *params, struct nd_error *err);

/* As nd_sketcher_read, of a text that is known to be valid UTF-8. */
enum nd_status nd_sketcher_read_valid(struct nd_sketcher *s, const char *text, size_t len,
                                      struct nd_sketch *out);

/* The distinct shingles of the last text read; valid until the next. */
ND_API const struct nd_shingle_set *nd_sketcher_shingles(const struct nd_sketcher *s);

/* Put them into `set`; the sketcher goes on with what was there. */
void nd_sketcher_swap_shingles(struct nd_sketcher *s, struct nd_shingle_set *set);

#endif
