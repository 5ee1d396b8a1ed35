/* mail_guard.c - messages that would take GMime too far, told before it sees them */
#define _GNU_SOURCE
#include "input/mail.h"

#include <neardup/error.h>

#include "input/mail_boundaries.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>

/*
 * GMime reads the fields of addresses wherever a header may stand: groups of addresses by
 * recursion, which ends the stack, and empty ones in quadratic time.  It takes some 500 bytes for a
 * line of a header, 4,000 for a part, and 130 for a word of a field.
 */
enum {
    GROUPS_MAX = 1000,
    ADDRESSES_MAX = 20000,
    HEADER_LINES_MAX = 20000,
    PARTS_MAX = 5000,
    WORDS_MAX = 100000,
    FIELD_BYTES_MAX = 1 << 20
};

/* Of the field that the line stands in. */
struct field {
    bool has_addresses;
    size_t groups, addresses, words, bytes;
};

struct guard {
    struct field field;
    bool is_in_header;
    bool has_message; /* the header's part is a message, whose header follows */
    bool is_digest;   /* somewhere in it parts are messages without saying so */
    struct nd_boundaries boundaries;
    size_t header_lines, parts, words;
};

static bool begins(const char *line, size_t len, const char *word)
{
    return len >= strlen(word) && strncasecmp(line, word, strlen(word)) == 0;
}

static bool has_addresses(const char *line, size_t len)
{
    static const char *const name[] = {"from", "sender", "reply-to", "to", "cc", "bcc"};

    for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
        size_t n = strlen(name[i]);

        if (len <= n || strncasecmp(line, name[i], n) != 0)
            continue;
        while (n < len && (line[n] == ' ' || line[n] == '\t'))
            n++;
        if (n < len && line[n] == ':')
            return true;
    }
    return false;
}

static size_t count(const char *line, size_t len, char c)
{
    size_t n = 0;

    for (const char *p = line, *end = line + len; (p = memchr(p, c, (size_t)(end - p))); p++)
        n++;
    return n;
}

static size_t count_words(const char *line, size_t len)
{
    bool in_word = false;
    size_t n = 0;

    for (size_t i = 0; i < len; i++) {
        bool is_white = line[i] == ' ' || line[i] == '\t' || line[i] == '\r' || line[i] == '\n';

        n += !is_white && !in_word;
        in_word = !is_white;
    }
    return n;
}

static void take_header_line(struct guard *g, const char *line, size_t len)
{
    size_t words = count_words(line, len);

    g->header_lines++;
    g->field.words += words;
    g->words += words;
    g->field.bytes += len;
    for (size_t i = 0; i < len; i++) {
        char c = line[i];

        if (c != 'm' && c != 'M' && c != 'b' && c != 'B' && c != 'd' && c != 'D')
            continue;
        /* Comments and folds may stand between the words: so this takes too much rather than too
         * little, but not each Message-ID. */
        if (begins(line + i, len - i, "message") && (i + 7 == len || line[i + 7] != '-'))
            g->has_message = true;
        else if (begins(line + i, len - i, "digest"))
            g->is_digest = true;
        else if (begins(line + i, len - i, "boundary"))
            nd_boundaries_declare(&g->boundaries, line + i + 8, len - i - 8);
    }
}

static bool is_blank(const char *line, size_t len)
{
    return *line == '\n' || (len == 2 && line[0] == '\r');
}

static void take_line(struct guard *g, const char *line, size_t len)
{
    if (*line == '-' && nd_boundaries_have(&g->boundaries, line, len)) {
        g->parts++;
        g->is_in_header = true;
        g->has_message = g->is_digest;
        g->field = (struct field){.bytes = 0};
        return;
    }
    if (*line != ' ' && *line != '\t')
        g->field = (struct field){.has_addresses = has_addresses(line, len)};
    if (g->field.has_addresses) {
        g->field.groups += count(line, len, ':');
        g->field.addresses += count(line, len, ',');
    }
    if (!g->is_in_header)
        return;
    if (is_blank(line, len)) {
        g->is_in_header = g->has_message;
        g->has_message = false;
    } else {
        take_header_line(g, line, len);
    }
}

static const char *find_excess(const struct guard *g)
{
    if (g->field.groups > GROUPS_MAX)
        return "message has more than 1000 groups of addresses in a field";
    if (g->field.addresses > ADDRESSES_MAX)
        return "message has more than 20000 addresses in a field";
    if (g->header_lines > HEADER_LINES_MAX)
        return "message has more than 20000 lines in its headers";
    if (g->parts > PARTS_MAX)
        return "message has more than 5000 parts";
    if (g->field.words > WORDS_MAX)
        return "message has more than 100000 words in a field";
    if (g->field.bytes > FIELD_BYTES_MAX)
        return "message has a field of more than 1 MiB";
    return NULL;
}

/* Whether so many bytes can be had now: of addresses, that is, and of what the system promises. */
static bool can_have(size_t bytes)
{
    void *room = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (room == MAP_FAILED)
        return false;
    (void)munmap(room, bytes);
    return true;
}

size_t nd_mail_peak(size_t bytes, size_t header_lines, size_t parts, size_t words)
{
    return ((size_t)1 << 20) + 4 * bytes + 600 * header_lines + 4000 * parts + 200 * words;
}

int nd_mail_check(struct nd_view message, const char **reason)
{
    struct guard g = {.is_in_header = true};
    const char *excess = NULL;
    bool no_memory;

    for (size_t at = 0, len; at < message.len && !excess; at += len) {
        const char *line = message.data + at, *end = memchr(line, '\n', message.len - at);

        len = end ? (size_t)(end - line) + 1 : message.len - at;
        take_line(&g, line, len);
        excess = find_excess(&g);
    }
    no_memory = g.boundaries.no_memory;
    nd_boundaries_release(&g.boundaries);
    if (no_memory)
        return ND_ENOMEM;
    if (!excess && !can_have(nd_mail_peak(message.len, g.header_lines, g.parts, g.words)))
        excess = "message needs more memory than there is";
    *reason = excess;
    return excess == NULL;
}
