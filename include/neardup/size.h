/*
 * neardup/size.h - sizes such as 2G (library neardup)
 *
 *     uint64_t bytes;
 *
 *     if (nd_size_parse("1.5G", &bytes, &err) == ND_OK)
 *         printf("%" PRIu64 "\n", bytes); // 1610612736
 */
#ifndef NEARDUP_SIZE_H
#define NEARDUP_SIZE_H

#include <neardup/error.h>
#include <neardup/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Read a number of bytes: digits, perhaps with a decimal point, and perhaps a unit, k, M, G or T in
 * either case, powers of 1024.  "2G", "2GB" and "2GiB" are the same.  A fraction of a byte is cut
 * off.  ND_EINVAL: any other text, or more than 10^18; *bytes is unchanged.
 */
ND_API enum nd_status nd_size_parse(const char *text, uint64_t *bytes, struct nd_error *err);

#ifdef __cplusplus
}
#endif
#endif
