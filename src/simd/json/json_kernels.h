/* json_kernels.h - the kernels that read JSON: one table an instruction set */
#ifndef ND_SIMD_JSON_JSON_KERNELS_H
#define ND_SIMD_JSON_JSON_KERNELS_H

#include <neardup/error.h>

#include <stddef.h>
#include <stdint.h>

struct nd_json_kernels {
    const char *name;
    const uint8_t *escape; /* nd_json_escape */

    /*
     * Copy what stands between the quotes of a string, escapes of two characters replaced (RFC
     * 8259, section 7), up to the first that is of another kind, or none, or cut by the end.
     * Returns the number of bytes read; *made: of those written.  ND_UNESCAPE_SLACK bytes beyond
     * the input are readable, and as many beyond what is written are overwritten.
     */
    size_t (*unescape)(const uint8_t *in, size_t len, uint8_t *out, size_t *made);
};

enum { ND_UNESCAPE_SLACK = 64 };

/* The character that an escape of two characters stands for, by the second; 0: it is no escape. */
extern const uint8_t nd_json_escape[128];

extern const struct nd_json_kernels nd_json_scalar;
#if defined(__x86_64__)
extern const struct nd_json_kernels nd_json_vbmi2;
#endif

/* Return the kernels for the instruction set in use.  Exported: the library for files has no
 * kernels itself. */
ND_API const struct nd_json_kernels *nd_json_kernels(void);

#endif
