/* feature_counts.c - from terms to the distinct features of a document: form, select, count
 *
 *     terms ──count_*, one function a unit──→ occurrences, up to BATCH at a time
 *           ──add_occurrences: those that are selected──→ tally ──select_distinct──→ tally
 *
 * Which features are selected: Seshasai 2009, §2.3.1, after Hoad 2003; Manku 2007, §5.4.
 */
#include "feature/feature_counts.h"

#include "base/hash.h"
#include "base/utf8.h"
#include "feature/df_layout.h"
#include "feature/word/scan.h"
#include "simd/sketch/sketch_kernels.h"

#include <neardup/sketch.h>

#include <stdlib.h>
#include <string.h>

enum {
    BATCH = 512,            /* occurrences that are counted at once */
    PREFETCH_DISTANCE = 16, /* pairs of terms */
    PART = 1024,            /* bytes of text whose hashed code points stay in the first cache */
    PHRASES_LOG2 = 16,      /* answers that are remembered */
};

/* Occurrences on their way to the tally. */
struct batch {
    uint64_t hash[BATCH];
    uint32_t from[BATCH];
    size_t count;
};

bool nd_feature_counts_init(struct nd_feature_counts *c, const struct nd_feature_plan *plan,
                            struct nd_document_terms *terms)
{
    c->plan = plan;
    c->terms = terms;
    if (plan->params.phrases <= 0) /* none, or every pair */
        return true;
    c->phrase = calloc((size_t)1 << PHRASES_LOG2, sizeof *c->phrase);
    return c->phrase != NULL;
}

void nd_feature_counts_release(struct nd_feature_counts *c)
{
    free(c->phrase);
    nd_tally_release(&c->tally);
    nd_word_counts_release(&c->by_word);
    free(c->occurrence.items);
    free(c->occurrence_from.items);
    free(c->origin.items);
    free(c->direct);
    free(c->new_number.items);
}

/* The word of the text (for character n-grams the code point), from 0, where an occurrence
 * begins. */
static size_t position_of(const struct nd_feature_counts *c, uint32_t from)
{
    return c->plan->counts_tokens ? from : nd_token_of_term(c->terms, from);
}

/* Whether it is the select_count-th that begins in its sentence. */
static bool is_of_sentence(struct nd_feature_counts *c, size_t position)
{
    const struct nd_number_list *sentence = &c->terms->sentence;
    struct nd_selection *s = &c->selection;

    while (s->sentences < sentence->count && sentence->items[s->sentences] <= position) {
        s->sentences++;
        s->seen_in_sentence = 0;
    }
    return ++s->seen_in_sentence == c->plan->params.select_count;
}

/* Whether the code points of one of the anchors stand at the beginning of an n-gram. */
static bool begins_with_string(const struct nd_feature_counts *c, uint32_t from)
{
    const struct nd_hash_list *strings = &c->plan->anchor_strings;
    const uint64_t *code = c->terms->term + (from - c->terms->n_dropped);
    size_t have = c->terms->n_terms - (from - c->terms->n_dropped);

    for (size_t i = 0; i < strings->count; i += 1 + strings->items[i]) {
        const uint64_t *string = &strings->items[i + 1];
        size_t n = strings->items[i], same = 0;

        while (same < n && same < have && code[same] == string[same])
            same++;
        if (same == n)
            return true;
    }
    return false;
}

static const struct nd_word *word_at(const struct nd_feature_counts *c, size_t token)
{
    return &c->terms->words.word[c->terms->word.items[token]];
}

/* Whether the plan selects an occurrence; each is asked about once, in order. */
static bool is_selected(struct nd_feature_counts *c, uint32_t from)
{
    const struct nd_feature_params *p = &c->plan->params;

    switch (p->select) {
    case ND_SELECT_FIRST:
        return p->count == ND_FEATURE_DISTINCT || c->selection.seen++ < p->select_count;
    case ND_SELECT_KTH: return ++c->selection.seen % p->select_count == 0;
    case ND_SELECT_SENTENCE: return is_of_sentence(c, position_of(c, from));
    case ND_SELECT_ANCHORED:
        return c->plan->unit->source == ND_FROM_TERMS
                   ? (word_at(c, position_of(c, from))->kinds & ND_WORD_ANCHOR) != 0
                   : begins_with_string(c, from);
    default: return true;
    }
}

/* The df of a feature that is new in this document. */
static uint32_t df_of(const struct nd_feature_counts *c, uint64_t hash, uint32_t from)
{
    uint32_t n;

    if (c->plan->params.unit == ND_FEATURE_TERMS) {
        const struct nd_word *word = word_at(c, nd_token_of_term(c->terms, from));

        if (word->term == hash) /* or else it is a phrase */
            return word->df;
    }
    n = nd_df_count(c->plan->df, hash);
    return n ? n : 1;
}

/* Look up the df of the features that are new in this document: their numbers are above `had`. */
static void find_df(struct nd_feature_counts *c, const uint64_t *hash, const uint32_t *from,
                    const uint32_t *number, size_t n, size_t had)
{
    struct nd_term_stat *entry = c->tally.entry;

    if (c->plan->keeps_df) { /* written each time: whether a term is new is unpredictable */
        for (size_t i = 0; i < n; i++)
            entry[number[i]].df = c->terms->term_df[from[i]];
        return;
    }
    for (size_t i = 0; i < n; i++)
        if (number[i] > had)
            nd_df_prefetch(c->plan->df, hash[i]);
    for (size_t i = 0; i < n; i++)
        if (number[i] > had) {
            entry[number[i]].df = df_of(c, hash[i], from[i]);
            had = number[i];
        }
}

static void add_gains(struct nd_feature_counts *c, const uint32_t *number, const uint32_t *from,
                      size_t n)
{
    const struct nd_template_rule *rule = &c->plan->template;
    const struct nd_token_notes *notes = &c->terms->notes;

    for (size_t i = 0; i < n; i++) {
        size_t token = position_of(c, from[i]);
        unsigned mark = notes->has_marks ? notes->mark[token] : 0;
        uint64_t gain = nd_weigher_gain(c->plan->weigher, token + 1, c->terms->n_tokens, mark);

        if (rule->weight && notes->template[token])
            gain = gain * rule->weight >> 24;
        c->tally.entry[number[i]].gain += gain;
    }
}

static bool append(struct nd_number_list *list, const uint32_t *number, size_t n)
{
    if (!nd_number_list_reserve(list, n))
        return false;
    if (n)
        memcpy(list->items + list->count, number, n * sizeof *number);
    list->count += n;
    return true;
}

static bool note_origins(struct nd_feature_counts *c, const uint32_t *number, const uint32_t *from,
                         size_t n)
{
    if (!nd_number_list_reserve(&c->origin, n))
        return false;
    for (size_t i = 0; i < n; i++)
        if (number[i] > c->origin.count)
            c->origin.items[c->origin.count++] = from[i];
    return true;
}

/* n more occurrences of ND_COUNT_NONE, to be written to c->direct. */
static bool reserve_direct(struct nd_feature_counts *c, size_t n)
{
    return ND_RESERVE(c->direct, &c->direct_capacity, c->n_direct + n);
}

static bool add_direct(struct nd_feature_counts *c, const uint64_t *hash, size_t n)
{
    if (!reserve_direct(c, n))
        return false;
    if (n)
        memcpy(c->direct + c->n_direct, hash, n * sizeof *hash);
    c->n_direct += n;
    return true;
}

/* Count selected occurrences.  False: out of memory. */
static bool count_occurrences(struct nd_feature_counts *c, const uint64_t *hash,
                              const uint32_t *from, size_t n)
{
    const struct nd_feature_plan *plan = c->plan;
    bool has_places = c->request == ND_REQUEST_PLACES;
    uint32_t number[BATCH];
    size_t had = c->tally.count;

    if (c->counting == ND_COUNT_NONE)
        return add_direct(c, hash, n);
    if (!nd_tally_add(&c->tally, hash, n, number))
        return false;
    if (plan->df)
        find_df(c, hash, from, number, n, had);
    if (plan->needs_gain)
        add_gains(c, number, from, n);
    if ((plan->params.count == ND_FEATURE_OCCURRENCES || has_places) &&
        !append(&c->occurrence, number, n))
        return false;
    if (has_places && !append(&c->occurrence_from, from, n))
        return false;
    return c->request != ND_REQUEST_ORIGINS || note_origins(c, number, from, n);
}

/* Count at most BATCH occurrences but those that are not selected, which are taken out of the
 * arrays.  False: out of memory. */
static bool add_occurrences(struct nd_feature_counts *c, uint64_t *hash, uint32_t *from, size_t n)
{
    size_t selected = 0;

    if (!c->plan->selects_occurrences)
        return count_occurrences(c, hash, from, n);
    for (size_t i = 0; i < n; i++) {
        hash[selected] = hash[i];
        from[selected] = from[i];
        selected += is_selected(c, from[i]);
    }
    return count_occurrences(c, hash, from, selected);
}

static bool flush(struct nd_feature_counts *c, struct batch *b)
{
    bool good = add_occurrences(c, b->hash, b->from, b->count);

    b->count = 0;
    return good;
}

static bool put(struct nd_feature_counts *c, struct batch *b, uint64_t hash, size_t from)
{
    if (b->count == BATCH && !flush(c, b))
        return false;
    b->hash[b->count] = hash;
    b->from[b->count++] = (uint32_t)from;
    return true;
}

/* Fewer terms than a shingle has make one feature of all of them (docs/format/sketch.md). */
static bool count_short(struct nd_feature_counts *c, const uint64_t *term, size_t n)
{
    uint64_t hash = nd_shingle_of_all(term, n);
    uint32_t from = 0;

    return add_occurrences(c, &hash, &from, 1);
}

/* The n shingles that begin at term[0 … n - 1]; the first is number `from`. */
static bool count_run(struct nd_feature_counts *c, const uint64_t *term, size_t n, size_t from)
{
    const struct nd_sketch_kernels *kernels = nd_sketch_kernels();
    unsigned width = c->plan->params.width;
    struct batch b;

    if (c->counting == ND_COUNT_NONE && !c->plan->selects_occurrences) {
        /* Every occurrence is a feature, wherever it stands: they are written where they go. */
        if (!reserve_direct(c, n))
            return false;
        kernels->shingles(term, n, width, c->direct + c->n_direct);
        c->n_direct += n;
        return true;
    }
    for (size_t i = 0; i < n; i += BATCH) {
        b.count = n - i < BATCH ? n - i : BATCH;
        kernels->shingles(term + i, b.count, width, b.hash);
        for (size_t k = 0; k < b.count; k++)
            b.from[k] = (uint32_t)(from + i + k);
        if (!flush(c, &b))
            return false;
    }
    return true;
}

static bool count_shingles(struct nd_feature_counts *c)
{
    size_t n = c->terms->n_terms, w = c->plan->params.width;

    if (n == 0)
        return true;
    return n < w ? count_short(c, c->terms->term, n) : count_run(c, c->terms->term, n - w + 1, 0);
}

static bool count_terms(struct nd_feature_counts *c)
{
    const struct nd_document_terms *t = c->terms;
    struct batch b;

    for (size_t i = 0; i < t->n_terms; i += BATCH) {
        b.count = t->n_terms - i < BATCH ? t->n_terms - i : BATCH;
        memcpy(b.hash, t->term + i, b.count * sizeof *b.hash);
        for (size_t k = 0; k < b.count; k++)
            b.from[k] = (uint32_t)(i + k);
        if (!flush(c, &b))
            return false;
    }
    return true;
}

/* Terms that are words, by their numbers: from words to the tally at once. */
static bool count_words(struct nd_feature_counts *c)
{
    const struct nd_feature_plan *plan = c->plan;
    struct nd_document_terms *t = c->terms;
    size_t n = t->word.count, words = t->words.count + 1;
    uint32_t gain[BATCH];

    if (!nd_tally_reserve(&c->tally, n < words ? n : words) ||
        !nd_word_counts_begin(&c->by_word, words, n, plan->needs_gain))
        return false;
    if (!plan->needs_gain)
        nd_word_counts_add(&c->by_word, t->word.items, NULL, n);
    for (size_t i = 0; plan->needs_gain && i < n; i += BATCH) {
        const uint16_t *mark = t->notes.has_marks ? t->notes.mark + i : NULL;
        size_t count = n - i < BATCH ? n - i : BATCH;

        nd_weigher_gains(plan->weigher, i + 1, count, t->n_tokens, mark, gain);
        nd_word_counts_add(&c->by_word, t->word.items + i, gain, count);
    }
    t->n_terms =
        nd_word_counts_take(&c->by_word, t->words.word, ND_WORD_OUT, plan->needs_gain, &c->tally);
    return true;
}

/* The hash of a phrase: the shingle of both terms (docs/format/sketch.md). */
static uint64_t phrase_hash(uint64_t first, uint64_t second)
{
    return nd_shingle_of((uint64_t[]){first, second}, 2);
}

static uint64_t *answer_of(const struct nd_feature_counts *c, uint64_t pair)
{
    return &c->phrase[pair >> (64 - PHRASES_LOG2)];
}

/*
 * Whether the pointwise mutual information of two terms, ln(p(a b) / (p(a) p(b))), is at least the
 * threshold, with p = document frequency / documents.  With F = e^threshold that is
 * both · documents >= F · a · b, in integers.
 */
static bool query_phrase(const struct nd_feature_counts *c, uint64_t pair, uint64_t first,
                         uint64_t second)
{
    const struct nd_df *df = c->plan->df;
    uint64_t both = nd_df_count(df, pair), a, b;

    if (both == 0)
        return false;
    a = nd_df_count(df, first);
    b = nd_df_count(df, second);
    return (unsigned __int128)both * nd_df_documents(df) << 16 >=
           (unsigned __int128)c->plan->phrase_factor * ((a ? a : 1) * (b ? b : 1));
}

static void prefetch_phrase(const struct nd_feature_counts *c, uint64_t first, uint64_t second)
{
    uint64_t pair = phrase_hash(first, second);

    if (c->plan->params.phrases > 0 && (*answer_of(c, pair) ^ pair) > 1)
        nd_df_prefetch(c->plan->df, pair);
}

static bool is_phrase(struct nd_feature_counts *c, uint64_t first, uint64_t second)
{
    uint64_t pair = phrase_hash(first, second);
    uint64_t *answer;

    if (c->plan->params.phrases < 0)
        return true;
    answer = answer_of(c, pair);
    if ((*answer ^ pair) > 1 || *answer == 0) /* another pair's, or none yet */
        *answer = (pair & ~UINT64_C(1)) | query_phrase(c, pair, first, second);
    return *answer & 1;
}

/* Terms, and after the first term of a phrase the phrase (Manku 2007, §5.3e). */
static bool count_phrases(struct nd_feature_counts *c)
{
    const uint64_t *term = c->terms->term;
    size_t n = c->terms->n_terms;
    struct batch b = {.count = 0};

    for (size_t i = 0; i < n; i++) {
        if (i + PREFETCH_DISTANCE + 1 < n)
            prefetch_phrase(c, term[i + PREFETCH_DISTANCE], term[i + PREFETCH_DISTANCE + 1]);
        if (!put(c, &b, term[i], i))
            return false;
        if (i + 1 < n && is_phrase(c, term[i], term[i + 1]) &&
            !put(c, &b, phrase_hash(term[i], term[i + 1]), i))
            return false;
    }
    return flush(c, &b);
}

/* Append the code points of a part of normalised text to `term`, hashed: ASCII eight at a time. */
static bool append_codes(struct nd_feature_counts *c, const char *bytes, size_t len)
{
    const uint64_t *ascii = c->plan->ascii;
    struct nd_document_terms *t = c->terms;
    uint64_t *term;
    size_t n;

    if (!nd_document_terms_reserve(t, t->n_terms + len))
        return false;
    term = t->term + t->n_terms;
    for (size_t i = 0; i < len; i += n) {
        uint64_t eight = len - i < 8 ? UINT64_MAX : nd_scan_load(bytes + i);

        if (!nd_scan_is_wide(eight)) {
            for (n = 0; n < 8; n++)
                *term++ = ascii[(unsigned char)bytes[i + n]];
            continue;
        }
        n = 1;
        *term++ = (unsigned char)bytes[i] < 0x80 ? ascii[(unsigned char)bytes[i]]
                                                 : nd_mix64(nd_utf8_decode(bytes + i, &n));
    }
    t->n_terms = (size_t)(term - t->term);
    return true;
}

/* The n-grams that end within a part of normalised text; the last w - 1 code points are kept for
 * those that begin in it. */
static bool count_codes(struct nd_feature_counts *c, const char *bytes, size_t len)
{
    struct nd_document_terms *t = c->terms;
    size_t w = c->plan->params.width, n;

    if (!append_codes(c, bytes, len))
        return false;
    if (t->n_terms < w)
        return true;
    n = t->n_terms - w + 1;
    if (!count_run(c, t->term, n, t->n_dropped))
        return false;
    memmove(t->term, t->term + n, (w - 1) * sizeof *t->term);
    t->n_dropped += n;
    t->n_terms = w - 1;
    return true;
}

/* The end of a part of about PART bytes, moved on to the end of a code point. */
static size_t end_of_part(const char *bytes, size_t len, size_t from)
{
    size_t end = len - from < PART ? len : from + PART;

    while (end < len && ((unsigned char)bytes[end] & 0xC0) == 0x80)
        end++;
    return end;
}

/* Character n-grams, a part of the normalised text at a time. */
static enum nd_status count_characters(struct nd_feature_counts *c, struct nd_view text)
{
    struct nd_document_terms *t = c->terms;
    const char *bytes;
    size_t len;
    int more;

    nd_text_stream_start(t->stream, text.data, text.len);
    while ((more = nd_text_stream_next(t->stream, &bytes, &len)) == 1) {
        for (size_t from = 0, end; from < len; from = end) {
            end = end_of_part(bytes, len, from);
            if (!count_codes(c, bytes + from, end - from))
                return ND_ENOMEM;
        }
    }
    if (more < 0)
        return (enum nd_status)more;
    t->n_tokens = t->n_dropped + t->n_terms;
    if (t->n_dropped == 0 && t->n_terms > 0 && !count_short(c, t->term, t->n_terms))
        return ND_ENOMEM;
    return ND_OK;
}

/* The hash of a sequence of terms of any length: the identity of docs/format/sketch.md. */
static uint64_t sequence_hash(const uint64_t *term, size_t n)
{
    uint64_t h = nd_mix64(nd_sketch_kernels()->sequence_sum(term, n, 0) + n * ND_POSITION_STEP);

    return h ? h : 1;
}

/* The terms of each sentence that has any (Brin 1995; Manku 2007, §5.3a). */
static bool count_sentences(struct nd_feature_counts *c)
{
    const struct nd_document_terms *t = c->terms;
    const struct nd_number_list *sentence = &t->sentence;
    struct batch b = {.count = 0};
    size_t i = 0, end;

    for (size_t s = 0; s < sentence->count; s++) {
        size_t stop = s + 1 < sentence->count ? sentence->items[s + 1] : t->n_tokens;

        for (end = i; end < t->n_terms && nd_token_of_term(t, end) < stop;)
            end++;
        if (end > i && !put(c, &b, sequence_hash(t->term + i, end - i), i))
            return false;
        i = end;
    }
    return flush(c, &b);
}

/*
 * Spot signatures (Theobald 2008, §3): an antecedent and a chain of the terms after it, `distance`
 * apart; none where the text ends before the chain does.
 */
static bool count_spots(struct nd_feature_counts *c)
{
    const struct nd_document_terms *t = c->terms;
    const uint32_t wanted = c->plan->words.anchors.count ? ND_WORD_ANCHOR : ND_WORD_STOP;
    const size_t w = c->plan->params.width, d = c->plan->params.distance;
    struct batch b = {.count = 0};
    size_t next = 0; /* the first term after the word */

    for (size_t i = 0; i < t->word.count; i++) {
        const struct nd_word *word = word_at(c, i);
        uint64_t sum = word->hash;

        while (next < t->n_terms && t->token.items[next] <= i)
            next++;
        if (t->n_terms - next < w * d)
            break;
        if (!(word->kinds & wanted) || nd_token_is_left_out(t, i))
            continue;
        for (size_t k = 1; k <= w; k++)
            sum = nd_shingle_rotate(sum) + t->term[next + k * d - 1];
        if (!put(c, &b, nd_shingle_finalise(sum), i))
            return false;
    }
    return flush(c, &b);
}

/* The tokens of n terms, `step` apart, the first of them term `from`. */
static bool list_terms(const struct nd_document_terms *t, size_t from, size_t step, size_t n,
                       struct nd_number_list *token)
{
    if (!nd_number_list_reserve(token, n))
        return false;
    for (size_t i = 0; i < n; i++)
        token->items[token->count++] = (uint32_t)nd_token_of_term(t, from + i * step);
    return true;
}

/* The terms from `from` to the end of its sentence. */
static bool list_sentence(const struct nd_document_terms *t, size_t from,
                          struct nd_number_list *token)
{
    const struct nd_number_list *sentence = &t->sentence;
    size_t s = 0, n = from, stop;

    while (s < sentence->count && sentence->items[s] <= nd_token_of_term(t, from))
        s++;
    stop = s < sentence->count ? sentence->items[s] : t->n_tokens;
    while (n < t->n_terms && nd_token_of_term(t, n) < stop)
        n++;
    return list_terms(t, from, 1, n - from, token);
}

/* The antecedent, and the chain of the terms after it. */
static bool list_spot(const struct nd_document_terms *t, size_t antecedent,
                      struct nd_number_list *token)
{
    const struct nd_feature_params *p = &t->plan->params;
    const uint32_t first = (uint32_t)antecedent;
    size_t next = 0;

    while (next < t->n_terms && t->token.items[next] <= antecedent)
        next++;
    return append(token, &first, 1) &&
           list_terms(t, next + p->distance - 1, p->distance, p->width, token);
}

bool nd_feature_tokens(const struct nd_document_terms *t, size_t from, uint64_t hash,
                       struct nd_number_list *token)
{
    size_t w = t->plan->params.width;

    token->count = 0;
    switch (t->plan->params.unit) {
    case ND_FEATURE_TERMS: /* or a phrase of two */
        return list_terms(t, from, 1, t->term[from] == hash ? 1 : 2, token);
    case ND_FEATURE_SHINGLES: return list_terms(t, from, 1, t->n_terms < w ? t->n_terms : w, token);
    case ND_FEATURE_SENTENCES: return list_sentence(t, from, token);
    case ND_FEATURE_SPOTS: return list_spot(t, from, token);
    case ND_FEATURE_CHARACTERS:
    case ND_FEATURE_PATHS:
    case ND_FEATURE_NONE: break;
    }
    return true;
}

/* From terms to the tally. */
static enum nd_status count_units(struct nd_feature_counts *c, struct nd_view text)
{
    bool good = true;

    switch (c->plan->params.unit) {
    case ND_FEATURE_TERMS:
        good = c->counting == ND_COUNT_WORDS  ? count_words(c)
               : c->plan->params.phrases != 0 ? count_phrases(c)
                                              : count_terms(c);
        break;
    case ND_FEATURE_PATHS: good = count_terms(c); break;
    case ND_FEATURE_NONE: break;
    case ND_FEATURE_SHINGLES: good = count_shingles(c); break;
    case ND_FEATURE_CHARACTERS: return count_characters(c, text);
    case ND_FEATURE_SENTENCES: good = count_sentences(c); break;
    case ND_FEATURE_SPOTS: good = count_spots(c); break;
    }
    return good ? ND_OK : ND_ENOMEM;
}

/* The rarest first; of equally rare features that of the smallest hash. */
static int by_rarity(const void *a, const void *b)
{
    const struct nd_term_stat *x = a, *y = b;

    if (x->df != y->df)
        return x->df < y->df ? -1 : 1;
    return x->hash < y->hash ? -1 : x->hash > y->hash;
}

/* The last feature that is still among the n rarest.  False: out of memory. */
static bool last_of_rarest(const struct nd_tally *tally, size_t n, struct nd_term_stat *last)
{
    struct nd_term_stat *sorted = nd_alloc_array(tally->count, sizeof *sorted);

    if (!sorted)
        return false;
    memcpy(sorted, tally->entry + 1, tally->count * sizeof *sorted);
    qsort(sorted, tally->count, sizeof *sorted, by_rarity);
    *last = sorted[n - 1];
    free(sorted);
    return true;
}

/* Move entry i (from 1) to place n, or drop it (n = 0), with what belongs to it. */
static void move_entry(struct nd_feature_counts *c, size_t i, size_t n)
{
    c->new_number.items[i] = (uint32_t)n;
    if (n == 0)
        return;
    c->tally.entry[n] = c->tally.entry[i];
    if (c->request == ND_REQUEST_ORIGINS)
        c->origin.items[n - 1] = c->origin.items[i - 1];
}

static void renumber_occurrences(struct nd_feature_counts *c)
{
    bool has_places = c->request == ND_REQUEST_PLACES;
    size_t n = 0;

    for (size_t i = 0; i < c->occurrence.count; i++) {
        c->occurrence.items[n] = c->new_number.items[c->occurrence.items[i]];
        if (has_places)
            c->occurrence_from.items[n] = c->occurrence_from.items[i];
        n += c->occurrence.items[n] != 0;
    }
    c->occurrence.count = n;
    if (has_places)
        c->occurrence_from.count = n;
}

/* Leave only the distinct features that the selection wants.  False: out of memory. */
static bool select_distinct(struct nd_feature_counts *c)
{
    const struct nd_feature_params *p = &c->plan->params;
    struct nd_term_stat last = {.df = p->select_count, .hash = UINT64_MAX};
    size_t count = c->tally.count, n = 0;

    if (p->select == ND_SELECT_FIRST && p->count == ND_FEATURE_DISTINCT && count > p->select_count)
        c->tally.count = p->select_count;
    if ((p->select != ND_SELECT_RAREST || count <= p->select_count) &&
        p->select != ND_SELECT_UNCOMMON)
        return true;
    c->new_number.count = 0;
    if (p->select == ND_SELECT_RAREST && !last_of_rarest(&c->tally, p->select_count, &last))
        return false;
    if (!nd_number_list_reserve(&c->new_number, count + 1))
        return false;
    for (size_t i = 1; i <= count; i++) {
        bool stays = by_rarity(&c->tally.entry[i], &last) <= 0;

        n += stays;
        move_entry(c, i, stays ? n : 0);
    }
    c->tally.count = n;
    renumber_occurrences(c);
    return true;
}

enum nd_status nd_feature_counts_run(struct nd_feature_counts *c,
                                     const struct nd_document *document,
                                     enum nd_feature_request request)
{
    enum nd_status status;

    nd_tally_clear(&c->tally);
    c->occurrence.count = c->occurrence_from.count = c->origin.count = 0;
    c->n_direct = 0;
    c->selection = (struct nd_selection){0};
    c->request = request;
    c->counting = request == ND_REQUEST_FEATURES || request == ND_REQUEST_HASHES ? c->plan->counting
                                                                                 : ND_COUNT_HASHES;
    status = nd_document_terms_read(c->terms, document, c->counting == ND_COUNT_WORDS);
    if (status == ND_OK)
        status = count_units(c, document->text);
    if (status == ND_OK && !select_distinct(c))
        status = ND_ENOMEM;
    return status;
}
