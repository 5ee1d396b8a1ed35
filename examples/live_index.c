/* live_index.c - an index to which documents come and from which they go while it is queried
 *
 * Prints:
 *     similar to document 0, with 120 of 128 minima equal
 *     after 0 was deleted: 0 similar documents
 */
#include <neardup.h>

#include <stdio.h>
#include <string.h>

#define TALE                                                                                       \
    "In the old house at the end of the lane lived a clockmaker who had not wound a single "       \
    "clock since the winter in which the river froze from one bank to the other"

int main(void)
{
    static const char *const text[] = {TALE " and stayed so until March.",
                                       "The ferry leaves the northern harbour at seven."};
    static const char query[] = TALE " and stayed so until April.";
    struct nd_error err;
    struct nd_sketch_params sketching = nd_sketch_params_default();
    struct nd_index_params bands = nd_index_params_default();
    struct nd_sketcher *sketcher = nd_sketcher_new(&sketching, &err);
    struct nd_index *index = sketcher ? nd_index_new(&bands, &err) : NULL;
    struct nd_candidates found = {0};
    struct nd_sketch sketch;
    enum nd_status status = index ? ND_OK : err.status;

    for (size_t i = 0; i < 2 && status == ND_OK; i++) {
        uint32_t number; /* 0, then 1 */

        status = nd_sketcher_run(sketcher, text[i], strlen(text[i]), ND_SKETCH_MINHASH, &sketch);
        if (status == ND_OK)
            status = nd_index_insert(index, &sketch, 0, &number, &err);
    }
    if (status == ND_OK)
        status = nd_sketcher_run(sketcher, query, strlen(query), ND_SKETCH_MINHASH, &sketch);
    if (status == ND_OK)
        status = nd_index_query(index, &sketch, 0, &found);
    for (size_t i = 0; i < found.count; i++)
        printf("similar to document %u, with %u of %d minima equal\n", found.items[i].number,
               found.items[i].equal, ND_MINHASH_COUNT);
    if (status == ND_OK)
        status = nd_index_delete(index, 0, &err);
    if (status == ND_OK)
        status = nd_index_query(index, &sketch, 0, &found);
    if (status == ND_OK)
        printf("after 0 was deleted: %zu similar documents\n", found.count);
    else
        fprintf(stderr, "live_index: %s\n", nd_status_name(status));
    nd_candidates_release(&found);
    nd_index_free(index);
    nd_sketcher_free(sketcher);
    return status != ND_OK;
}
