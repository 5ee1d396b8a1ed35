/* option_hamming.c - what the options of index and join do to the settings */
#include "option_set.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <neardup/hamming_file.h>
#include <neardup/hamming_stats.h>

enum nd_status set_hamming_number(struct settings *s, const struct option *o, const char *value,
                                  struct nd_error *err)
{
    struct hamming_settings *h = &s->hamming;
    const struct {
        const char *name;
        unsigned least, most, *field;
    } known[] = {
        {"bits", ND_HAMMING_BITS_MIN, ND_HAMMING_BITS_MAX, &h->bits},
        {"distance", 0, ND_HAMMING_DISTANCE_MAX, &h->distance},
        {"tables", 1, ND_HAMMING_TABLES_MAX, &h->tables},
        {"key-bits", 1, 64, &h->key_bits},
        {"buckets", 2, ND_HAMMING_BUCKETS_MAX, &h->buckets},
    };
    size_t i = 0;
    unsigned long n;
    char *end;

    while (strcmp(known[i].name, o->name) != 0)
        i++;
    errno = 0;
    n = strtoul(value, &end, 10);
    if (*value < '0' || *value > '9' || *end || errno || n < known[i].least || n > known[i].most)
        return nd_fail(err, ND_EINVAL, "--%s: '%s' is no number from %u to %u", o->name, value,
                       known[i].least, known[i].most);
    *known[i].field = (unsigned)n;
    s->hamming.has_distance |= known[i].field == &h->distance;
    s->hamming.has_bits |= known[i].field == &h->bits;
    return ND_OK;
}

/* A number, for sizes with k, M, G or T behind: powers of 1024. */
enum nd_status set_hamming_size(struct settings *s, const struct option *o, const char *value,
                                struct nd_error *err)
{
    static const char unit[] = "kMGT";
    bool is_memory = strcmp(o->name, "memory") == 0;
    char *end;
    double n = strtod(value, &end);
    const char *found = is_memory && *end ? strchr(unit, *end) : NULL;

    if (found) {
        n = ldexp(n, 10 * (int)(found - unit + 1));
        end++;
    }
    if (end == value || *end || !(n >= 1) || n > 1e18)
        return nd_fail(err, ND_EINVAL, "--%s: '%s' is no number%s from 1 on", o->name, value,
                       is_memory ? " of bytes (with k, M, G or T)" : "");
    *(is_memory ? &s->hamming.memory : &s->hamming.count) = n;
    return ND_OK;
}

enum nd_status set_hamming_flag(struct settings *s, const struct option *o, const char *value,
                                struct nd_error *err)
{
    (void)value;
    (void)err;
    if (strcmp(o->name, "raw") == 0)
        s->hamming.raw = true;
    else if (strcmp(o->name, "any-digits") == 0)
        s->hamming.any_digits = true;
    else if (strcmp(o->name, "merge") == 0)
        s->hamming.merge = true;
    else
        s->hamming.calibrate = true;
    return ND_OK;
}

enum nd_status set_hamming_output(struct settings *s, const struct option *o, const char *value,
                                  struct nd_error *err)
{
    (void)err;
    *(strcmp(o->name, "svg") == 0 ? &s->hamming.svg : &s->hamming.output) = value;
    return ND_OK;
}

enum nd_status set_hamming_calibration(struct settings *s, const struct option *o,
                                       const char *value, struct nd_error *err)
{
    if (!*value)
        return nd_fail(err, ND_EINVAL, "--%s wants the name of a file", o->name);
    s->hamming.calibration = value;
    return ND_OK;
}

enum nd_status set_hamming_codec(struct settings *s, const struct option *o, const char *value,
                                 struct nd_error *err)
{
    static const enum nd_hamming_codec all[] = {ND_HAMMING_EF, ND_HAMMING_MANKU};

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(value, nd_hamming_codec_name(all[i])) == 0) {
            s->hamming.codec = all[i];
            return ND_OK;
        }
    return nd_fail(err, ND_EINVAL, "--%s: '%s' is neither ef nor manku", o->name, value);
}
