/* hamming_sort.c - numbered values in order */
#include "index/hamming_sort.h"

/* By bytes from the lowest, each pass stable; a byte that all have in common needs none. */
void nd_hamming_entries_sort(struct nd_hamming_entry **entry, struct nd_hamming_entry **other,
                             size_t n)
{
    for (unsigned shift = 0; shift < 64; shift += 8) {
        const struct nd_hamming_entry *from = *entry;
        struct nd_hamming_entry *to = *other;
        size_t count[256] = {0}, sum = 0;

        for (size_t i = 0; i < n; i++)
            count[from[i].value >> shift & 255]++;
        if (n == 0 || count[from[0].value >> shift & 255] == n)
            continue;
        for (int b = 0; b < 256; b++) {
            size_t here = count[b];

            count[b] = sum;
            sum += here;
        }
        for (size_t i = 0; i < n; i++)
            to[count[from[i].value >> shift & 255]++] = from[i];
        *other = *entry;
        *entry = to;
    }
}
