/* perturb.c - documents with words inserted, removed, swapped and replaced at random */

/*
 * Each document is edited in one pass over its words. Places are drawn without putting any back, so
 * that as many words differ as were asked for, and the random numbers of a document follow from the
 * seed and its name: a document is edited in the same way in any corpus.
 *
 *     words     The  port  of  Hull  reopened
 *     edits          swap---'  -     replace          and an insertion before the first
 *     becomes   six The of port wheat
 */
#include "uses/read_manifest.h"
#include "uses/use.h"

#include <neardup/text.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/hash_set.h"
#include "base/view.h"
#include "input/formats/lines.h"

/* How many words of all documents are kept to be inserted. */
enum { POOL_WORDS = 1 << 16 };

/* A word, and what stands between it and the next. */
struct text_word {
    struct nd_view word, gap;
    unsigned char edit; /* of enum word_edit */
    bool is_open;       /* it may be edited */
    uint32_t inserted;  /* words before it */
};
enum word_edit { KEPT, REMOVED, REPLACED, SWAPPED, SWAPPED_WITH };

/* Random numbers, which follow from the stream. */
struct draws {
    uint64_t stream, n;
};

struct perturbing {
    const struct nd_perturb_params *params;
    struct nd_use use, first; /* first: a walk for the words that are inserted */
    struct nd_view *pool;     /* malloc'ed */
    size_t n_pool, pool_capacity;
    uint64_t n_seen; /* words, of which the pool is a sample */
    struct nd_hash_set lexicon;
    struct text_word *word;
    size_t n_words, word_capacity;
    uint32_t *place;
    size_t place_capacity;
    struct nd_json text, id;
    uint64_t edits, n_edited; /* of a document; documents that were edited */
};

struct nd_perturb_params nd_perturb_params_default(void)
{
    return (struct nd_perturb_params){.seed = 1};
}

static enum nd_status no_memory(struct nd_error *err)
{
    return nd_fail(err, ND_ENOMEM, "out of memory");
}

static uint64_t draw(struct draws *d)
{
    return nd_mix64(d->stream + ++d->n * UINT64_C(0x9E3779B97F4A7C15));
}

/* A number below n. */
static uint64_t draw_below(struct draws *d, uint64_t n)
{
    return (uint64_t)((unsigned __int128)draw(d) * n >> 64);
}

/* ---- Words ----------------------------------------------------------------------------------- */

/* Take the next word and the white space behind it.  False: there is none. */
static bool next_word(struct nd_view *rest, struct text_word *out)
{
    size_t len = 0, gap;

    while (len < rest->len && !nd_is_white(rest->data[len]))
        len++;
    for (gap = len; gap < rest->len && nd_is_white(rest->data[gap]);)
        gap++;
    *out = (struct text_word){
        .word = {rest->data, len}, .gap = {rest->data + len, gap - len}, .is_open = true};
    *rest = nd_view_from(*rest, gap);
    return len > 0;
}

/* Take the bytes before the first word. */
static struct nd_view take_blanks(struct nd_view *rest)
{
    struct nd_view blanks = {rest->data, 0};

    while (blanks.len < rest->len && nd_is_white(rest->data[blanks.len]))
        blanks.len++;
    *rest = nd_view_from(*rest, blanks.len);
    return blanks;
}

static bool cut_words(struct perturbing *p, struct nd_view rest)
{
    struct text_word word;

    for (p->n_words = 0; next_word(&rest, &word); p->word[p->n_words++] = word)
        if (!ND_RESERVE(p->word, &p->word_capacity, p->n_words + 1) ||
            !ND_RESERVE(p->place, &p->place_capacity, p->n_words + 1))
            return false;
    return true;
}

/* Leave only words open that are one token, which is in the lexicon. */
static enum nd_status close_others(struct perturbing *p, struct nd_view text, struct nd_error *err)
{
    struct nd_token *token = NULL;
    size_t n = 0, k = 0;
    enum nd_status status = nd_text_tokens(text.data, text.len, &token, &n, err);

    for (size_t i = 0; status == ND_OK && i < p->n_words; i++) {
        struct text_word *w = &p->word[i];
        const size_t from = (size_t)(w->word.data - text.data), to = from + w->word.len;
        size_t first;

        while (k < n && token[k].offset < from)
            k++;
        for (first = k; k < n && token[k].offset < to;)
            k++;
        w->is_open = k == first + 1 && nd_hash_set_has(&p->lexicon, token[first].hash);
    }
    free(token);
    return status;
}

/* ---- The words that are inserted ------------------------------------------------------------- */

static bool copy_word(struct nd_view *to, struct nd_view word)
{
    char *copy = malloc(word.len + 1);

    if (!copy)
        return false;
    memcpy(copy, word.data, word.len);
    free((char *)(uintptr_t)to->data);
    to->data = copy;
    to->len = word.len;
    return true;
}

static bool add_to_pool(struct perturbing *p, struct nd_view word, size_t at)
{
    if (at == p->n_pool) {
        if (!ND_RESERVE(p->pool, &p->pool_capacity, p->n_pool + 1))
            return false;
        p->pool[p->n_pool++] = (struct nd_view){NULL, 0};
    }
    return copy_word(&p->pool[at], word);
}

/* Keep a sample of the words of all documents, each as likely as any other (Vitter 1985, R). */
static enum nd_status take_words(void *context, const struct nd_parsed *parsed,
                                 struct nd_error *err)
{
    struct perturbing *p = context;
    struct nd_view rest = parsed->document.text;
    struct text_word word;

    (void)take_blanks(&rest);
    while (next_word(&rest, &word)) {
        struct draws d = {nd_mix64(nd_mix64(p->params->seed) ^ 1), p->n_seen};
        const uint64_t at = p->n_seen < POOL_WORDS ? p->n_seen : draw_below(&d, p->n_seen + 1);

        p->n_seen++;
        if (at < POOL_WORDS && !add_to_pool(p, word.word, (size_t)at))
            return no_memory(err);
    }
    return ND_OK;
}

/* Find where the last cell of a row begins. */
static size_t behind_tabs(struct nd_view line)
{
    size_t at = line.len;

    while (at && line.data[at - 1] != '\t')
        at--;
    return at;
}

/* The `text` hook: a word of the lexicon. */
static enum nd_status take_line(void *context, const struct nd_record *record, struct nd_error *err)
{
    struct perturbing *p = context;
    const struct nd_view line = nd_line_without_end(nd_without_mark(record->bytes)),
                         cell = nd_view_from(line, behind_tabs(line)),
                         word = nd_view_trim(cell.data, cell.data + cell.len);
    struct nd_token *token = NULL;
    size_t n = 0;
    enum nd_status status;

    if (!word.len)
        return ND_OK;
    status = nd_text_tokens(word.data, word.len, &token, &n, err);
    if (status == ND_OK && n != 1)
        status = nd_fail(err, ND_EINPUT, "%s:%" PRIu64 ": a line of a lexicon is one word",
                         p->params->lexicon, record->line);
    if (status == ND_OK) {
        (void)nd_hash_set_add(&p->lexicon, token[0].hash);
        if (!add_to_pool(p, word, p->n_pool) || p->lexicon.is_full)
            status = no_memory(err);
    }
    free(token);
    return status;
}

/* The `row` and `object` hooks: JSON is no list of words. */
static enum nd_status refuse_object(void *context, const struct nd_document *object, uint64_t line,
                                    struct nd_error *err)
{
    const struct perturbing *p = context;

    (void)object;
    return nd_fail(err, ND_EINPUT, "%s:%" PRIu64 ": a line of a lexicon is one word",
                   p->params->lexicon, line);
}

static enum nd_status refuse_row(void *context, const struct nd_document *row, struct nd_view at,
                                 struct nd_view kept, struct nd_view kept_at, uint64_t line,
                                 struct nd_error *err)
{
    (void)at;
    (void)kept;
    (void)kept_at;
    return refuse_object(context, row, line, err);
}

static enum nd_status read_lexicon(struct perturbing *p, struct nd_error *err)
{
    struct nd_manifest lines = {.n_rows = 0};
    const struct nd_manifest_hooks hooks = {
        .row = refuse_row, .object = refuse_object, .text = take_line, .context = p};
    enum nd_status status;

    p->lexicon.bytes_max = SIZE_MAX;
    status = nd_manifest_each(&lines, p->params->lexicon, &hooks, err);
    nd_manifest_release(&lines);
    if (status == ND_OK && !p->n_pool)
        status = nd_fail(err, ND_EINPUT, "%s: there is no word", p->params->lexicon);
    return status;
}

static bool is_some(const struct nd_perturb_amount *amount)
{
    return amount->words || amount->share.p;
}

/* Fill the pool, if any word is inserted. */
static enum nd_status find_words(struct perturbing *p, const struct nd_run_options *options,
                                 struct nd_error *err)
{
    static const struct nd_run_request request = {.ignores_signatures = true};
    enum nd_status status;

    if (p->params->lexicon)
        return read_lexicon(p, err);
    if (!is_some(&p->params->insert) && !is_some(&p->params->replace))
        return ND_OK;
    for (size_t i = 0; i < options->n_paths; i++)
        if (strcmp(options->paths[i], "-") == 0)
            return nd_fail(err, ND_EINVAL,
                           "words that are inserted are those of the documents, which are read "
                           "twice: name files, or a --lexicon");
    status = nd_use_begin(&p->first, options, &request, NULL, err);
    if (status == ND_OK)
        status = nd_use_walk(&p->first, -1, take_words, p, err);
    return nd_use_end(&p->first, status, 0, NULL, err);
}

/* ---- The edits of a document ----------------------------------------------------------------- */

/* How many words of n an amount is; a part of a word is one as often as its size says. */
static uint64_t words_of(const struct nd_perturb_amount *amount, uint64_t n, struct draws *d)
{
    const uint64_t chance = draw(d);

    if (amount->words || !amount->share.p)
        return amount->words;
    return (uint64_t)((unsigned __int128)n * amount->share.p / amount->share.q) +
           (draw_below(&(struct draws){chance, 0}, amount->share.q) <
            (uint64_t)((unsigned __int128)n * amount->share.p % amount->share.q));
}

/* List the open words in an order drawn at random; returns how many there are. */
static size_t shuffle(struct perturbing *p, struct draws *d)
{
    size_t n = 0;

    for (size_t i = 0; i < p->n_words; i++)
        if (p->word[i].is_open)
            p->place[n++] = (uint32_t)i;
    for (size_t i = n; i > 1; i--) {
        const size_t k = (size_t)draw_below(d, i);
        const uint32_t place = p->place[i - 1];

        p->place[i - 1] = p->place[k];
        p->place[k] = place;
    }
    return n;
}

/* Whether a word can change places with the next. */
static bool can_swap(const struct perturbing *p, size_t i)
{
    return i + 1 < p->n_words && p->word[i].edit == KEPT && p->word[i + 1].edit == KEPT &&
           !nd_view_equal(p->word[i].word, p->word[i + 1].word);
}

/* Give `count` words of the n places an edit, in their order. */
static void give(struct perturbing *p, size_t n, uint64_t count, enum word_edit edit)
{
    for (size_t i = 0; i < n && count; i++) {
        struct text_word *w = &p->word[p->place[i]];

        if (edit == SWAPPED ? !can_swap(p, p->place[i]) : w->edit != KEPT)
            continue;
        w->edit = (unsigned char)edit;
        if (edit == SWAPPED)
            w[1].edit = SWAPPED_WITH;
        count--;
        p->edits++;
    }
}

static void choose(struct perturbing *p, struct draws *d, uint64_t *inserted_last)
{
    const struct nd_perturb_params *x = p->params;
    const size_t n = shuffle(p, d);
    const uint64_t removed = words_of(&x->remove, n, d), replaced = words_of(&x->replace, n, d),
                   swapped = words_of(&x->swap, n, d), inserted = words_of(&x->insert, n, d);

    /* Swaps need two words that stay, so they come first. */
    give(p, n, swapped, SWAPPED);
    give(p, n, removed, REMOVED);
    give(p, n, p->n_pool ? replaced : 0, REPLACED);
    for (uint64_t i = 0; p->n_pool && i < inserted; i++) {
        const uint64_t at = draw_below(d, p->n_words + 1);

        if (at < p->n_words)
            p->word[at].inserted++;
        else
            ++*inserted_last;
        p->edits++;
    }
}

static void put(struct perturbing *p, struct nd_view bytes)
{
    nd_json_bytes(&p->text, bytes.data, bytes.len);
}

/* A word of the pool that differs from this one, unless none was found. */
static struct nd_view other_word(struct perturbing *p, struct nd_view word, struct draws *d)
{
    struct nd_view other = word;

    for (unsigned tries = 0; tries < 16 && nd_view_equal(word, other); tries++)
        other = p->pool[draw_below(d, p->n_pool)];
    return other;
}

static void write_words(struct perturbing *p, struct draws *d, uint64_t inserted_last)
{
    static const struct nd_view blank = {" ", 1}, none = {"", 0};
    bool needs_blank = false;

    for (size_t i = 0; i < p->n_words; i++) {
        const struct text_word *w = &p->word[i];

        for (uint32_t k = 0; k < w->inserted; k++) {
            put(p, other_word(p, none, d));
            put(p, blank);
        }
        if (w->edit == REMOVED)
            continue;
        put(p, w->edit == REPLACED       ? other_word(p, w->word, d)
               : w->edit == SWAPPED      ? w[1].word
               : w->edit == SWAPPED_WITH ? w[-1].word
                                         : w->word);
        put(p, w->gap);
        needs_blank = !w->gap.len;
    }
    for (uint64_t k = 0; k < inserted_last; k++) {
        if (needs_blank)
            put(p, blank);
        put(p, other_word(p, none, d));
        needs_blank = true;
    }
}

static enum nd_status end_document(struct perturbing *p, const struct nd_name *name,
                                   struct nd_view text, uint64_t edits, struct nd_error *err)
{
    nd_cell_text(&p->use, "text", text);
    nd_cell_uint(&p->use, "words", p->n_words);
    nd_cell_uint(&p->use, "edits", edits);
    if (p->params->beside)
        nd_cell_name(&p->use, "cluster", name);
    return nd_row_end(&p->use, err);
}

/* Write the document as it is, and begin the row of its edited copy with another id. */
static enum nd_status put_original(struct perturbing *p, const struct nd_name *name,
                                   struct nd_view text, struct nd_error *err)
{
    enum nd_status status;

    nd_cell_name(&p->use, "id", name);
    status = end_document(p, name, text, 0, err);
    p->id.text.len = 0;
    nd_json_bytes(&p->id, name->text.data, name->text.len);
    nd_json_bytes(&p->id, "~", 1);
    if (p->id.failed)
        return no_memory(err);
    nd_cell_text(&p->use, "id", (struct nd_view){p->id.text.data, p->id.text.len});
    return status;
}

static enum nd_status put_document(struct perturbing *p, const struct nd_name *name,
                                   struct nd_view original, struct nd_error *err)
{
    enum nd_status status = ND_OK;

    if (p->text.failed)
        return no_memory(err);
    p->n_edited += p->edits > 0;
    if (p->params->beside)
        status = put_original(p, name, original, err);
    else
        nd_cell_name(&p->use, "id", name);
    return status == ND_OK
               ? end_document(p, name, (struct nd_view){p->text.text.data, p->text.text.len},
                              p->edits, err)
               : status;
}

/* How many words may be edited. */
static size_t count_open(const struct perturbing *p)
{
    size_t n = 0;

    for (size_t i = 0; i < p->n_words; i++)
        n += p->word[i].is_open;
    return n;
}

static enum nd_status take(void *context, const struct nd_parsed *parsed, struct nd_error *err)
{
    struct perturbing *p = context;
    const struct nd_name name = nd_use_name(&p->use, parsed);
    const uint64_t hash = nd_hash_bytes(name.text.data, name.text.len);
    struct draws d = {nd_mix64(nd_mix64(p->params->seed) + hash), 0};
    struct nd_view rest = parsed->document.text;
    uint64_t inserted_last = 0;

    p->text.text.len = 0;
    p->edits = 0;
    put(p, take_blanks(&rest));
    if (!cut_words(p, rest))
        return no_memory(err);
    if (p->params->lexicon) {
        enum nd_status status = close_others(p, parsed->document.text, err);

        if (status != ND_OK)
            return status;
    }
    if (count_open(p) < p->params->least)
        return ND_OK;
    choose(p, &d, &inserted_last);
    write_words(p, &d, inserted_last);
    return put_document(p, &name, parsed->document.text, err);
}

/* ---- The whole ------------------------------------------------------------------------------- */

static void release(struct perturbing *p)
{
    for (size_t i = 0; i < p->n_pool; i++)
        free((char *)(uintptr_t)p->pool[i].data);
    free(p->pool);
    free(p->word);
    free(p->place);
    nd_hash_set_release(&p->lexicon);
    nd_json_release(&p->text);
    nd_json_release(&p->id);
}

enum nd_status nd_run_perturb(const struct nd_run_options *options,
                              const struct nd_perturb_params *params,
                              const struct nd_run_events *events, struct nd_use_summary *summary,
                              struct nd_error *err)
{
    static const struct nd_run_request request = {.ignores_signatures = true,
                                                  .writes_output = true};
    struct perturbing p = {.params = params};
    struct nd_error room = {0};
    enum nd_status status;

    err = err ? err : &room;
    *err = (struct nd_error){0};
    status = find_words(&p, options, err);
    if (status == ND_OK) {
        status = nd_use_begin(&p.use, options, &request, events, err);
        if (status == ND_OK)
            status = nd_use_open(&p.use, true, err);
        if (status == ND_OK)
            status = nd_use_walk(&p.use, -1, take, &p, err);
        status = nd_use_end(&p.use, status, p.n_edited, summary, err);
    }
    release(&p);
    return nd_run_status(status, err);
}
