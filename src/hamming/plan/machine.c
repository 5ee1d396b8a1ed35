/* machine.c - the figures that predictions rest on: defaults, checks; as text and back
 *
 * The text has whole picoseconds (docs/format/machine.md).  memory/calibrate.c measures the
 * figures.
 */
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <neardup/hamming.h>

#include "hamming/plan/plan_checks.h"

#define HEAD "neardup-machine 1"

static const struct field {
    const char *name;
    size_t offset;
    unsigned n;
} fields[] = {
    {"line_ps", offsetof(struct nd_hamming_machine, line_ns), ND_HAMMING_SIZES},
    {"compare_ps", offsetof(struct nd_hamming_machine, compare_ns), 1},
    {"fresh_ps", offsetof(struct nd_hamming_machine, fresh_ns), 1},
    {"table_ps", offsetof(struct nd_hamming_machine, table_ns), 1},
    {"bucket_ps", offsetof(struct nd_hamming_machine, bucket_ns), 1},
    {"table_add_ps", offsetof(struct nd_hamming_machine, table_add_ns), 1},
    {"half_add_ps", offsetof(struct nd_hamming_machine, half_add_ns), 1},
};
enum { FIELDS = sizeof fields / sizeof *fields, LINE = 128 };
#define PS_MAX 1000000000

struct nd_hamming_machine nd_hamming_machine_default(void)
{
    return (struct nd_hamming_machine){
        .line_ns = {1.3, 2.5, 4.5, 7},
        .compare_ns = 0.13,
        .fresh_ns = 10,
        .table_ns = 11,
        .bucket_ns = 4,
        .table_add_ns = 30,
        .half_add_ns = 20,
    };
}

enum nd_status nd_hamming_machine_check(const struct nd_hamming_machine *machine,
                                        struct nd_error *err)
{
    if (!machine)
        return ND_OK;
    for (size_t f = 0; f < FIELDS; f++) {
        const double *value =
            (const double *)(const void *)((const char *)machine + fields[f].offset);

        for (unsigned i = 0; i < fields[f].n; i++)
            if (!isfinite(value[i]) || value[i] <= 0)
                return nd_fail(err, ND_EINVAL, "every figure of a machine must be above 0");
    }
    return ND_OK;
}

size_t nd_hamming_machine_print(const struct nd_hamming_machine *machine,
                                char text[ND_HAMMING_MACHINE_TEXT])
{
    int len = snprintf(text, ND_HAMMING_MACHINE_TEXT, HEAD "\n");

    for (size_t f = 0; f < FIELDS; f++) {
        const double *value =
            (const double *)(const void *)((const char *)machine + fields[f].offset);

        len += snprintf(text + len, ND_HAMMING_MACHINE_TEXT - (size_t)len, "%s", fields[f].name);
        for (unsigned i = 0; i < fields[f].n; i++)
            len += snprintf(text + len, ND_HAMMING_MACHINE_TEXT - (size_t)len, " %.0f",
                            value[i] * 1000);
        len += snprintf(text + len, ND_HAMMING_MACHINE_TEXT - (size_t)len, "\n");
    }
    return (size_t)len;
}

/* One line "name value...", into the field of that name: its number, or -1. */
static int read_field(char *line, struct nd_hamming_machine *machine)
{
    char *name = line, *at = line + strcspn(line, " ");
    double *value;
    int f = 0;

    if (!*at)
        return -1;
    *at++ = 0;
    while (f < FIELDS && strcmp(fields[f].name, name) != 0)
        f++;
    if (f == FIELDS)
        return -1;
    value = (double *)(void *)((char *)machine + fields[f].offset);
    for (unsigned i = 0; i < fields[f].n; i++) {
        char *end;
        unsigned long long ps = strtoull(at, &end, 10);

        if (*at < '0' || *at > '9' || ps == 0 || ps > PS_MAX ||
            *end != (i + 1 < fields[f].n ? ' ' : 0))
            return -1;
        value[i] = (double)ps / 1000;
        at = end + 1;
    }
    return f;
}

enum nd_status nd_hamming_machine_parse(const char *text, size_t len,
                                        struct nd_hamming_machine *machine, struct nd_error *err)
{
    struct nd_hamming_machine read;
    unsigned number = 0, seen = 0;
    size_t at = 0;

    memset(&read, 0, sizeof read);
    while (at < len) {
        const char *end = memchr(text + at, '\n', len - at);
        size_t n = end ? (size_t)(end - text) - at : len - at;
        char line[LINE];
        int field = -1;

        number++;
        if (n < LINE && !memchr(text + at, 0, n)) {
            memcpy(line, text + at, n);
            line[n] = 0;
            if (number == 1 && strcmp(line, HEAD) != 0)
                return nd_fail(err, ND_EINVAL, "line 1 is not '" HEAD "'");
            field = number == 1 ? FIELDS : read_field(line, &read);
        }
        if (field < 0 || (seen >> field & 1))
            return nd_fail(err, ND_EINVAL, "line %u: not a figure of a machine, or given twice",
                           number);
        seen |= 1u << field;
        at += n + 1;
    }
    if (seen != (2u << FIELDS) - 1)
        return nd_fail(err, ND_EINVAL, "a figure of the machine is missing");
    *machine = read;
    return ND_OK;
}
