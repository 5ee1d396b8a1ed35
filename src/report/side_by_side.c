/* side_by_side.c - two texts beside each other in a page, with the words marked that differ */

/*
 * The edit script of the tokens (src/match/edit_distance.c) is cut where both texts have long runs of
 * equal words. Each piece becomes a row of the table, and what is left out between two pieces a row
 * that says how many words it is.
 *
 *     script   keep 90 | replace 2 | keep 3 | insert 1 | keep 400 | remove 1 | keep 10
 *     rows     (70 words) | 20 …      3 …        … 20 | (360 words) | 20 … 10
 */
#include "report/side_by_side.h"

#include "base/memory.h"
#include "report/html_page.h"
#include "text/places.h"

#include <neardup/compare.h>

#include <stdlib.h>
#include <string.h>

/* Cells of the table of distances: about a tenth of a second. */
#define CELLS_MOST (20u * 1000 * 1000)

struct tokens {
    struct nd_view text;
    struct nd_token *token;
    uint64_t *hash;
    size_t n;
};

struct two_texts {
    struct tokens of[2];
    struct nd_edit *edit;
    size_t n_edits;
};

static enum nd_status find_tokens(struct tokens *t, struct nd_view text, struct nd_error *err)
{
    enum nd_status status = nd_tokens_in_place(text.data, text.len, &t->token, &t->n, err);

    t->text = text;
    if (status != ND_OK)
        return status;
    t->hash = nd_alloc_array(t->n + 1, sizeof *t->hash);
    for (size_t i = 0; t->hash && i < t->n; i++)
        t->hash[i] = t->token[i].hash;
    return t->hash ? ND_OK : nd_fail(err, ND_ENOMEM, "out of memory");
}

static void release(struct two_texts *s)
{
    for (unsigned k = 0; k < 2; k++) {
        free(s->of[k].token);
        free(s->of[k].hash);
    }
    free(s->edit);
}

static int by_value(const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

    return a < b ? -1 : a > b;
}

static uint64_t *sorted_copy(const struct tokens *t)
{
    uint64_t *copy = nd_alloc_array(t->n + 1, sizeof *copy);

    if (!copy)
        return NULL;
    memcpy(copy, t->hash, t->n * sizeof *copy);
    qsort(copy, t->n, sizeof *copy, by_value);
    return copy;
}

static bool has(const uint64_t *sorted, size_t n, uint64_t hash)
{
    return bsearch(&hash, sorted, n, sizeof hash, by_value) != NULL;
}

/* Append a run of one side's tokens to what is shown, as `kind` where the other side has none. */
static bool put_edit(struct two_texts *s, size_t *capacity, struct nd_edit edit)
{
    struct nd_edit *last = s->n_edits ? &s->edit[s->n_edits - 1] : NULL;

    if (last && last->kind == edit.kind) {
        last->count += edit.count;
        return true;
    }
    if (!ND_RESERVE(s->edit, capacity, s->n_edits + 1))
        return false;
    s->edit[s->n_edits++] = edit;
    return true;
}

/* Make a rough script: words that the other text has nowhere are removed or inserted; the others go
 * beside each other as far as they reach, though they may not be the same. */
static enum nd_status make_rough(struct two_texts *s, struct nd_error *err)
{
    uint64_t *sorted[2] = {sorted_copy(&s->of[0]), sorted_copy(&s->of[1])};
    size_t at[2] = {0, 0}, capacity = 0;
    bool good = sorted[0] && sorted[1];

    while (good && (at[0] < s->of[0].n || at[1] < s->of[1].n)) {
        bool can[2];

        for (unsigned k = 0; k < 2; k++)
            can[k] = at[k] < s->of[k].n && has(sorted[1 - k], s->of[1 - k].n, s->of[k].hash[at[k]]);
        if (can[0] && can[1])
            good = put_edit(s, &capacity, (struct nd_edit){ND_EDIT_KEEP, at[0]++, at[1]++, 1});
        else if (at[0] < s->of[0].n && !can[0])
            good = put_edit(s, &capacity, (struct nd_edit){ND_EDIT_REMOVE, at[0]++, at[1], 1});
        else if (at[1] < s->of[1].n && !can[1])
            good = put_edit(s, &capacity, (struct nd_edit){ND_EDIT_INSERT, at[0], at[1]++, 1});
        else if (at[0] < s->of[0].n)
            good = put_edit(s, &capacity, (struct nd_edit){ND_EDIT_REMOVE, at[0]++, at[1], 1});
        else
            good = put_edit(s, &capacity, (struct nd_edit){ND_EDIT_INSERT, at[0], at[1]++, 1});
    }
    free(sorted[0]);
    free(sorted[1]);
    return good ? ND_OK : nd_fail(err, ND_ENOMEM, "out of memory");
}

static enum nd_status make_script(struct two_texts *s, struct nd_error *err)
{
    const struct nd_edit_costs costs = nd_edit_costs_default();
    const struct tokens *a = &s->of[0], *b = &s->of[1];
    uint64_t limit = nd_edit_limit_for(a->n, b->n, &costs, CELLS_MOST), distance;
    enum nd_status status = nd_edit_script(a->hash, a->n, b->hash, b->n, &costs, limit, &distance,
                                           &s->edit, &s->n_edits, err);

    if (status == ND_OK && distance == ND_EDIT_BEYOND)
        return make_rough(s, err);
    return status;
}

/* ---- Rows --------------------------------------------------------------------------------------- */

/* Append tokens with what follows them in the text; tag: "del", "ins" or NULL. */
static void put_tokens(struct nd_json *page, const struct tokens *t, size_t from, size_t n,
                       const char *tag)
{
    const size_t to = from + n;
    size_t begin, end, next;

    if (!n)
        return;
    begin = from ? (size_t)t->token[from].offset : 0;
    end = (size_t)t->token[to - 1].offset + t->token[to - 1].len;
    next = to < t->n ? (size_t)t->token[to].offset : t->text.len;
    next = next < end ? end : next; /* tokens may share a character: ½ is 1 and 2 */
    if (tag) {
        if (!from) /* what stands before the first word is not marked */
            nd_html_text(page, (struct nd_view){t->text.data, (size_t)t->token[0].offset});
        begin = (size_t)t->token[from].offset;
        nd_html_format(page, "<%s>", tag);
        nd_html_text(page, (struct nd_view){t->text.data + begin, end - begin});
        nd_html_format(page, "</%s>", tag);
        begin = end;
    }
    nd_html_text(page, (struct nd_view){t->text.data + begin, next - begin});
}

static void put_edit_of(struct nd_json *page, const struct two_texts *s, const struct nd_edit *e,
                        unsigned k)
{
    const size_t at = k ? e->at_b : e->at_a;

    if (e->kind == ND_EDIT_KEEP)
        put_tokens(page, &s->of[k], at, e->count, NULL);
    else if (e->kind == ND_EDIT_REPLACE || e->kind == (k ? ND_EDIT_INSERT : ND_EDIT_REMOVE))
        put_tokens(page, &s->of[k], at, e->count, k ? "ins" : "del");
}

static bool changes(const struct nd_edit *edit, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (edit[i].kind != ND_EDIT_KEEP)
            return true;
    return false;
}

static void put_row(struct nd_json *page, const struct two_texts *s, const struct nd_edit *edit,
                    size_t n)
{
    nd_html_format(page, "<tr class=\"%s\">", changes(edit, n) ? "changed" : "same");
    for (unsigned k = 0; k < 2; k++) {
        nd_html_put(page, "<td class=\"text\">");
        for (size_t i = 0; i < n; i++)
            put_edit_of(page, s, &edit[i], k);
        nd_html_put(page, "</td>");
    }
    nd_html_put(page, "</tr>\n");
}

static void put_fold(struct nd_json *page, size_t words)
{
    nd_html_put(page, "<tr class=\"fold\"><td colspan=\"2\">… ");
    nd_html_count(page, words);
    nd_html_put(page, words == 1 ? " equal word …</td></tr>\n" : " equal words …</td></tr>\n");
}

static struct nd_edit part_of(const struct nd_edit *e, size_t from, size_t count)
{
    return (struct nd_edit){e->kind, e->at_a + from, e->at_b + from, count};
}

/* How much of a run of equal words is shown: after the change before it, and before the next one. */
struct shown {
    size_t after, before;
};
static struct shown shown_of(const struct two_texts *s, size_t i, size_t context)
{
    const struct nd_edit *e = &s->edit[i];
    const bool is_first = i == 0, is_last = i + 1 == s->n_edits;
    struct shown shown = {is_first && !is_last ? 0 : context, is_last && !is_first ? 0 : context};

    /* A few words are no longer than the line that would stand for them. */
    if (e->kind != ND_EDIT_KEEP || context == ND_SIDE_WHOLE ||
        e->count <= shown.after + shown.before + context / 2)
        return (struct shown){e->count, 0};
    return shown;
}

/* Append a row of two texts without a word. */
static void put_wordless(struct nd_json *page, const struct two_texts *s)
{
    nd_html_put(page, "<tr class=\"same\">");
    for (unsigned k = 0; k < 2; k++) {
        nd_html_put(page, "<td class=\"text\">");
        nd_html_text(page, s->of[k].text);
        nd_html_put(page, "</td>");
    }
    nd_html_put(page, "</tr>\n");
}

/* Append the rows.  `row` has room for all edits, and one more. */
static void put_rows(struct nd_json *page, const struct two_texts *s, size_t context,
                     struct nd_edit *row)
{
    size_t n = 0;

    if (!s->n_edits)
        put_wordless(page, s);
    for (size_t i = 0; i < s->n_edits; i++) {
        const struct nd_edit *e = &s->edit[i];
        const struct shown shown = shown_of(s, i, context);

        if (shown.after)
            row[n++] = part_of(e, 0, shown.after);
        if (shown.after == e->count)
            continue;
        if (n)
            put_row(page, s, row, n);
        put_fold(page, e->count - shown.after - shown.before);
        n = 0;
        if (shown.before)
            row[n++] = part_of(e, e->count - shown.before, shown.before);
    }
    if (n)
        put_row(page, s, row, n);
}

enum nd_status nd_html_side_by_side(struct nd_json *page, const struct nd_side side[2],
                                    size_t context, struct nd_error *err)
{
    struct two_texts s = {.n_edits = 0};
    struct nd_edit *row = NULL;
    enum nd_status status = find_tokens(&s.of[0], side[0].text, err);

    if (status == ND_OK)
        status = find_tokens(&s.of[1], side[1].text, err);
    if (status == ND_OK)
        status = make_script(&s, err);
    if (status == ND_OK && !(row = nd_alloc_array(s.n_edits + 1, sizeof *row)))
        status = nd_fail(err, ND_ENOMEM, "out of memory");
    if (status == ND_OK) {
        nd_html_put(page, "<div class=\"beside\" tabindex=\"0\" role=\"group\" "
                          "aria-label=\"The two texts\"><table class=\"texts\"><thead><tr>");
        for (unsigned k = 0; k < 2; k++) {
            nd_html_put(page, "<th scope=\"col\">");
            nd_json_bytes(page, side[k].head.data, side[k].head.len);
            nd_html_put(page, "</th>");
        }
        nd_html_put(page, "</tr></thead><tbody>\n");
        put_rows(page, &s, context, row);
        nd_html_put(page, "</tbody></table></div>\n");
    }
    free(row);
    release(&s);
    return status;
}
