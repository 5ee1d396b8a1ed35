/* fuzz_duration.c - what is taken for a time that passes is one, and as long as it says */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <neardup/duration.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

/* Return the seconds of an accepted text, whose digits stand for less than 2^32; 0: it is no time. */
static uint64_t slowly(const char *text)
{
    static const char *const units[] = {"", "s", "m", "h", "d", "w"};
    static const uint64_t seconds[] = {1, 1, 60, 3600, 86400, 604800};
    size_t digits = strspn(text, "0123456789");

    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (digits && strcmp(text + digits, units[i]) == 0)
            return strtoull(text, NULL, 10) * seconds[i];
    return 0;
}

static void require(bool holds)
{
    if (!holds)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    char *text = malloc(len + 1), written[32];
    uint64_t seconds = UINT64_MAX, again;
    struct nd_error err;

    if (!text)
        return 0;
    if (len)
        memcpy(text, data, len);
    text[len] = '\0';
    if (nd_duration_parse((const char *)data, len, &seconds, &err) != ND_OK) {
        require(seconds == UINT64_MAX && err.message[0]);
    } else {
        require(strlen(text) == len && seconds == slowly(text));
        require(seconds >= 1 && seconds <= UINT32_MAX);
        snprintf(written, sizeof written, "%llus", (unsigned long long)seconds);
        require(nd_duration_parse(written, strlen(written), &again, NULL) == ND_OK);
        require(again == seconds);
    }
    free(text);
    return 0;
}
