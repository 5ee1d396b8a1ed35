/*
 * neardup/duration.h - times that pass, such as 12h (library neardup)
 *
 *     uint64_t seconds;
 *
 *     if (nd_duration_parse("12h", 3, &seconds, &err) == ND_OK)
 *         printf("%" PRIu64 "\n", seconds); // 43200
 */
#ifndef NEARDUP_DURATION_H
#define NEARDUP_DURATION_H

#include <neardup/error.h>
#include <neardup/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Read a time that passes from `len` bytes of `text`: digits, and perhaps a unit, s, m, h, d or w;
 * without one they are seconds.  ND_EINVAL: any other text, or not 1 to 2^32 - 1 seconds; *seconds
 * is unchanged, and the message quotes the text.
 */
ND_API enum nd_status nd_duration_parse(const char *text, size_t len, uint64_t *seconds,
                                        struct nd_error *err);

#ifdef __cplusplus
}
#endif
#endif
