/* differing_words.c - the words that only one of two texts has, and their class */
#include <neardup/compare.h>

#include <neardup/text.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/sort.h"
#include "base/system/c_functions.h"
#include "base/utf8.h"
#include "text/digit.h"
#include "text/places.h"

/* A text, its tokens, and these sorted by hash. */
struct side {
    struct nd_view text;
    struct nd_token *token;
    size_t n;
    struct nd_numbered_value *sorted, *spare;
};

/* ---- Kinds of words --------------------------------------------------------------------------- */

static struct nd_view form_of(const struct side *s, size_t i)
{
    return (struct nd_view){s->text.data + s->token[i].offset, s->token[i].len};
}

/* Whether a word is one of a list, in lower case and with a space behind each; ASCII letters match in
 * both cases. */
static bool is_listed(struct nd_view word, const char *list)
{
    for (const char *end; *list; list = end + 1) {
        end = strchr(list, ' ');
        if ((size_t)(end - list) == word.len &&
            nd_compare_caseless_n(list, word.data, word.len) == 0)
            return true;
    }
    return false;
}

static bool is_month_or_day(struct nd_view word)
{
    return is_listed(word, "january february march april may june july august september october "
                           "november december jan feb mar apr jun jul aug sep sept oct nov dec "
                           "monday tuesday wednesday thursday friday saturday sunday "
                           "mon tue tues wed thu thur thurs fri sat sun ");
}

static bool has_digit(struct nd_view word)
{
    for (size_t at = 0, len; at < word.len; at += len)
        if (nd_is_digit(nd_utf8_decode(word.data + at, &len)))
            return true;
    return false;
}

/* Return how many ASCII digits a word consists of; 0: it has something else, too. */
static size_t digits(struct nd_view word)
{
    for (size_t i = 0; i < word.len; i++)
        if (word.data[i] < '0' || word.data[i] > '9')
            return 0;
    return word.len;
}

/* Return the one ASCII character between token i and the next one; 0: there is none, or more. */
static char between(const struct side *s, size_t i)
{
    const struct nd_token *token = &s->token[i];

    return i + 1 < s->n && token[1].offset == token->offset + token->len + 1
               ? s->text.data[token->offset + token->len]
               : 0;
}

/* Whether the tokens from i on are written as 2026-11-24, 24/11/26 or 24.11.2026. */
static bool is_written_date(const struct side *s, size_t i)
{
    const char mark = between(s, i);

    if ((mark != '-' && mark != '/' && mark != '.') || between(s, i + 1) != mark)
        return false;
    for (size_t k = 0; k < 3; k++) {
        const size_t n = digits(form_of(s, i + k));

        if (n != 1 && n != 2 && (n != 4 || k == 1))
            return false;
    }
    return true;
}

/* Whether tokens i and i + 1 are written as 12:30. */
static bool is_written_time(const struct side *s, size_t i)
{
    const size_t hours = between(s, i) == ':' ? digits(form_of(s, i)) : 0;

    return (hours == 1 || hours == 2) && digits(form_of(s, i + 1)) == 2;
}

/* Whether token i is a number that belongs to a date or to a time of the day. */
static bool is_in_date(const struct side *s, size_t i)
{
    for (size_t k = 0; k < 3 && k <= i; k++)
        if (is_written_date(s, i - k) || (k < 2 && is_written_time(s, i - k)))
            return true;
    for (size_t other = i < 2 ? 0 : i - 2; other < s->n && other <= i + 2; other++) {
        const size_t middle = (other + i) / 2;

        if (other != i && is_month_or_day(form_of(s, other)) &&
            (other + 1 == i || other == i + 1 || has_digit(form_of(s, middle))))
            return true;
    }
    return false;
}

/* Whether a word is written with a capital: its first code point is folded to another one. */
static bool has_capital(struct nd_view word)
{
    char *folded = NULL;
    size_t len, folded_len = 0;
    bool is_other;

    (void)nd_utf8_decode(word.data, &len);
    if (word.data[0] >= 'A' && word.data[0] <= 'Z')
        return true;
    if (len == 1 || nd_text_normalise(word.data, len, &folded, &folded_len, NULL) != ND_OK)
        return false;
    is_other = folded_len == len && memcmp(folded, word.data, len) != 0;
    free(folded);
    return is_other;
}

/* Whether token i is am or pm behind a number. */
static bool is_half_day(const struct side *s, size_t i)
{
    return i > 0 && is_listed(form_of(s, i), "am pm ") && has_digit(form_of(s, i - 1));
}

/* Whether a word is written in ASCII capitals alone, and is longer than one letter. */
static bool is_all_capitals(struct nd_view word)
{
    for (size_t i = 0; i < word.len; i++)
        if (word.data[i] < 'A' || word.data[i] > 'Z')
            return false;
    return word.len > 1;
}

/* Whether token i begins a line or a sentence. */
static bool begins_sentence(const struct side *s, size_t i)
{
    size_t at = s->token[i].offset;

    while (at > 0 && strchr(" \t\"'([", s->text.data[at - 1]))
        at--;
    return at == 0 || strchr(".!?:\r\n", s->text.data[at - 1]);
}

/* Whether a capital at token i tells nothing: it begins a sentence, or stands among capitals. */
static bool may_have_capital(const struct side *s, size_t i)
{
    return begins_sentence(s, i) || (is_all_capitals(form_of(s, i)) &&
                                     ((i > 0 && is_all_capitals(form_of(s, i - 1))) ||
                                      (i + 1 < s->n && is_all_capitals(form_of(s, i + 1)))));
}

/* The class of token i, or ND_DIFFERS_NOTHING if it could be a name or any other word. */
static enum nd_differs class_of(const struct side *s, size_t i)
{
    const struct nd_view word = form_of(s, i);

    if (has_digit(word))
        return is_in_date(s, i) ? ND_DIFFERS_DATES : ND_DIFFERS_NUMBERS;
    if (is_month_or_day(word) || is_half_day(s, i))
        return ND_DIFFERS_DATES;
    if (!has_capital(word))
        return ND_DIFFERS_WORDS;
    return may_have_capital(s, i) ? ND_DIFFERS_NOTHING : ND_DIFFERS_NAMES;
}

/* The class of a word by its tokens, which are sorted from `from` to `to`. */
static enum nd_differs class_of_word(const struct side *s, size_t from, size_t to)
{
    enum nd_differs greatest = ND_DIFFERS_NOTHING;

    for (size_t i = from; i < to; i++) {
        const enum nd_differs by = class_of(s, s->sorted[i].number);

        greatest = by > greatest ? by : greatest;
    }
    return greatest == ND_DIFFERS_NOTHING ? ND_DIFFERS_WORDS : greatest;
}

/* ---- Words of one text only ------------------------------------------------------------------- */

static enum nd_status open_side(struct side *s, struct nd_view text, struct nd_error *err)
{
    s->text = text;
    return nd_tokens_in_place(text.data, text.len, &s->token, &s->n, err);
}

static enum nd_status sort_side(struct side *s, struct nd_error *err)
{
    s->sorted = nd_alloc_array(s->n, sizeof *s->sorted);
    s->spare = nd_alloc_array(s->n, sizeof *s->spare);
    if (!s->sorted || !s->spare)
        return nd_fail(err, ND_ENOMEM, "out of memory");
    for (size_t i = 0; i < s->n; i++)
        s->sorted[i] = (struct nd_numbered_value){.value = s->token[i].hash, .number = (uint32_t)i};
    nd_sort_numbered(&s->sorted, &s->spare, s->n);
    return ND_OK;
}

static void close_side(struct side *s)
{
    free(s->token);
    free(s->sorted);
    free(s->spare);
}

static size_t end_of_equal(const struct side *s, size_t from)
{
    size_t to = from;

    while (to < s->n && s->sorted[to].value == s->sorted[from].value)
        to++;
    return to;
}

/* Remember a word of one text only, by its first token: the earliest ones, in order. */
static void note_word(uint32_t first[ND_DIFFERENCE_WORDS_MAX], uint64_t n, uint32_t token)
{
    size_t i = n < ND_DIFFERENCE_WORDS_MAX ? n : ND_DIFFERENCE_WORDS_MAX;

    if (i == ND_DIFFERENCE_WORDS_MAX && token > first[i - 1])
        return;
    if (i == ND_DIFFERENCE_WORDS_MAX)
        i--;
    for (; i > 0 && first[i - 1] > token; i--)
        first[i] = first[i - 1];
    first[i] = token;
}

/* Cut a word that is too long to be listed, between two characters. */
static struct nd_view shortened(struct nd_view word)
{
    if (word.len <= ND_DIFFERENCE_WORD_BYTES)
        return word;
    word.len = ND_DIFFERENCE_WORD_BYTES;
    while (((unsigned char)word.data[word.len] & 0xC0) == 0x80)
        word.len--;
    return word;
}

static void list_words(const struct side *s, const struct side *other, unsigned which,
                       struct nd_difference *out)
{
    uint32_t first[ND_DIFFERENCE_WORDS_MAX];
    size_t at = 0;

    for (size_t from = 0, to; from < s->n; from = to) {
        const uint64_t hash = s->sorted[from].value;
        enum nd_differs by;

        to = end_of_equal(s, from);
        while (at < other->n && other->sorted[at].value < hash)
            at++;
        if (at < other->n && other->sorted[at].value == hash)
            continue;
        note_word(first, out->only[which]++, s->sorted[from].number);
        by = class_of_word(s, from, to);
        out->by = by > out->by ? by : out->by;
    }
    for (size_t i = 0; i < out->only[which] && i < ND_DIFFERENCE_WORDS_MAX; i++)
        out->word[which][i] = shortened(form_of(s, first[i]));
}

static bool is_same_order(const struct side *a, const struct side *b)
{
    if (a->n != b->n)
        return false;
    for (size_t i = 0; i < a->n; i++)
        if (a->token[i].hash != b->token[i].hash)
            return false;
    return true;
}

enum nd_status nd_difference_of(struct nd_view a, struct nd_view b, struct nd_difference *out,
                                struct nd_error *err)
{
    struct side side[2] = {{.n = 0}, {.n = 0}};
    enum nd_status status = open_side(&side[0], a, err);
    bool is_same = false;

    if (status == ND_OK)
        status = open_side(&side[1], b, err);
    if (status == ND_OK)
        is_same = is_same_order(&side[0], &side[1]);
    for (unsigned k = 0; k < 2 && status == ND_OK && !is_same; k++)
        status = sort_side(&side[k], err);
    if (status == ND_OK) {
        *out = (struct nd_difference){.by = is_same ? ND_DIFFERS_NOTHING : ND_DIFFERS_ORDER};
        if (!is_same) {
            list_words(&side[0], &side[1], 0, out);
            list_words(&side[1], &side[0], 1, out);
        }
    }
    close_side(&side[0]);
    close_side(&side[1]);
    return status;
}

int nd_forms_apart(enum nd_forms forms, enum nd_differs by)
{
    switch (by) {
    case ND_DIFFERS_NUMBERS: return forms != ND_FORMS_NONE;
    case ND_DIFFERS_NAMES: return forms == ND_FORMS_NAMES || forms == ND_FORMS_DATES;
    case ND_DIFFERS_DATES: return forms == ND_FORMS_DATES;
    default: return false;
    }
}

const char *nd_differs_name(enum nd_differs by)
{
    static const char *const name[] = {"nothing", "order", "dates", "numbers", "names", "words"};

    return name[by];
}
