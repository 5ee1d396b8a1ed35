/* page_blocks.c - the blocks of a page's text, and which of them are boilerplate */

/*
 * The densitometric classifier of Kohlschütter, Fankhauser, Nejdl, "Boilerplate Detection using
 * Shallow Text Features" (WSDM 2010, §4, algorithm 1): a decision tree over the link density of a
 * block and of the one before it, and the text density of these and of the next. Both densities are
 * ratios of counts, and compared as such. docs/format/boilerplate.md has the whole rule, and what
 * it adds to the paper.
 */
#include "input/formats/page_blocks.h"

#include <stdint.h>
#include <stdlib.h>

enum {
    COLUMNS = 80,
    PIECE_OF_WIDE = 3, /* characters without spaces between words that count as a word */
    LEAST_WORDS = 20,  /* that a page must have left */
};

void nd_page_blocks_clear(struct nd_page_blocks *b)
{
    b->n = b->n_linked = 0;
    b->is_open = b->is_in_link = false;
}

void nd_page_blocks_release(struct nd_page_blocks *b)
{
    free(b->block);
    free(b->linked);
    *b = (struct nd_page_blocks){.n = 0};
}

void nd_page_blocks_edge(struct nd_page_blocks *b)
{
    b->is_open = false;
}

void nd_page_blocks_link(struct nd_page_blocks *b, bool is_in_link)
{
    b->is_in_link = is_in_link;
}

static bool add_linked(struct nd_page_blocks *b, size_t from, size_t to)
{
    if (!ND_RESERVE(b->linked, &b->linked_capacity, b->n_linked + 1))
        return false;
    b->linked[b->n_linked++] = (struct nd_page_linked){from, to};
    return true;
}

bool nd_page_blocks_add(struct nd_page_blocks *b, size_t from, size_t to, bool is_pre)
{
    if (!b->is_open) {
        if (!ND_RESERVE(b->block, &b->capacity, b->n + 1))
            return false;
        b->block[b->n++] = (struct nd_page_block){.from = from, .is_pre = is_pre};
        b->is_open = true;
    }
    b->block[b->n - 1].to = to;
    return !b->is_in_link || add_linked(b, from, to);
}

/* ---- Words and lines ---- */

struct character {
    size_t len;
    bool is_white, is_wide, is_of_word;
};

static bool is_in_range(uint32_t c, uint32_t first, uint32_t last)
{
    return c >= first && c <= last;
}

/* Scripts without spaces between words, as those of docs/format/text.md. */
static bool is_wide(uint32_t c)
{
    return c >= 0x0E00 && (is_in_range(c, 0x0E00, 0x0EFF) || is_in_range(c, 0x1000, 0x109F) ||
                           is_in_range(c, 0x1780, 0x17FF) || is_in_range(c, 0x3040, 0x30FF) ||
                           is_in_range(c, 0x31F0, 0x31FF) || is_in_range(c, 0x3400, 0x4DBF) ||
                           is_in_range(c, 0x4E00, 0x9FFF) || is_in_range(c, 0xF900, 0xFAFF) ||
                           is_in_range(c, 0x20000, 0x323AF));
}

/* Read a character of valid UTF-8. */
static struct character read_character(const char *at)
{
    const unsigned char *s = (const unsigned char *)at;
    uint32_t c = s[0];
    size_t len = c < 0x80 ? 1 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : 4;

    if (len == 1)
        return (struct character){1, c == ' ' || c == '\n', false,
                                  (c >= '0' && c <= '9') ||
                                      ((c | 0x20) >= 'a' && (c | 0x20) <= 'z')};
    c &= 0x7Fu >> len;
    for (size_t i = 1; i < len; i++)
        c = c << 6 | (s[i] & 0x3Fu);
    if (c == 0xA0 || c == 0x3000)
        return (struct character){len, true, false, false};
    return (struct character){len, false, is_wide(c), true};
}

/* The lines of a block as far as it was read. */
struct filling {
    size_t column, words, lines, full_words, line_words;
};

static void add_piece(struct filling *f, size_t width, bool is_spaced, bool is_word)
{
    size_t need = width + (is_spaced && f->column > 0);

    if (f->column > 0 && f->column + need > COLUMNS) {
        f->lines++;
        f->full_words += f->line_words;
        f->line_words = f->column = 0;
        need = width;
    }
    f->column += need;
    f->line_words += is_word;
    f->words += is_word;
}

/*
 * Read a piece: a run of characters up to white space, or up to a character of the other kind (wide
 * or not); of wide ones three at most.  Returns where it ends.
 */
static const char *read_piece(const char *at, const char *end, size_t *width, bool *is_word)
{
    struct character first = read_character(at), c = first;
    size_t n = 0;

    *is_word = false;
    while (!c.is_white && c.is_wide == first.is_wide && !(c.is_wide && n == PIECE_OF_WIDE)) {
        *is_word = *is_word || c.is_of_word;
        n++;
        at += c.len;
        if (at == end)
            break;
        c = read_character(at);
    }
    *width = first.is_wide ? 2 * n : n;
    return at;
}

/* Count the words of a block; `linked` goes on from block to block. */
static void count(struct nd_page_block *block, const char *text,
                  const struct nd_page_linked **linked, const struct nd_page_linked *linked_end)
{
    const char *at = text + block->from, *end = text + block->to;
    struct filling f = {.column = 0};
    bool is_spaced = false;

    block->linked = 0;
    while (at < end) {
        struct character c = read_character(at);
        size_t place = (size_t)(at - text), width;
        bool is_word;

        if (c.is_white) {
            is_spaced = true;
            at += c.len;
            continue;
        }
        at = read_piece(at, end, &width, &is_word);
        add_piece(&f, width, is_spaced, is_word);
        is_spaced = false;
        while (*linked < linked_end && (*linked)->to <= place)
            ++*linked;
        block->linked += is_word && *linked < linked_end && (*linked)->from <= place;
    }
    block->words = f.words;
    block->lines = f.lines ? f.lines : 1;
    block->full_words = f.lines ? f.full_words : f.words;
}

/* ---- Decisions ---- */

static bool is_linked(const struct nd_page_block *b)
{
    return 3 * b->linked > b->words;
}

/* Whether the text density of a block is at most `most`. */
static bool is_sparse(const struct nd_page_block *b, size_t most)
{
    return b->full_words <= most * b->lines;
}

/* Algorithm 1 of Kohlschütter 2010. */
static bool is_content(const struct nd_page_block *before, const struct nd_page_block *b,
                       const struct nd_page_block *next)
{
    if (is_linked(b))
        return false;
    if (9 * before->linked > 5 * before->words)
        return !is_sparse(next, 11);
    if (!is_sparse(b, 9))
        return !is_sparse(next, 0);
    return !is_sparse(next, 10) || !is_sparse(before, 4);
}

static bool counts(const struct nd_page_block *b)
{
    return b->words > 0 || b->is_pre;
}

/* Keep the blocks that the tree keeps; return how many words they have. */
static size_t keep_content(struct nd_page_blocks *b)
{
    static const struct nd_page_block NONE = {.lines = 1};
    const struct nd_page_block *before = &NONE;
    size_t words = 0;

    for (size_t i = 0, next; i < b->n; i = next) {
        struct nd_page_block *block = &b->block[i];

        for (next = i + 1; next < b->n && !counts(&b->block[next]); next++)
            b->block[next].is_kept = false;
        block->is_kept =
            counts(block) &&
            (block->is_pre || is_content(before, block, next < b->n ? &b->block[next] : &NONE));
        words += block->is_kept ? block->words : 0;
        before = counts(block) ? block : before;
    }
    return words;
}

/* Keep the blocks that are not mostly links; return how many words they have. */
static size_t keep_unlinked(struct nd_page_blocks *b)
{
    size_t words = 0;

    for (size_t i = 0; i < b->n; i++) {
        struct nd_page_block *block = &b->block[i];

        block->is_kept = block->is_pre || (block->words > 0 && !is_linked(block));
        words += block->is_kept ? block->words : 0;
    }
    return words;
}

bool nd_page_blocks_decide(struct nd_page_blocks *b, const char *text)
{
    const struct nd_page_linked *linked = b->linked, *end = b->linked + b->n_linked;

    for (size_t i = 0; i < b->n; i++)
        count(&b->block[i], text, &linked, end);
    return keep_content(b) >= LEAST_WORDS || keep_unlinked(b) >= LEAST_WORDS;
}
