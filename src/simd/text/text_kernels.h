/* text_kernels.h - the kernels of the text layer: one table an instruction set */
#ifndef ND_SIMD_TEXT_TEXT_KERNELS_H
#define ND_SIMD_TEXT_TEXT_KERNELS_H

#include "simd/instruction_set.h"
#include "simd/text/fold_entry.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Texts are valid UTF-8 but for the end, and need no readable bytes beyond their length.
 * text_scalar.c is the definition; the others give the same bytes and numbers.
 */
struct nd_text_kernels {
    const char *name;

    /*
     * Fold the characters of up to three bytes before the first that is longer, or is not of kind
     * SINGLE, or is of class BIGRAM, or has another length when folded, or is one of U+3000 to
     * 9FFF (which nearly always are of class BIGRAM: not worth looking up), or is cut by the end.
     * Returns the number of their bytes, and writes as many.  `words` writes 0 for each byte of a
     * separator; `text` keeps it.  Up to ND_FOLD_SLACK bytes beyond are overwritten.
     */
    size_t (*fold_words)(const uint8_t *in, size_t len, uint8_t *out,
                         const struct nd_fold_tables *tables);
    size_t (*fold_text)(const uint8_t *in, size_t len, uint8_t *out,
                        const struct nd_fold_tables *tables);

    /*
     * Find the places where runs of non-zero bytes begin and end (one past the last byte),
     * alternating. The last byte is zero, len <= ND_EDGES_MAX. Returns the number of edges; up to
     * ND_EDGES_SLACK numbers beyond are overwritten.
     */
    size_t (*edges)(const uint8_t *stream, size_t len, uint16_t *edge);

    /*
     * The hashes of the tokens that stand between edge[2 i] and edge[2 i + 1], i < count.  At least
     * 16 bytes from each beginning on are readable.
     */
    void (*hash)(const uint8_t *stream, const uint16_t *edge, size_t count, uint64_t *hash);

    /* Whether the bytes are valid UTF-8. */
    bool (*valid)(const uint8_t *text, size_t len);
};

enum { ND_FOLD_SLACK = 64, ND_EDGES_MAX = 32768, ND_EDGES_SLACK = 64 };

extern const struct nd_text_kernels nd_text_kernels_scalar;
#if defined(__x86_64__)
extern const struct nd_text_kernels nd_text_kernels_avx2;
extern const struct nd_text_kernels nd_text_kernels_avx512; /* without VBMI2 */
extern const struct nd_text_kernels nd_text_kernels_vbmi2;
#elif defined(__aarch64__)
extern const struct nd_text_kernels nd_text_kernels_neon;
#endif

/* Return the kernels for the instruction set in use. */
const struct nd_text_kernels *nd_text_kernels(void);

#endif
