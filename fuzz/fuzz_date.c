/* fuzz_date.c - what is taken for a date is one, and the same one when it is written out again */
#define _GNU_SOURCE
#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "recipe/keep.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    int64_t microseconds = 77, again;
    time_t seconds;
    struct tm tm;
    char text[80];

    if (!nd_date_parse((struct nd_view){(const char *)data, len}, &microseconds)) {
        assert(microseconds == 77);
        return 0;
    }
    seconds = (time_t)(microseconds / 1000000 - (microseconds % 1000000 < 0));
    assert(gmtime_r(&seconds, &tm));
    if (tm.tm_year + 1900 < 0 || tm.tm_year + 1900 > 9999)
        return 0;
    snprintf(text, sizeof text, "%04d-%02d-%02dT%02d:%02d:%02d.%06dZ", tm.tm_year + 1900,
             tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec,
             (int)(microseconds - (int64_t)seconds * 1000000));
    assert(nd_date_parse((struct nd_view){text, strlen(text)}, &again));
    assert(again == microseconds);
    return 0;
}
