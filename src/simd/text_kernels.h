/* text_kernels.h - the kernels of the text layer: one table an instruction set */
#ifndef ND_SIMD_TEXT_KERNELS_H
#define ND_SIMD_TEXT_KERNELS_H

#include "simd/cpu.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Inputs need no readable bytes beyond their length.  text_scalar.c is the definition; the others
 * give the same bytes and numbers.
 */
struct nd_text_kernels {
    const char *name;

    /*
     * Fold the characters of one and two bytes before the first other one, or the first that
     * `pairs` calls hard, or one that is cut by the end; returns the number of their bytes, and
     * writes as many.  `words` writes 0 for each byte of a separator; `text` keeps it.  Up to
     * ND_FOLD_SLACK bytes beyond are overwritten.
     */
    size_t (*fold_words)(const uint8_t *in, size_t len, uint8_t *out, const uint32_t *pairs);
    size_t (*fold_text)(const uint8_t *in, size_t len, uint8_t *out, const uint32_t *pairs);

    /*
     * Where runs of non-zero bytes begin and end (one past the last byte), alternating.  The last
     * byte is zero, len <= ND_EDGES_MAX.  Returns the number of edges; up to ND_EDGES_SLACK
     * numbers beyond are overwritten.
     */
    size_t (*edges)(const uint8_t *stream, size_t len, uint16_t *edge);

    /* Whether the bytes are valid UTF-8. */
    bool (*valid)(const uint8_t *text, size_t len);
};

enum { ND_FOLD_SLACK = 64, ND_EDGES_MAX = 32768, ND_EDGES_SLACK = 64 };

/*
 * One number for each code point of two bytes, at its place: its two bytes folded, in memory order
 * from bit 0 on, and two flags.
 */
#define ND_PAIR_SEPARATOR (UINT32_C(1) << 16)
#define ND_PAIR_HARD (UINT32_C(1) << 31)

extern const struct nd_text_kernels nd_text_kernels_scalar;
#if defined(__x86_64__)
extern const struct nd_text_kernels nd_text_kernels_avx2;
extern const struct nd_text_kernels nd_text_kernels_avx512; /* without VBMI2 */
extern const struct nd_text_kernels nd_text_kernels_vbmi2;
#elif defined(__aarch64__)
extern const struct nd_text_kernels nd_text_kernels_neon;
#endif

/* Those for the instruction set in use. */
const struct nd_text_kernels *nd_text_kernels(void);

#endif
