/* document_terms.c - from a document to its terms: tokens, words, marks, template text, terms
 *
 *     text ──apostrophes, sentences──→ tokens ──words.c──→ words ──dates, stop words──→ terms
 *                                        └──→ marks, template text
 *
 * Elements take the place of tokens if the features of a page are paths (read_paths).
 */
#include "feature/document_terms.h"

#include "base/hash.h"
#include "feature/df_layout.h"
#include "feature/word/apostrophes.h"
#include "feature/word/sentences.h"
#include "simd/sketch/sketch_kernels.h"
#include "text/places.h"

#include <neardup/sketch.h>
#include <neardup/text.h>

#include <stdlib.h>
#include <string.h>

#define KIND_PATH UINT64_C(0x70617468) /* "path" */

enum {
    BATCH = 512, /* shingles whose counts are prefetched together */

    /* Kinds of words that are dates by themselves, and all that may be part of a date. */
    DATE = ND_WORD_DIGIT | ND_WORD_DATE,
    IN_DATES = DATE | ND_WORD_SHORT_DATE | ND_WORD_TIME | ND_WORD_FIRST_HALF | ND_WORD_SECOND_HALF,
};

enum nd_status nd_document_terms_init(struct nd_document_terms *t,
                                      const struct nd_feature_plan *plan, struct nd_error *err)
{
    enum nd_status status = nd_words_init(&t->words, &plan->words, plan->params.stem, err);

    if (status != ND_OK)
        return status;
    t->plan = plan;
    t->tokeniser = nd_tokeniser_new();
    t->stream = nd_text_stream_new();
    return t->tokeniser && t->stream ? ND_OK : nd_fail(err, ND_ENOMEM, "out of memory");
}

void nd_document_terms_release(struct nd_document_terms *t)
{
    nd_tokeniser_free(t->tokeniser);
    nd_text_stream_free(t->stream);
    nd_words_release(&t->words);
    nd_mail_quotes_release(&t->quotes);
    nd_buffer_release(&t->joined);
    free(t->word.items);
    free(t->sentence.items);
    free(t->token.items);
    free(t->notes.place);
    free(t->notes.mark);
    free(t->notes.template);
    free(t->term);
    free(t->term_df);
}

/* Note the place of each token of a window in a text that is ASCII: folding moves nothing there, so
 * a place in the normalised text is a place in the text. */
static bool note_places(struct nd_document_terms *t, const struct nd_token_window *w,
                        uint64_t offset, size_t first)
{
    struct nd_token_notes *notes = &t->notes;

    if (!ND_RESERVE(notes->place, &notes->place_capacity, first + w->count))
        return false;
    for (size_t i = 0; i < w->count; i++) {
        struct nd_view form = nd_token_form(w, i);

        notes->place[first + i] =
            (struct nd_token){.offset = offset + w->offset + (uint64_t)(form.data - w->base),
                              .len = form.len > UINT32_MAX ? UINT32_MAX : (uint32_t)form.len};
    }
    return true;
}

/* How many tokens there are so far. */
static size_t tokens_of(const struct nd_document_terms *t)
{
    return t->plan->is_plain ? t->n_terms : t->word.count;
}

/* Tokens are terms. */
static bool add_plain(struct nd_document_terms *t, const uint64_t *hash, size_t n)
{
    if (t->n_terms + n > UINT32_MAX || !nd_document_terms_reserve(t, t->n_terms + n))
        return false;
    memcpy(t->term + t->n_terms, hash, n * sizeof *hash);
    t->n_terms += n;
    return true;
}

static bool add_words(struct nd_document_terms *t, const struct nd_token_window *w)
{
    if (!nd_number_list_reserve(&t->word, w->count) ||
        !nd_words_find(&t->words, w, t->word.items + t->word.count))
        return false;
    t->word.count += w->count;
    return true;
}

/* A part of the text that begins at byte `offset`; with places, it is ASCII. */
static enum nd_status read_tokens(struct nd_document_terms *t, const char *text, size_t len,
                                  uint64_t offset, bool with_places)
{
    struct nd_token_window w;
    int more;

    nd_tokeniser_start(t->tokeniser, text, len);
    while ((more = nd_tokeniser_window(t->tokeniser, &w)) == 1) {
        if (with_places && !note_places(t, &w, offset, tokens_of(t)))
            return ND_ENOMEM;
        if (!(t->plan->is_plain ? add_plain(t, w.hash, w.count) : add_words(t, &w)))
            return ND_ENOMEM;
    }
    return (enum nd_status)more;
}

/* Tokens of a part that is not ASCII, and their places by the plain algorithm. */
static enum nd_status read_others(struct nd_document_terms *t, const char *text, size_t len,
                                  uint64_t offset)
{
    struct nd_token_notes *notes = &t->notes;
    size_t first = tokens_of(t), n;
    struct nd_token *token;
    enum nd_status status = read_tokens(t, text, len, offset, false);

    if (status == ND_OK)
        status = nd_text_tokens(text, len, &token, &n, NULL);
    if (status != ND_OK)
        return status;
    if (ND_RESERVE(notes->place, &notes->place_capacity, first + n)) {
        for (size_t i = 0; i < n; i++)
            notes->place[first + i] =
                (struct nd_token){.offset = offset + token[i].offset, .len = token[i].len};
    } else {
        status = ND_ENOMEM;
    }
    free(token);
    return status;
}

/* Tokens with their places: runs of ASCII, where they are cheap to find, and the others between. */
static enum nd_status read_places(struct nd_document_terms *t, const char *text, size_t len,
                                  uint64_t offset)
{
    enum nd_status status = ND_OK;

    for (size_t from = 0, end; from < len && status == ND_OK; from = end) {
        end = nd_ascii_end(text, len, from);
        if (end > from) {
            status = read_tokens(t, text + from, end - from, offset + from, true);
        } else {
            end = nd_ascii_next(text, len, from);
            status = read_others(t, text + from, end - from, offset + from);
        }
    }
    return status;
}

static enum nd_status read_sentences(struct nd_document_terms *t, struct nd_view text)
{
    enum nd_status status = ND_OK;

    for (size_t from = 0, end; from < text.len && status == ND_OK; from = end) {
        size_t first = tokens_of(t);

        end = nd_sentence_end(text.data, text.len, from);
        status = t->notes.has_marks ? read_places(t, text.data + from, end - from, from)
                                    : read_tokens(t, text.data + from, end - from, from, false);
        if (status == ND_OK && tokens_of(t) > first) {
            if (!nd_number_list_reserve(&t->sentence, 1))
                return ND_ENOMEM;
            t->sentence.items[t->sentence.count++] = (uint32_t)first;
        }
    }
    return status;
}

/* The first token, from i on, that does not end before `offset`: stretches come in order. */
static size_t skip_to(const struct nd_token *token, size_t n, size_t i, uint64_t offset)
{
    while (i < n && token[i].offset + token[i].len <= offset)
        i++;
    return i;
}

static void raise_mark(uint16_t *mark, unsigned to)
{
    if (*mark < to)
        *mark = (uint16_t)to;
}

/* The words on either side of tokens begin … end - 1, at distance 1 … window. */
static void mark_window(size_t begin, size_t end, size_t n, unsigned window, uint16_t *mark)
{
    for (unsigned distance = 1; distance <= window; distance++) {
        unsigned to = (unsigned)((uint64_t)ND_MARK_FULL * (window + 1 - distance) / (window + 1));

        if (distance <= begin)
            raise_mark(&mark[begin - distance], to);
        if (distance <= n - end)
            raise_mark(&mark[end + distance - 1], to);
    }
}

void nd_marks_fill(const struct nd_document *document, unsigned window,
                   const struct nd_token *token, size_t n, uint16_t *mark)
{
    size_t first = 0;

    for (size_t i = 0; i < n; i++)
        mark[i] = 0;
    for (size_t m = 0; m < document->n_markup; m++) {
        const struct nd_markup *span = &document->markup[m];

        first = skip_to(token, n, first, span->offset);
        for (size_t i = first; i < n && token[i].offset < span->offset + span->len; i++)
            mark[i] = ND_MARK_FULL;
    }
    if (window == 0)
        return;
    first = 0;
    for (size_t l = 0; l < document->n_links; l++) {
        const struct nd_link *link = &document->links[l];
        size_t end;

        first = skip_to(token, n, first, link->offset);
        for (end = first; end < n && token[end].offset < link->offset + link->len; end++)
            mark[end] = ND_MARK_FULL;
        mark_window(first, end, n, window, mark);
    }
}

/* How far each word is marked, in documents with markup or links. */
static bool read_marks(struct nd_document_terms *t, const struct nd_document *document)
{
    struct nd_token_notes *notes = &t->notes;
    size_t n = (size_t)t->n_tokens;

    if (!notes->has_marks)
        return true;
    if (t->plan->params.join_apostrophes)
        nd_apostrophes_restore(t->spaced, notes->place, n);
    if (!ND_RESERVE(notes->mark, &notes->mark_capacity, n))
        return false;
    nd_marks_fill(document, t->plan->params.anchor_window, notes->place, n, notes->mark);
    return true;
}

static bool is_common(const struct nd_template_rule *rule, uint64_t shingle)
{
    return nd_df_count(rule->table, shingle) > rule->count;
}

/* Mark the words of common shingles; the n shingles begin at token `first`.  Words before *marked
 * are marked already. */
static void mark_shingles(struct nd_document_terms *t, const uint64_t *shingle, size_t n,
                          size_t first, size_t *marked)
{
    const struct nd_template_rule *rule = &t->plan->template;

    for (size_t i = 0; i < n; i++)
        nd_df_prefetch(rule->table, shingle[i]);
    for (size_t i = 0; i < n; i++) {
        size_t from = first + i, end = from + rule->width;

        if (!is_common(rule, shingle[i]))
            continue;
        from = from > *marked ? from : *marked;
        memset(t->notes.template + from, 1, end - from);
        *marked = end;
    }
}

/* Which tokens are template text: those within a shingle that stands in many documents (Seshasai
 * 2009, §2.1, §2.5.3). */
static bool find_template(struct nd_document_terms *t)
{
    const struct nd_template_rule *rule = &t->plan->template;
    size_t n = t->word.count, w = rule->width, marked = 0;
    uint64_t shingle[BATCH];

    if (!rule->table || n == 0)
        return true;
    if (!nd_document_terms_reserve(t, n) ||
        !ND_RESERVE(t->notes.template, &t->notes.template_capacity, n))
        return false;
    for (size_t i = 0; i < n; i++) /* the tokens, where the terms will be */
        t->term[i] = t->words.word[t->word.items[i]].hash;
    memset(t->notes.template, 0, n);
    if (n < w && is_common(rule, nd_shingle_of_all(t->term, n)))
        memset(t->notes.template, 1, n);
    for (size_t i = 0; i + w <= n; i += BATCH) {
        size_t count = n - w + 1 - i < BATCH ? n - w + 1 - i : BATCH;

        nd_sketch_kernels()->shingles(t->term + i, count, (unsigned)w, shingle);
        mark_shingles(t, shingle, count, i, &marked);
    }
    return true;
}

static void drop_template(struct nd_document_terms *t)
{
    size_t n = 0;

    if (!t->plan->template.table || t->plan->template.weight)
        return;
    for (size_t i = 0; i < t->token.count; i++) {
        t->term[n] = t->term[i];
        t->term_df[n] = t->term_df[i];
        t->token.items[n] = t->token.items[i];
        n += !t->notes.template[t->token.items[i]];
    }
    t->token.count = n;
}

static uint32_t kinds_at(const struct nd_document_terms *t, size_t i)
{
    return i < t->word.count ? t->words.word[t->word.items[i]].kinds : 0;
}

/* Whether the short date at i belongs to a date or to a number before or behind it. */
static bool is_short_date(const struct nd_document_terms *t, size_t i, bool after_date)
{
    uint32_t next = kinds_at(t, i + 1);

    return after_date || (next & DATE) ||
           ((next & ND_WORD_SHORT_DATE) && (kinds_at(t, i + 2) & DATE));
}

/* Whether the word at i, which may be part of a date, is part of one (Seshasai 2009, §4.2). */
static bool is_date(const struct nd_document_terms *t, size_t i, bool after_date, bool after_half)
{
    uint32_t kinds = kinds_at(t, i);

    return (kinds & DATE) || ((kinds & ND_WORD_SHORT_DATE) && is_short_date(t, i, after_date)) ||
           ((kinds & ND_WORD_TIME) && after_date) ||
           ((kinds & ND_WORD_FIRST_HALF) && after_date &&
            (kinds_at(t, i + 1) & ND_WORD_SECOND_HALF)) ||
           ((kinds & ND_WORD_SECOND_HALF) && after_half);
}

/* The words that are no part of a date, no stop words and not left out by their form. */
static void keep_but_dates(struct nd_document_terms *t)
{
    bool after_date = false, after_half = false;
    size_t n = 0;

    for (size_t i = 0; i < t->word.count; i++) {
        const struct nd_word *word = &t->words.word[t->word.items[i]];
        bool date = (word->kinds & IN_DATES) && is_date(t, i, after_date, after_half);

        t->term[n] = word->term;
        t->token.items[n] = (uint32_t)i;
        t->term_df[n] = word->df;
        n += !date && (word->kinds & ND_WORD_OUT) == 0;
        after_half = date && (word->kinds & ND_WORD_FIRST_HALF);
        after_date = date;
    }
    t->token.count = n;
}

/* Keep terms of a text without dates.  Whether a word stays is unpredictable, so this is
 * branchless: each is written, and the next one overwrites it where it does not stay. */
static void keep(struct nd_document_terms *t)
{
    const struct nd_word *words = t->words.word;
    const uint32_t *word = t->word.items;
    uint64_t *term = t->term;
    uint32_t *token = t->token.items, *df = t->term_df;
    size_t n = 0;

    for (size_t i = 0; i < t->word.count; i++) {
        term[n] = words[word[i]].term;
        token[n] = (uint32_t)i;
        df[n] = words[word[i]].df;
        n += (words[word[i]].kinds & ND_WORD_OUT) == 0;
    }
    t->token.count = n;
}

/* Leave in `word` only the words that are terms. */
static void leave_words(struct nd_document_terms *t)
{
    for (size_t i = 0; i < t->token.count; i++)
        t->word.items[i] = t->word.items[t->token.items[i]];
    t->word.count = t->token.count;
}

/* From words to terms. */
static bool find_terms(struct nd_document_terms *t, bool by_word)
{
    if (t->plan->is_plain || (by_word && !t->plan->words.has_dates))
        return true;
    t->token.count = 0;
    if (!ND_RESERVE(t->term_df, &t->term_df_capacity, t->word.count) ||
        !nd_number_list_reserve(&t->token, t->word.count) ||
        !nd_document_terms_reserve(t, t->word.count))
        return false;
    if (t->plan->words.has_dates)
        keep_but_dates(t);
    else
        keep(t);
    drop_template(t);
    t->n_terms = t->token.count;
    if (by_word)
        leave_words(t);
    return true;
}

bool nd_document_terms_text(struct nd_document_terms *t, struct nd_view *text)
{
    if (t->plan->params.mail_quotes == ND_QUOTES_DROP && !nd_mail_quotes_blank(&t->quotes, text))
        return false;
    t->spaced = *text;
    return !t->plan->params.join_apostrophes || nd_apostrophes_join(&t->joined, t->spaced, text);
}

static enum nd_status read_text(struct nd_document_terms *t, const struct nd_document *document,
                                bool by_word)
{
    const struct nd_feature_plan *plan = t->plan;
    struct nd_view text = document->text;
    enum nd_status status;

    nd_words_begin(&t->words);
    if (!nd_document_terms_text(t, &text))
        return ND_ENOMEM;
    status = plan->has_sentences  ? read_sentences(t, text)
             : t->notes.has_marks ? read_places(t, text.data, text.len, 0)
                                  : read_tokens(t, text.data, text.len, 0, false);
    t->n_tokens = tokens_of(t);
    if (status == ND_OK &&
        (!read_marks(t, document) || !find_template(t) || !find_terms(t, by_word)))
        status = ND_ENOMEM;
    return status;
}

/* The elements of a page: a path's hash is that of its parent's path and the element's name
 * (Joshi 2003; Seshasai 2009, §2.5.3: the bag of tree paths). */
static bool read_paths(struct nd_document_terms *t, const struct nd_document *document)
{
    const uint64_t root = nd_mix64(KIND_PATH);
    size_t n = document->n_elements;

    t->n_tokens = t->n_terms = n;
    if (n >= ND_ELEMENT_NONE || !nd_document_terms_reserve(t, n))
        return false;
    for (size_t i = 0; i < n; i++) {
        const struct nd_element *e = &document->elements[i];
        uint64_t above = e->parent < i ? t->term[e->parent] : root;

        t->term[i] = nd_mix64(above ^ nd_token_hash(e->name.data, e->name.len));
    }
    return true;
}

static bool is_ascii(struct nd_view text)
{
    unsigned char any = 0;

    for (size_t i = 0; i < text.len; i++)
        any |= (unsigned char)text.data[i];
    return any < 0x80;
}

/* Code points of the normalised text. */
static enum nd_status read_length(struct nd_document_terms *t, struct nd_view text)
{
    const char *bytes;
    size_t n;
    int more;

    t->n_tokens = text.len;
    if (is_ascii(text))
        return ND_OK;
    t->n_tokens = 0;
    nd_text_stream_start(t->stream, text.data, text.len);
    while ((more = nd_text_stream_next(t->stream, &bytes, &n)) == 1) {
        size_t codes = 0;

        for (size_t i = 0; i < n; i++)
            codes += ((unsigned char)bytes[i] & 0xC0) != 0x80;
        t->n_tokens += codes;
    }
    return (enum nd_status)more;
}

enum nd_status nd_document_terms_read(struct nd_document_terms *t,
                                      const struct nd_document *document, bool by_word)
{
    const struct nd_feature_plan *plan = t->plan;

    t->word.count = t->sentence.count = t->token.count = t->n_terms = 0;
    t->n_tokens = t->n_dropped = 0;
    t->notes.has_marks =
        plan->needs_marks &&
        (document->n_markup > 0 || (document->n_links > 0 && plan->params.anchor_window > 0));
    switch (plan->unit->source) {
    case ND_FROM_CHARACTERS: /* the weigher needs the length before the first gain */
        return nd_weigher_needs_length(plan->weigher) ? read_length(t, document->text) : ND_OK;
    case ND_FROM_ELEMENTS: return read_paths(t, document) ? ND_OK : ND_ENOMEM;
    case ND_FROM_TERMS: return read_text(t, document, by_word);
    case ND_FROM_NOTHING: break;
    }
    return ND_OK;
}

enum nd_status nd_document_terms_places(struct nd_document_terms *t, struct nd_view text,
                                        struct nd_token **token, size_t *n)
{
    struct nd_view joined = text;
    enum nd_status status;

    if (!nd_document_terms_text(t, &joined))
        return ND_ENOMEM;
    status = nd_token_places(joined.data, joined.len, token, n);
    if (status == ND_OK && joined.data != t->spaced.data)
        nd_apostrophes_restore(t->spaced, *token, *n);
    return status;
}
