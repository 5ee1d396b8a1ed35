/*
 * neardup/ratio.h - exact ratios such as the threshold 4/5 (library neardup)
 *
 *     struct nd_ratio threshold;
 *
 *     if (nd_ratio_parse("0.8", 3, &threshold, &err) == ND_OK)
 *         printf("%u/%u\n", threshold.p, threshold.q); // 4/5
 */
#ifndef NEARDUP_RATIO_H
#define NEARDUP_RATIO_H

#include <neardup/error.h>
#include <neardup/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Read a ratio, as a decimal, a fraction or a percentage, and reduce it to lowest terms: "0.8", "4/5"
 * and "80%" give 4/5, ".85" gives 17/20, "1" gives 1/1.
 *
 * A decimal has at most 10 digits, 9 of them after the point.  No digit is rounded: a ratio that
 * needs a number above 2^32 - 1 in lowest terms is refused.  ND_EINVAL: that, or any other text;
 * *out is unchanged.
 */
ND_API enum nd_status nd_ratio_parse(const char *text, size_t len, struct nd_ratio *out,
                                     struct nd_error *err);

#ifdef __cplusplus
}
#endif
#endif
