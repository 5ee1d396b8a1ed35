/* number.c - numbers in text */
#define _GNU_SOURCE
#include "base/number.h"

#include <locale.h>
#include <stdlib.h>

double nd_number_read(const char *text, char **end)
{
    locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0); /* one that is always there */
    double number;

    if (!c)
        return strtod(text, end);
    number = strtod_l(text, end, c);
    freelocale(c);
    return number;
}
