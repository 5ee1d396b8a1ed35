/* size.c - reading a number of bytes, independent of the locale */
#include <neardup/size.h>

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/number/number.h"
#include "base/system/c_functions.h"

static const double MOST = 1e18;

/* The power of 1024 that a unit stands for: 0 for "" and "B", 1 for "k", "kB" and "KiB"; -1: none. */
static int power_of(const char *unit)
{
    static const char letters[] = "KMGT";
    const char *letter = NULL;

    if (nd_compare_caseless(unit, "B") == 0 || !*unit)
        return 0;
    letter = strchr(letters, *unit >= 'a' ? *unit - 'a' + 'A' : *unit);
    if (!letter || (unit[1] && nd_compare_caseless(unit + 1, "B") != 0 &&
                    nd_compare_caseless(unit + 1, "iB") != 0))
        return -1;
    return (int)(letter - letters) + 1;
}

enum nd_status nd_size_parse(const char *text, uint64_t *bytes, struct nd_error *err)
{
    const bool is_decimal = *text >= '0' && *text <= '9' && text[1] != 'x' && text[1] != 'X';
    char *end = NULL;
    double n = is_decimal ? nd_number_read(text, &end) : -1;
    int power = end ? power_of(end) : -1;

    if (power >= 0)
        n = ldexp(n, 10 * power);
    if (power < 0 || !(n >= 0) || n > MOST)
        return nd_fail(err, ND_EINVAL, "'%.40s' is not a number of bytes such as 500M or 2G", text);
    *bytes = (uint64_t)n;
    return ND_OK;
}
