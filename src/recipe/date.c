/* date.c - dates as RFC 3339, RFC 2822 and seconds since 1970 write them */
#include "recipe/keep.h"

#include "base/number/decimal.h"
#include "base/system/c_functions.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct date {
    int64_t year;
    int month, day, hour, minute, second, zone_minutes;
    int64_t microseconds;
};

/*
 * Days since 1970-01-01 in the Gregorian calendar: 365 for each year, plus the leap days. Years are
 * counted from March, so that the leap day is the last of its year.
 */
static int64_t days_from_1970(int64_t year, int month, int day)
{
    int64_t y = month > 2 ? year : year - 1;
    int64_t era = (y >= 0 ? y : y - 399) / 400, of_era = y - era * 400;
    int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;

    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

/*
 * The inverse.  An era has 400 years and 146097 days; before its d-th day (from 0) there were
 * d / 1460 - d / 36524 + d / 146096 leap days, without which the years in it have 365 days each.
 */
static void date_of_day(int64_t days, int64_t *year, int *month, int *day)
{
    int64_t d = days + 719468, era = (d >= 0 ? d : d - 146096) / 146097, of_era = d - era * 146097;
    int64_t of_400 = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    int64_t of_year = of_era - (365 * of_400 + of_400 / 4 - of_400 / 100);
    int from_march = (int)((5 * of_year + 2) / 153);

    *day = (int)(of_year - (153 * from_march + 2) / 5 + 1);
    *month = from_march + (from_march < 10 ? 3 : -9);
    *year = of_400 + era * 400 + (*month <= 2);
}

size_t nd_date_text(int64_t microseconds, char text[ND_DATE_TEXT])
{
    int64_t seconds = microseconds / 1000000 - (microseconds % 1000000 < 0), year;
    int64_t days = seconds / 86400 - (seconds % 86400 < 0), rest = seconds - days * 86400;
    int month, day;

    date_of_day(days, &year, &month, &day);
    return (size_t)snprintf(text, ND_DATE_TEXT,
                            "%04" PRId64 "-%02d-%02dT%02" PRId64 ":%02" PRId64 ":%02" PRId64 "Z",
                            year, month, day, rest / 3600, rest / 60 % 60, rest % 60);
}

static int days_in_month(int64_t year, int month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

    return days[month - 1] + (month == 2 && leap);
}

static bool to_microseconds(const struct date *d, int64_t *out)
{
    int64_t seconds;

    if (d->month < 1 || d->month > 12 || d->day < 1 || d->day > days_in_month(d->year, d->month) ||
        d->hour > 23 || d->minute > 59 || d->second > 60)
        return false;
    seconds = days_from_1970(d->year, d->month, d->day) * 86400 + d->hour * 3600 + d->minute * 60 +
              d->second - d->zone_minutes * 60;
    *out = seconds * 1000000 + d->microseconds;
    return true;
}

/* Read from `min` to `max` digits at *at. */
static bool digits(const char **at, int min, int max, int *value)
{
    int n = 0;

    for (*value = 0; n < max && **at >= '0' && **at <= '9'; n++, ++*at)
        *value = *value * 10 + (**at - '0');
    return n >= min;
}

static bool one_of(const char **at, const char *characters)
{
    if (!**at || !strchr(characters, **at))
        return false;
    ++*at;
    return true;
}

/* ".123456789": six digits count, the rest is skipped. */
static bool fraction(const char **at, int64_t *microseconds)
{
    int64_t unit = 100000;

    if (!one_of(at, ".,"))
        return true;
    if (**at < '0' || **at > '9')
        return false;
    for (; **at >= '0' && **at <= '9'; ++*at, unit /= 10)
        *microseconds += (**at - '0') * unit;
    return true;
}

/* "+01:00" or "+0100". */
static bool offset(const char **at, int *minutes)
{
    int sign = **at == '-' ? -1 : 1, hours, rest;

    if (!one_of(at, "+-") || !digits(at, 2, 2, &hours))
        return false;
    (void)one_of(at, ":");
    if (!digits(at, 2, 2, &rest))
        return false;
    *minutes = sign * (hours * 60 + rest);
    return true;
}

static bool parse_rfc3339(const char *at, struct date *d)
{
    int year;

    if (!digits(&at, 4, 4, &year) || !one_of(&at, "-") || !digits(&at, 2, 2, &d->month) ||
        !one_of(&at, "-") || !digits(&at, 2, 2, &d->day))
        return false;
    d->year = year;
    if (!*at)
        return true;
    if (!one_of(&at, "Tt ") || !digits(&at, 2, 2, &d->hour) || !one_of(&at, ":") ||
        !digits(&at, 2, 2, &d->minute))
        return false;
    if (one_of(&at, ":") && (!digits(&at, 2, 2, &d->second) || !fraction(&at, &d->microseconds)))
        return false;
    (void)one_of(&at, " ");
    if (!*at || (one_of(&at, "Zz") && !*at))
        return true;
    return offset(&at, &d->zone_minutes) && !*at;
}

static void spaces(const char **at)
{
    while (one_of(at, " \t"))
        ;
}

/* Find the name of a month or zone in a list of words of three letters. */
static int word_of(const char **at, const char *words)
{
    for (int i = 0; words[i * 4]; i++) {
        if (nd_compare_caseless_n(*at, words + (size_t)i * 4, 3) == 0) {
            *at += 3;
            return i;
        }
    }
    return -1;
}

/* The zone's name (RFC 2822, section 4.3); any other name means UTC. */
static bool named_zone(const char **at, int *minutes)
{
    int zone = word_of(at, "EST EDT CST CDT MST MDT PST PDT ");
    static const int hours[] = {-5, -4, -6, -5, -7, -6, -8, -7};

    if (zone >= 0)
        *minutes = hours[zone] * 60;
    while ((**at >= 'A' && **at <= 'Z') || (**at >= 'a' && **at <= 'z'))
        ++*at;
    return true;
}

/* "Fri, 21 Nov 1997 09:55:06 -0600 (comment)". */
static bool parse_rfc2822(const char *at, struct date *d)
{
    int year;
    const char *year_at;

    if (word_of(&at, "Mon Tue Wed Thu Fri Sat Sun ") >= 0) {
        spaces(&at);
        if (!one_of(&at, ","))
            return false;
    }
    spaces(&at);
    if (!digits(&at, 1, 2, &d->day))
        return false;
    spaces(&at);
    d->month = word_of(&at, "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec ") + 1;
    spaces(&at);
    year_at = at;
    if (!d->month || !digits(&at, 2, 4, &year))
        return false;
    d->year = year;
    if (at - year_at == 2) /* section 4.3: years 00 to 49 are in this century */
        d->year += year < 50 ? 2000 : 1900;
    else if (at - year_at == 3)
        d->year += 1900;
    spaces(&at);
    if (!digits(&at, 1, 2, &d->hour) || !one_of(&at, ":") || !digits(&at, 2, 2, &d->minute))
        return false;
    if (one_of(&at, ":") && !digits(&at, 2, 2, &d->second))
        return false;
    spaces(&at);
    if (*at == '+' || *at == '-' ? !offset(&at, &d->zone_minutes)
                                 : !named_zone(&at, &d->zone_minutes))
        return false;
    spaces(&at);
    return !*at || *at == '(';
}

static bool parse_seconds(struct nd_view value, int64_t *microseconds)
{
    const int64_t most = INT64_C(9000000000000000000);
    struct nd_decimal seconds;
    int64_t whole;

    if (!nd_decimal_read(value.data, value.len, &seconds) ||
        !nd_decimal_floor(&seconds, 6, &whole) || whole <= -most || whole >= most)
        return false;
    *microseconds = whole;
    return true;
}

bool nd_date_parse(struct nd_view value, int64_t *microseconds)
{
    char text[128];
    struct date d = {0};
    size_t from = 0, to = value.len;

    if (parse_seconds(value, microseconds))
        return true;
    while (from < to && strchr(" \t\r\n", value.data[from]))
        from++;
    while (to > from && strchr(" \t\r\n", value.data[to - 1]))
        to--;
    if (from == to || to - from >= sizeof text)
        return false;
    memcpy(text, value.data + from, to - from);
    text[to - from] = '\0';
    if (parse_rfc3339(text, &d))
        return to_microseconds(&d, microseconds);
    d = (struct date){0};
    return parse_rfc2822(text, &d) && to_microseconds(&d, microseconds);
}
