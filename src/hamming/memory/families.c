/* families.c - the table of all families of designs
 *
 * A new family needs its value in <neardup/hamming.h>, its row here, and the file that the row is
 * in.  plan/family.h says what a row holds.
 */
#include "hamming/plan/family.h"

/* shards.c */
extern const struct nd_hamming_family_row nd_hamming_scan_family, nd_hamming_popcount_family;
/* tables.c */
extern const struct nd_hamming_family_row nd_hamming_blocks_family, nd_hamming_covering_family;
/* halves.c */
extern const struct nd_hamming_family_row nd_hamming_halves_family, nd_hamming_windows_family;

static const struct nd_hamming_family_row *const families[] = {
    [ND_HAMMING_SCAN] = &nd_hamming_scan_family,
    [ND_HAMMING_BLOCKS] = &nd_hamming_blocks_family,
    [ND_HAMMING_COVERING] = &nd_hamming_covering_family,
    [ND_HAMMING_HALVES] = &nd_hamming_halves_family,
    [ND_HAMMING_POPCOUNT] = &nd_hamming_popcount_family,
    [ND_HAMMING_WINDOWS] = &nd_hamming_windows_family,
};
_Static_assert(sizeof families / sizeof *families == ND_HAMMING_FAMILY_COUNT,
               "a row for each family");

const struct nd_hamming_family_row *nd_hamming_family_row(enum nd_hamming_family family)
{
    return (unsigned)family < ND_HAMMING_FAMILY_COUNT ? families[family] : NULL;
}
