/* mail_guard.c - messages on which GMime would spend too much, refused before it sees them */
#include <neardup/error.h>

#include "base/hash.h"
#include "base/system/c_functions.h"
#include "base/system/pages.h"
#include "input/formats/lines.h"
#include "input/formats/mail.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* ---- The boundaries that a message declares, and the lines that are such ---- */

/*
 * A part of a message costs GMime 4,000 bytes, so parts must be counted before GMime sees them.  A
 * part begins at a line "--boundary", and any header may declare a boundary.  The guard does not
 * follow the nesting: it keeps a hash of every boundary that was declared so far and counts each
 * line that is one of them, wherever it stands.  So it may count a part that GMime does not see,
 * never the other way round.  Where a declaration can be read in several ways (comments, escapes,
 * RFC 2231 continuations), every line that begins with "--" counts from then on (has_odd).
 *
 * Start from zeroes.
 */
struct boundaries {
    uint64_t *hash; /* open addressing; 0: a free slot */
    size_t count, capacity;
    bool has_odd; /* a declaration is ambiguous: any such line may be a boundary */
    bool no_memory;
};

static uint64_t hash_of(const char *text, size_t len)
{
    uint64_t hash = nd_hash_bytes(text, len);

    return hash ? hash : 1;
}

static size_t place_of(const struct boundaries *b, uint64_t hash)
{
    size_t i = (size_t)hash & (b->capacity - 1);

    while (b->hash[i] && b->hash[i] != hash)
        i = (i + 1) & (b->capacity - 1);
    return i;
}

static bool grow(struct boundaries *b)
{
    struct boundaries more = *b;

    more.capacity = b->capacity ? 2 * b->capacity : 16;
    more.hash = calloc(more.capacity, sizeof *more.hash);
    if (!more.hash)
        return false;
    for (size_t i = 0; i < b->capacity; i++)
        if (b->hash[i])
            more.hash[place_of(&more, b->hash[i])] = b->hash[i];
    free(b->hash);
    *b = more;
    return true;
}

static void add(struct boundaries *b, uint64_t hash)
{
    size_t place;

    if (2 * (b->count + 1) > b->capacity && !grow(b)) {
        b->no_memory = true;
        return;
    }
    place = place_of(b, hash);
    b->count += b->hash[place] == 0;
    b->hash[place] = hash;
}

/* The value after the '=', in quotes or as a word. */
static size_t value_len(const char *value, size_t len, bool is_quoted)
{
    size_t n = 0;

    while (n < len && (is_quoted ? value[n] != '"' : value[n] != ';' && !nd_is_white(value[n])))
        n++;
    return n;
}

/*
 * Whether there are comments, escapes, continuations, encoded words, or a line that ends before the
 * value does.
 */
static bool is_odd(const char *value, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (value[i] == '\\' || value[i] == '(' || value[i] == '\n' ||
            (value[i] == '=' && i + 1 < len && value[i + 1] == '?'))
            return true;
    return len == 0;
}

/* Note what follows the word "boundary" in a header line. */
static void declare_boundary(struct boundaries *b, const char *rest, size_t len)
{
    size_t at = 0, n;
    bool is_quoted;

    while (at < len && nd_is_white(rest[at]))
        at++;
    if (at == len || rest[at] != '=') {
        b->has_odd |= at == len || rest[at] == '*' || rest[at] == '(';
        return;
    }
    for (at++; at < len && nd_is_white(rest[at]); at++)
        ;
    is_quoted = at < len && rest[at] == '"';
    at += is_quoted;
    n = value_len(rest + at, len - at, is_quoted);
    if (is_odd(rest + at, n)) {
        b->has_odd = true;
        return;
    }
    while (n && nd_is_white(rest[at + n - 1]))
        n--;
    add(b, hash_of(rest + at, n));
}

/* Whether a line that begins with '-' is a boundary, or may be one. */
static bool is_boundary(const struct boundaries *b, const char *line, size_t len)
{
    if (len < 3 || line[0] != '-' || line[1] != '-' || (!b->count && !b->has_odd))
        return false;
    if (b->has_odd)
        return true;
    line += 2;
    len -= 2;
    while (len && nd_is_white(line[len - 1]))
        len--;
    if (b->hash[place_of(b, hash_of(line, len))])
        return true;
    return len > 2 && line[len - 1] == '-' && line[len - 2] == '-' &&
           b->hash[place_of(b, hash_of(line, len - 2))];
}

static void release_boundaries(struct boundaries *b)
{
    free(b->hash);
    *b = (struct boundaries){.count = 0};
}

/* ---- Messages that would take GMime too far, told before it sees them ---- */

/*
 * GMime parses address fields wherever a header may be: groups of addresses by recursion, which can
 * overflow the stack, and empty groups in quadratic time. It takes about 500 bytes for a header
 * line, 4,000 for a part, and 130 for a word of a field.
 */
enum {
    GROUPS_MAX = 1000,
    ADDRESSES_MAX = 20000,
    HEADER_LINES_MAX = 20000,
    PARTS_MAX = 5000,
    WORDS_MAX = 100000,
    FIELD_BYTES_MAX = 1 << 20
};

/* State of the header field that the line belongs to. */
struct mail_field {
    bool has_addresses;
    size_t groups, addresses, words, bytes;
};

struct guard {
    struct mail_field field;
    bool is_in_header;
    bool has_message; /* the part is a message, whose header follows */
    bool is_digest;   /* parts may be messages without declaring it */
    struct boundaries boundaries;
    size_t header_lines, parts, words;
};

static bool begins(const char *line, size_t len, const char *word)
{
    return len >= strlen(word) && nd_compare_caseless_n(line, word, strlen(word)) == 0;
}

static bool has_addresses(const char *line, size_t len)
{
    static const char *const name[] = {"from", "sender", "reply-to", "to", "cc", "bcc"};

    for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
        size_t n = strlen(name[i]);

        if (len <= n || nd_compare_caseless_n(line, name[i], n) != 0)
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
        bool is_of_word = !nd_is_white(line[i]);

        n += is_of_word && !in_word;
        in_word = is_of_word;
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
        /*
         * Comments and folds may be between the words, so this matches too much rather than too
         * little, but not every Message-ID.
         */
        if (begins(line + i, len - i, "message") && (i + 7 == len || line[i + 7] != '-'))
            g->has_message = true;
        else if (begins(line + i, len - i, "digest"))
            g->is_digest = true;
        else if (begins(line + i, len - i, "boundary"))
            declare_boundary(&g->boundaries, line + i + 8, len - i - 8);
    }
}

static bool is_blank(const char *line, size_t len)
{
    return *line == '\n' || (len == 2 && line[0] == '\r');
}

static void take_line(struct guard *g, const char *line, size_t len)
{
    if (*line == '-' && is_boundary(&g->boundaries, line, len)) {
        g->parts++;
        g->is_in_header = true;
        g->has_message = g->is_digest;
        g->field = (struct mail_field){.bytes = 0};
        return;
    }
    if (*line != ' ' && *line != '\t')
        g->field = (struct mail_field){.has_addresses = has_addresses(line, len)};
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

/* Whether this much memory is available now: address space, and what the system commits. */
static bool can_have(size_t bytes)
{
    void *scratch = nd_pages_alloc(bytes);

    if (!scratch)
        return false;
    nd_pages_free(scratch, bytes);
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
    release_boundaries(&g.boundaries);
    if (no_memory)
        return ND_ENOMEM;
    if (!excess && !can_have(nd_mail_peak(message.len, g.header_lines, g.parts, g.words)))
        excess = "message needs more memory than is available";
    *reason = excess;
    return excess == NULL;
}
