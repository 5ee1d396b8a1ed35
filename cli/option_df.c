/* option_df.c - what the options of df do to the settings */
#include "option_set.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <neardup/ratio.h>

enum nd_status set_df_features(struct settings *s, const struct option *o, const char *value,
                               struct nd_error *err)
{
    (void)o;
    (void)err;
    s->df_table.build.features = value;
    return ND_OK;
}

/* Bytes, with k, M, G or T behind: powers of 1024. */
enum nd_status set_df_memory(struct settings *s, const struct option *o, const char *value,
                             struct nd_error *err)
{
    static const char unit[] = "kMGT";
    char *end;
    double n = strtod(value, &end);
    const char *found = *end ? strchr(unit, *end) : NULL;

    if (found) {
        n = ldexp(n, 10 * (int)(found - unit + 1));
        end++;
    }
    if (end == value || *end || !(n >= 1 << 20) || n > 1e18)
        return nd_fail(err, ND_EINVAL,
                       "--%s: '%s' is no number of bytes (with k, M, G or T) from "
                       "1M on",
                       o->name, value);
    s->df_table.build.memory_bytes = (uint64_t)n;
    return ND_OK;
}

enum nd_status set_df_flag(struct settings *s, const struct option *o, const char *value,
                           struct nd_error *err)
{
    (void)value;
    (void)err;
    if (strcmp(o->name, "texts") == 0)
        s->df_table.build.keep_texts = 1;
    else
        s->df_table.rarest = true;
    return ND_OK;
}

enum nd_status set_df_number(struct settings *s, const struct option *o, const char *value,
                             struct nd_error *err)
{
    enum { MOST = 1 << 20 };
    unsigned *field = strcmp(o->name, "count") == 0 ? &s->df_table.count : &s->df_table.sample;
    unsigned long n;
    char *end;

    errno = 0;
    n = strtoul(value, &end, 10);
    if (*value < '0' || *value > '9' || *end || errno || n < 1 || n > MOST)
        return nd_fail(err, ND_EINVAL, "--%s: '%s' is no number from 1 to %d", o->name, value,
                       MOST);
    *field = (unsigned)n;
    return ND_OK;
}

enum nd_status set_df_drop(struct settings *s, const struct option *o, const char *value,
                           struct nd_error *err)
{
    struct nd_ratio share;

    if (nd_ratio_parse(value, strlen(value), &share, NULL) != ND_OK || share.p == 0 ||
        share.p >= share.q)
        return nd_fail(err, ND_EINVAL, "--%s: '%s' is no share above 0 and below 1, such as 0.5",
                       o->name, value);
    s->df_table.drop = (double)share.p / share.q;
    return ND_OK;
}
