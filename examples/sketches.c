/* sketches.c - estimate the resemblance of two texts by their sketches, and compute it exactly
 *
 * Prints:
 *     13 and 13 distinct shingles
 *     estimated resemblance: 0.70
 *     exact resemblance: 0.73
 *     simhashes differ in 14 bits
 */
#include <neardup.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void)
{
    static const char *const text[] = {
        "Rain is expected in the west by noon, and in the east by the evening.",
        "Rain is expected in the west by noon, and in the east by midnight then.",
    };
    struct nd_sketch_params params = nd_sketch_params_default();
    struct nd_error err;
    struct nd_sketcher *sketcher = nd_sketcher_new(&params, &err);
    struct nd_sketch sketch[2];
    uint64_t *shingles = NULL; /* those of the first text */
    struct nd_overlap o;
    enum nd_status status = sketcher ? ND_OK : err.status;

    for (int i = 0; i < 2 && status == ND_OK; i++) {
        status = nd_sketcher_run(sketcher, text[i], strlen(text[i]), ND_SKETCH_ALL, &sketch[i]);
        /* The list of shingles is the sketcher's until its next text: copy it. */
        if (i == 0 && status == ND_OK) {
            shingles = malloc((size_t)sketch[0].n_shingles * sizeof *shingles);
            if (shingles)
                memcpy(shingles, sketch[0].shingle, (size_t)sketch[0].n_shingles * 8);
            status = shingles ? ND_OK : ND_ENOMEM;
        }
    }
    if (status == ND_OK)
        status = nd_shingles_overlap(shingles, (size_t)sketch[0].n_shingles, sketch[1].shingle,
                                     (size_t)sketch[1].n_shingles, &o);
    if (status == ND_OK) {
        printf("%" PRIu64 " and %" PRIu64 " distinct shingles\n", o.a, o.b);
        printf("estimated resemblance: %.2f\n",
               nd_minhash_equal(sketch[0].minhash, sketch[1].minhash) / (double)ND_MINHASH_COUNT);
        printf("exact resemblance: %.2f\n", (double)o.shared / (double)(o.a + o.b - o.shared));
        printf("simhashes differ in %d bits\n",
               __builtin_popcountll(sketch[0].simhash ^ sketch[1].simhash));
    } else {
        fprintf(stderr, "sketches: %s\n", nd_status_name(status));
    }
    free(shingles);
    nd_sketcher_free(sketcher);
    return status != ND_OK;
}
