/* sketch.c - simhash and min-hash of a document's distinct shingles, and comparing two */
#include <neardup/sketch.h>

#include <string.h>

#include "simd/sketch_kernels.h"
#include "sketch/shingle_set.h"

_Static_assert(ND_MINIMA == ND_MINHASH_COUNT, "the kernels make the minima of a sketch");

void nd_sketch_finish(struct nd_sketch *sketch, unsigned parts)
{
    const struct nd_sketch_kernels *kernels = nd_sketch_kernels();

    if (parts & ND_SKETCH_SIMHASH) {
        int64_t sum[ND_SIMHASH_WIDTH] = {0};

        kernels->simhash(sketch->shingle, sketch->n_shingles, sum);
        sketch->simhash = kernels->positive(sum);
    }
    if (parts & ND_SKETCH_MINHASH) {
        memset(sketch->minhash, 0xFF, sizeof sketch->minhash);
        kernels->minhash(sketch->shingle, sketch->n_shingles, sketch->minhash);
    }
}

unsigned nd_minhash_equal(const uint32_t *a, const uint32_t *b)
{
    return nd_sketch_kernels()->minima_equal(a, b);
}

enum nd_status nd_shingles_overlap(const uint64_t *a, size_t n_a, const uint64_t *b, size_t n_b,
                                   struct nd_overlap *out)
{
    struct nd_shingle_set set = {0};
    bool a_is_smaller = n_a < n_b;

    if (!nd_shingle_set_build(&set, a_is_smaller ? a : b, a_is_smaller ? n_a : n_b))
        return ND_ENOMEM;
    out->a = n_a;
    out->b = n_b;
    out->shared = nd_shingle_set_shared(&set, a_is_smaller ? b : a, a_is_smaller ? n_b : n_a, 0);
    nd_shingle_set_release(&set);
    return ND_OK;
}
