/* text_units.c - the parts of a text that may repeat: lines, paragraphs, sentences, passages */
#include "uses/repeats/text_units.h"

#include <neardup/text.h>

#include <stdbool.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/memory.h"
#include "feature/word/sentences.h"
#include "input/formats/lines.h"
#include "text/places.h"

enum { SENTENCES = 3 };

/* A line, paragraph or sentence that has tokens. */
struct text_unit {
    uint64_t hash[2];
    uint64_t tokens;
    uint32_t from, to;
};

struct nd_text_units {
    const struct nd_repeats_params *params;
    struct nd_tokeniser *tokeniser;
    uint64_t *token; /* hashes, of a unit or of the text */
    size_t n_tokens, token_capacity;
    struct text_unit *unit;
    size_t n_units, unit_capacity;
    uint64_t *run; /* hashes of the runs of tokens that may be anchors */
    size_t run_capacity;
    size_t *anchor; /* of each passage, which of them */
    size_t n_anchors, anchor_capacity;
};

struct nd_repeats_params nd_repeats_params_default(void)
{
    return (struct nd_repeats_params){.cut = ND_REPEATS_LINES, .occurrences = 2};
}

const char *nd_repeats_cut_name(enum nd_repeats_cut cut)
{
    static const char *const names[] = {"lines", "paragraphs", "sentences", "passages"};

    return names[cut];
}

enum nd_status nd_text_units_check(struct nd_repeats_params *p, struct nd_error *err)
{
    if (!p->tokens)
        p->tokens = p->cut == ND_REPEATS_PASSAGES ? ND_REPEATS_PASSAGE_TOKENS : 1;
    if (p->tokens > ND_REPEATS_TOKENS_MAX)
        return nd_fail(err, ND_EINVAL, "tokens: must be at most %d", ND_REPEATS_TOKENS_MAX);
    if (p->occurrences < 2 || p->occurrences > ND_REPEATS_OCCURRENCES_MAX)
        return nd_fail(err, ND_EINVAL, "occurrences: must be from 2 to %d",
                       ND_REPEATS_OCCURRENCES_MAX);
    if (p->near.p && p->cut == ND_REPEATS_PASSAGES)
        return nd_fail(
            err, ND_EINVAL,
            "near: passages of so many words are cut where they are equal; near ones are "
            "lines, paragraphs or sentences");
    if (p->near.p > p->near.q)
        return nd_fail(err, ND_EINVAL, "near: must be at most 1");
    return ND_OK;
}

struct nd_text_units *nd_text_units_new(const struct nd_repeats_params *params)
{
    struct nd_text_units *u = calloc(1, sizeof *u);

    if (!u)
        return NULL;
    u->params = params;
    u->tokeniser = nd_tokeniser_new();
    if (u->tokeniser)
        return u;
    free(u);
    return NULL;
}

void nd_text_units_free(struct nd_text_units *u)
{
    if (!u)
        return;
    nd_tokeniser_free(u->tokeniser);
    free(u->token);
    free(u->unit);
    free(u->run);
    free(u->anchor);
    free(u);
}

/* Hash the tokens of a text into u->token.  False: out of memory. */
static bool hash_tokens(struct nd_text_units *u, const char *text, size_t len)
{
    const uint64_t *hash;
    size_t count;
    int got;

    u->n_tokens = 0;
    nd_tokeniser_start(u->tokeniser, text, len);
    while ((got = nd_tokeniser_next(u->tokeniser, &hash, &count)) == 1) {
        if (!ND_RESERVE(u->token, &u->token_capacity, u->n_tokens + count))
            return false;
        for (size_t i = 0; i < count; i++)
            u->token[u->n_tokens++] = hash[i];
    }
    return got == 0;
}

int64_t nd_text_units_count(struct nd_text_units *u, struct nd_view text)
{
    return hash_tokens(u, text.data, text.len) ? (int64_t)u->n_tokens : ND_ENOMEM;
}

static bool add_window(struct nd_window_list *list, const uint64_t hash[2], size_t unit,
                       uint64_t from, uint64_t to)
{
    if (!ND_RESERVE(list->item, &list->capacity, list->n + 1))
        return false;
    list->item[list->n++] = (struct nd_text_window){
        {hash[0], hash[1]}, (uint32_t)unit, (uint32_t)from, (uint32_t)to, 0};
    return true;
}

/* ---- Lines, paragraphs and sentences --------------------------------------------------------- */

static struct nd_view rest_of(struct nd_view text, size_t from)
{
    return nd_view_from(text, from);
}

/* The end of the paragraph that begins at `from`: its lines, and the blank ones that follow. */
static size_t paragraph_end(struct nd_view text, size_t from)
{
    bool has_blank = false;

    while (from < text.len) {
        const struct nd_view rest = rest_of(text, from), line = {rest.data, nd_line_len(rest)};

        if (has_blank && !nd_is_blank(line))
            break;
        has_blank = nd_is_blank(line);
        from += line.len;
    }
    return from;
}

static size_t unit_end(const struct nd_text_units *u, struct nd_view text, size_t from)
{
    switch (u->params->cut) {
    case ND_REPEATS_LINES: return from + nd_line_len(rest_of(text, from));
    case ND_REPEATS_PARAGRAPHS: return paragraph_end(text, from);
    default: return nd_sentence_end(text.data, text.len, from);
    }
}

/* The start of the first paragraph; of other units, of the text. */
static size_t first_start(const struct nd_text_units *u, struct nd_view text)
{
    size_t from = 0;

    while (u->params->cut == ND_REPEATS_PARAGRAPHS && from < text.len) {
        const struct nd_view rest = rest_of(text, from), line = {rest.data, nd_line_len(rest)};

        if (!nd_is_blank(line))
            break;
        from += line.len;
    }
    return from;
}

/* Cut the text into units.  Each can be tokenised by itself: nothing composes across a line end or
 * the end of a sentence. */
static bool cut_units(struct nd_text_units *u, struct nd_view text)
{
    u->n_units = 0;
    for (size_t from = first_start(u, text), to; from < text.len; from = to) {
        struct text_unit *unit;

        to = unit_end(u, text, from);
        if (!hash_tokens(u, text.data + from, to - from) ||
            !ND_RESERVE(u->unit, &u->unit_capacity, u->n_units + 1))
            return false;
        if (!u->n_tokens)
            continue;
        unit = &u->unit[u->n_units++];
        unit->tokens = u->n_tokens;
        unit->from = (uint32_t)from;
        unit->to = (uint32_t)to;
        nd_hash_bytes_128(u->token, u->n_tokens * sizeof *u->token, &unit->hash[0], &unit->hash[1]);
    }
    return true;
}

size_t nd_text_units_width(const struct nd_repeats_params *params)
{
    return params->cut == ND_REPEATS_SENTENCES ? SENTENCES : 1;
}

bool nd_text_units_may_repeat(const struct nd_repeats_params *params,
                              const struct nd_text_window *unit)
{
    return nd_text_units_width(params) > 1 || unit->tokens >= params->tokens;
}

void nd_text_units_join(const struct nd_repeats_params *params, const uint64_t *number,
                        struct nd_window_list *list)
{
    const size_t width = nd_text_units_width(params);
    size_t n = 0;

    for (size_t i = 0; i + width <= list->n; i++) {
        const struct nd_text_window *first = &list->item[i];
        struct nd_text_window window = {
            .unit = (uint32_t)i, .from = first->from, .to = first[width - 1].to};

        for (size_t k = 0; k < width; k++)
            window.tokens += first[k].tokens;
        if (window.tokens < params->tokens)
            continue;
        nd_hash_bytes_128(number + i, width * sizeof *number, &window.hash[0], &window.hash[1]);
        list->item[n++] = window;
    }
    list->n = n;
}

bool nd_text_units_each(struct nd_text_units *u, struct nd_view text, struct nd_window_list *list)
{
    list->n = 0;
    if (!cut_units(u, text))
        return false;
    for (size_t i = 0; i < u->n_units; i++) {
        const struct text_unit *unit = &u->unit[i];

        if (!add_window(list, unit->hash, i, unit->from, unit->to))
            return false;
        list->item[i].tokens = (uint32_t)unit->tokens;
    }
    return true;
}

static bool list_units(struct nd_text_units *u, struct nd_window_list *list)
{
    const size_t width = nd_text_units_width(u->params);

    for (size_t i = 0; i + width <= u->n_units; i++) {
        const struct text_unit *first = &u->unit[i];
        uint64_t hash[2 * SENTENCES], tokens = 0;

        for (size_t k = 0; k < width; k++) {
            hash[2 * k] = first[k].hash[0];
            hash[2 * k + 1] = first[k].hash[1];
            tokens += first[k].tokens;
        }
        if (tokens < u->params->tokens)
            continue;
        if (width > 1)
            nd_hash_bytes_128(hash, sizeof hash, &hash[0], &hash[1]);
        if (!add_window(list, hash, i, first->from, first[width - 1].to))
            return false;
    }
    return true;
}

/* ---- Passages -------------------------------------------------------------------------------- */

static size_t run_tokens(const struct nd_repeats_params *params)
{
    return params->tokens > 1 ? params->tokens / 2 : 1;
}

double nd_text_units_anchor_density(const struct nd_repeats_params *params)
{
    return 2.0 / (double)(params->tokens - run_tokens(params) + 2);
}

/* Hash all runs of n tokens, by a polynomial whose value for the next run follows from the last. */
static bool hash_runs(struct nd_text_units *u, size_t n)
{
    const uint64_t base = UINT64_C(0x9E3779B97F4A7C15);
    uint64_t hash = 0, leaving = 1; /* leaving: the base to the power of n */

    if (!ND_RESERVE(u->run, &u->run_capacity, u->n_tokens))
        return false;
    for (size_t i = 0; i < n; i++)
        leaving *= base;
    for (size_t i = 0; i < u->n_tokens; i++) {
        hash = hash * base + u->token[i] - (i >= n ? u->token[i - n] * leaving : 0);
        if (i + 1 >= n)
            u->run[i + 1 - n] = nd_mix64(hash);
    }
    return true;
}

/* Find the anchor of each passage: the least of `width` runs, of equal ones the last. */
static bool find_anchors(struct nd_text_units *u)
{
    const size_t tokens = u->params->tokens, n = run_tokens(u->params), width = tokens - n + 1;
    size_t best = SIZE_MAX;

    u->n_anchors = u->n_tokens < tokens ? 0 : u->n_tokens - tokens + 1;
    if (!u->n_anchors)
        return true;
    if (!hash_runs(u, n) || !ND_RESERVE(u->anchor, &u->anchor_capacity, u->n_anchors))
        return false;
    for (size_t i = 0; i < u->n_anchors; i++) {
        const size_t last = i + width - 1;

        if (best == SIZE_MAX || best < i) {
            best = i;
            for (size_t k = i + 1; k <= last; k++)
                best = u->run[k] <= u->run[best] ? k : best;
        } else if (u->run[last] <= u->run[best]) {
            best = last;
        }
        u->anchor[i] = best;
    }
    return true;
}

bool nd_text_units_anchors(struct nd_text_units *u, struct nd_view text, struct nd_hashes *list)
{
    if (!hash_tokens(u, text.data, text.len) || !find_anchors(u))
        return false;
    for (size_t i = 0; i < u->n_anchors; i++) {
        if (i && u->anchor[i] == u->anchor[i - 1])
            continue;
        if (!ND_RESERVE(list->item, &list->capacity, list->n + 1))
            return false;
        list->item[list->n++] = u->run[u->anchor[i]];
    }
    return true;
}

/* Mark the passages by SIZE_MAX whose anchor came only once.  Whether any is left. */
static bool leave_out(struct nd_text_units *u, const struct nd_repeats *anchors)
{
    bool is_any = false, may = false;
    size_t last = SIZE_MAX;

    for (size_t i = 0; i < u->n_anchors; i++) {
        const size_t at = u->anchor[i];

        if (at != last)
            nd_repeats_find(anchors, &u->run[at], 1, &may);
        last = at;
        if (!may)
            u->anchor[i] = SIZE_MAX;
        is_any |= may;
    }
    return is_any;
}

static uint64_t end_of(const struct nd_token *place)
{
    return place->offset + place->len;
}

/* Check that no character gives tokens on both sides of a passage's start or end, as \u33C2 gives
 * "a" and "m".  Neighbours that share a character of theirs with another, as bigrams do, may. */
static bool is_whole(const struct nd_token *place, size_t n, size_t first, size_t last)
{
    if (first > 0 && end_of(&place[first - 1]) >= end_of(&place[first]))
        return false;
    return last + 1 == n || (place[last + 1].offset > place[last].offset &&
                             end_of(&place[last + 1]) > end_of(&place[last]));
}

static bool list_passages(struct nd_text_units *u, struct nd_view text,
                          const struct nd_repeats *anchors, struct nd_window_list *list)
{
    const size_t width = (size_t)u->params->tokens;
    struct nd_token *place;
    size_t n;
    bool done = true;

    if (!hash_tokens(u, text.data, text.len) || !find_anchors(u))
        return false;
    if (!u->n_anchors || (anchors && !leave_out(u, anchors)))
        return true;
    if (nd_token_places(text.data, text.len, &place, &n) != ND_OK)
        return false;
    for (size_t i = 0; done && i < u->n_anchors; i++) {
        const struct nd_token *last = &place[i + width - 1];
        uint64_t hash[2];

        if (u->anchor[i] == SIZE_MAX || !is_whole(place, n, i, i + width - 1))
            continue;
        nd_hash_bytes_128(&u->token[i], width * sizeof *u->token, &hash[0], &hash[1]);
        done = add_window(list, hash, i, place[i].offset, last->offset + last->len);
    }
    free(place);
    return done;
}

bool nd_text_units_list(struct nd_text_units *u, struct nd_view text,
                        const struct nd_repeats *anchors, struct nd_window_list *list)
{
    list->n = 0;
    if (u->params->cut == ND_REPEATS_PASSAGES)
        return list_passages(u, text, anchors, list);
    return cut_units(u, text) && list_units(u, list);
}
