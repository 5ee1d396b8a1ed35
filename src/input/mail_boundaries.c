/* mail_boundaries.c - the boundaries that a message declares, and the lines that are such */
#include "input/mail_boundaries.h"

#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

static uint64_t hash_of(const char *text, size_t len)
{
    uint64_t hash = nd_hash_bytes(text, len);

    return hash ? hash : 1;
}

static size_t place_of(const struct nd_boundaries *b, uint64_t hash)
{
    size_t i = (size_t)hash & (b->capacity - 1);

    while (b->hash[i] && b->hash[i] != hash)
        i = (i + 1) & (b->capacity - 1);
    return i;
}

static bool grow(struct nd_boundaries *b)
{
    struct nd_boundaries more = *b;

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

static void add(struct nd_boundaries *b, uint64_t hash)
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

static bool is_white(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* The value behind its '=', in quotes or as a word. */
static size_t value_len(const char *value, size_t len, bool is_quoted)
{
    size_t n = 0;

    while (n < len && (is_quoted ? value[n] != '"' : value[n] != ';' && !is_white(value[n])))
        n++;
    return n;
}

/* Comments, escapes, continuations, encoded words, and lines that end before the value does. */
static bool is_odd(const char *value, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (value[i] == '\\' || value[i] == '(' || value[i] == '\n' ||
            (value[i] == '=' && i + 1 < len && value[i + 1] == '?'))
            return true;
    return len == 0;
}

void nd_boundaries_declare(struct nd_boundaries *b, const char *rest, size_t len)
{
    size_t at = 0, n;
    bool is_quoted;

    while (at < len && is_white(rest[at]))
        at++;
    if (at == len || rest[at] != '=') {
        b->has_odd |= at == len || rest[at] == '*' || rest[at] == '(';
        return;
    }
    for (at++; at < len && is_white(rest[at]); at++)
        ;
    is_quoted = at < len && rest[at] == '"';
    at += is_quoted;
    n = value_len(rest + at, len - at, is_quoted);
    if (is_odd(rest + at, n)) {
        b->has_odd = true;
        return;
    }
    while (n && is_white(rest[at + n - 1]))
        n--;
    add(b, hash_of(rest + at, n));
}

bool nd_boundaries_have(const struct nd_boundaries *b, const char *line, size_t len)
{
    if (len < 3 || line[0] != '-' || line[1] != '-' || (!b->count && !b->has_odd))
        return false;
    if (b->has_odd)
        return true;
    line += 2;
    len -= 2;
    while (len && is_white(line[len - 1]))
        len--;
    if (b->hash[place_of(b, hash_of(line, len))])
        return true;
    return len > 2 && line[len - 1] == '-' && line[len - 2] == '-' &&
           b->hash[place_of(b, hash_of(line, len - 2))];
}

void nd_boundaries_release(struct nd_boundaries *b)
{
    free(b->hash);
    *b = (struct nd_boundaries){.count = 0};
}
