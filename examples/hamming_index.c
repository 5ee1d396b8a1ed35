/* hamming_index.c - find all 64-bit fingerprints within 3 bits of a query
 *
 * Prints:
 *     id 10 at distance 0
 *     id 11 at distance 1
 *     id 12 at distance 3
 */
#include <neardup/hamming.h>

#include <inttypes.h>
#include <stdio.h>

int main(void)
{
    static const uint64_t fingerprint[] = {
        UINT64_C(0x0123456789abcdef), /* the query itself */
        UINT64_C(0x0123456789abcdee), /* 1 bit differs */
        UINT64_C(0x8123456789abcd6e), /* 3 bits differ */
        UINT64_C(0xfedcba9876543210), /* all 64 bits differ */
    };
    static const uint32_t id[] = {10, 11, 12, 13};
    struct nd_hamming_problem problem = {.bits = 64, .distance = 3, .count = 4};
    struct nd_hamming_plan plan;
    struct nd_hamming_matches found = {0};
    struct nd_hamming *index = NULL;
    struct nd_error err;

    /* The fastest design within 100 MB, by the default figures of a machine. */
    enum nd_status status = nd_hamming_choose(&problem, NULL, 100e6, &plan, &err);

    if (status == ND_OK)
        status = nd_hamming_new(&index, &plan, &err);
    if (status == ND_OK)
        status = nd_hamming_add(index, fingerprint, id, 0, 4, &err);
    if (status == ND_OK)
        status = nd_hamming_query(index, fingerprint, 1, 3, &found, &err);
    if (status == ND_OK) {
        nd_hamming_matches_sort(&found);
        for (size_t i = 0; i < found.count; i++)
            printf("id %" PRIu32 " at distance %" PRIu32 "\n", found.items[i].id,
                   found.items[i].distance);
    } else {
        fprintf(stderr, "%s\n", err.message);
    }
    nd_hamming_matches_release(&found);
    nd_hamming_free(index); /* NULL is allowed */
    return status != ND_OK;
}
