/* copied_passage.c - the passage of a text that was copied of a document of which shingles are left */
#include "evidence/copied_passage.h"

#include <stdlib.h>

#include <neardup/text.h>

#include "base/memory.h"
#include "recipe/recipe_struct.h"
#include "text/mail_quotes.h"

/* The passage of the text that begins at this token, and has so many. */
static struct nd_row_passage piece_of(struct nd_view text, const struct nd_token *token,
                                      size_t first, size_t n)
{
    const struct nd_token *last = &token[first + n - 1];
    uint64_t from = token[first].offset, to = last->offset + last->len;

    return (struct nd_row_passage){{text.data + from, (size_t)(to - from)}, from, n};
}

enum nd_status nd_copied_passage(const struct nd_recipe *recipe, const struct nd_sketch_row *row,
                                 struct nd_view text, struct nd_row_passage *passage,
                                 struct nd_error *err)
{
    struct nd_mail_quotes quotes = {0};
    unsigned w = recipe->dedup.sketch.w;
    struct nd_view own = text; /* with the same places */
    const uint64_t *shingles = row->shingles;
    struct nd_token *token = NULL;
    size_t n_tokens, first = 0, n;
    uint64_t *hash, whole;
    enum nd_status status;

    if (recipe->dedup.sketch.unit != ND_SHINGLE_WORDS)
        return ND_OK;
    if (recipe->dedup.sketch.mail_quotes == ND_QUOTES_DROP && !nd_mail_quotes_blank(&quotes, &own))
        status = nd_fail(err, ND_ENOMEM, "out of memory");
    else
        status = nd_text_tokens(own.data, own.len, &token, &n_tokens, err);
    nd_mail_quotes_release(&quotes);
    if (status != ND_OK)
        return status;
    hash = nd_alloc_array(n_tokens + 1, sizeof *hash);
    for (size_t i = 0; hash && i < n_tokens; i++)
        hash[i] = token[i].hash;
    if (row->tokens < w && row->n_shingles == 1) {
        w = (unsigned)row->tokens;
        whole = nd_shingle_within(shingles[0], w);
        shingles = &whole;
    }
    n = hash ? nd_shingles_longest_run(hash, n_tokens, w, shingles, row->n_shingles, &first) : 0;
    if (n)
        *passage = piece_of(text, token, first, n);
    status = hash ? ND_OK : nd_fail(err, ND_ENOMEM, "out of memory");
    free(hash);
    free(token);
    return status;
}
