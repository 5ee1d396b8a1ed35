/* values.h - the sorted values of a table, in whichever code */
#ifndef ND_HAMMING_FILE_VALUES_H
#define ND_HAMMING_FILE_VALUES_H

#include <neardup/hamming_file.h>

#include "hamming/file/elias_fano.h"
#include "hamming/file/manku.h"

/*
 * n values of up to 64 bits that ascend; with ND_HAMMING_MANKU they are distinct.  Bytes of the
 * latter: 64 lengths of codes, then for each block its key and the number of its first value
 * (struct nd_manku_block), then the blocks.
 */
struct nd_hamming_values {
    uint64_t n;
    unsigned bits; /* of a value */
    enum nd_hamming_codec codec;
    struct nd_hamming_ef ef;
    struct nd_manku *manku; /* its own; NULL with the other codec */
};

/* Encode, `kind` being of Elias-Fano: *data is zeroed memory from nd_table_alloc, the caller's.
 * ND_ENOMEM. */
enum nd_status nd_hamming_values_encode(enum nd_hamming_codec codec, unsigned bits,
                                        struct nd_hamming_ef_kind kind, const uint64_t *value,
                                        size_t n, void **data, size_t *bytes, struct nd_error *err);

/*
 * Point at encoded bytes (aligned to 8) and check them: reading is safe afterwards, the values
 * ascend and have no more than `bits` bits.  ND_EINPUT, ND_ENOMEM.
 *
 * _point checks the block code only.  Elias-Fano is checked by `checked` as it is read
 * (elias_fano.h), and as a whole by _check.
 */
enum nd_status nd_hamming_values_point(struct nd_hamming_values *values,
                                       enum nd_hamming_codec codec, unsigned bits,
                                       struct nd_hamming_ef_kind kind, uint64_t n, const void *data,
                                       size_t len, struct nd_checked *checked,
                                       struct nd_error *err);
enum nd_status nd_hamming_values_check(const struct nd_hamming_values *values,
                                       struct nd_error *err);
enum nd_status nd_hamming_values_open(struct nd_hamming_values *values, enum nd_hamming_codec codec,
                                      unsigned bits, struct nd_hamming_ef_kind kind, uint64_t n,
                                      const void *data, size_t len, struct nd_error *err);
void nd_hamming_values_close(struct nd_hamming_values *values);

/* Values from `at` on that are not above `high`. */
struct nd_hamming_range {
    uint64_t at, end, high; /* end: Elias-Fano only */
    struct nd_manku_cursor cursor;
};
/* Return the range of the values from low to high, both included; it is empty where they are damaged. */
struct nd_hamming_range nd_hamming_values_range(const struct nd_hamming_values *values,
                                                uint64_t low, uint64_t high);
/* Write the next values of a range, at most `max`, and return how many; range->at goes on by as many.
 * 0: the end, or they are damaged. */
size_t nd_hamming_values_next(const struct nd_hamming_values *values,
                              struct nd_hamming_range *range, size_t max, uint64_t *out);
/* out[i] = value first + i; first + count <= n.  False: they are damaged. */
bool nd_hamming_values_decode(const struct nd_hamming_values *values, uint64_t first, size_t count,
                              uint64_t *out);

#endif
