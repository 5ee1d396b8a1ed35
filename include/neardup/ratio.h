/* neardup/ratio.h - exact ratios such as the threshold 4/5 */
#ifndef NEARDUP_RATIO_H
#define NEARDUP_RATIO_H

#include <neardup/error.h>
#include <neardup/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Read "0.8", ".85", "1" or "4/5" as the ratio it names, in lowest terms: 4/5, 17/20, 1/1, 4/5.
 * At most 10 digits, and 9 after the point, so that no digit is lost.  ND_EINVAL: anything else,
 * and what does not fit; *out is not touched.
 */
ND_API enum nd_status nd_ratio_parse(const char *text, size_t len, struct nd_ratio *out,
                                     struct nd_error *err);

#ifdef __cplusplus
}
#endif
#endif
