/* sketched_fingerprints.c - the fingerprints of a sketch file, for index and join */
#include "base/system/c_functions.h"
#include "index/fingerprints.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <neardup/hamming.h>
#include <neardup/recipe.h>
#include <neardup/sketch_file.h>

struct sketched_fingerprints {
    struct nd_sketch_file *file;
    struct nd_sketch_block block;
    size_t at;           /* the next row of it */
    uint32_t next_block; /* that is read when it has ended */
    bool is_signature;   /* else they are simhashes of [sketch] */
    unsigned bits;
    char *place; /* of a document without an id */
};

/* Find the fingerprints that the recipe of the file defines. */
static enum nd_status find_fingerprints(struct sketched_fingerprints *s, const char *path,
                                        struct nd_error *err)
{
    const struct nd_view text = nd_sketch_file_info(s->file)->recipe;
    struct nd_recipe *recipe = nd_recipe_new(err);
    struct nd_recipe_simhash simhash;
    enum nd_status status =
        recipe ? nd_recipe_parse(recipe, path, text.data, text.len, err) : ND_ENOMEM;

    if (status == ND_OK)
        status = nd_recipe_simhash_of(recipe, &simhash, err);
    if (status == ND_OK) {
        s->is_signature = simhash.signature >= 0;
        s->bits = simhash.bits;
    }
    nd_recipe_free(recipe);
    return status;
}

struct sketched_fingerprints *sketched_open(const char *path, unsigned bits)
{
    struct sketched_fingerprints *s = calloc(1, sizeof *s);
    struct nd_error err;

    if (!s) {
        say("out of memory");
        return NULL;
    }
    s->file = nd_sketch_file_open(path, &err);
    if (!s->file || find_fingerprints(s, path, &err) != ND_OK)
        say("%s", err.message);
    else if (s->bits != bits)
        say("%s: fingerprints of %u bits, not %u; see --bits", path, s->bits, bits);
    else
        return s;
    sketched_close(s);
    return NULL;
}

void sketched_close(struct sketched_fingerprints *s)
{
    if (!s)
        return;
    nd_sketch_block_release(&s->block);
    nd_sketch_file_close(s->file);
    free(s->place);
    free(s);
}

/* The id, or the place that stands for it.  False: out of memory, which was reported. */
static bool name_row(struct sketched_fingerprints *s, const struct nd_sketch_row *row,
                     const char **id, size_t *len)
{
    const struct nd_sketch_source *source = nd_sketch_file_source(s->file, row->source);
    char line[24] = "";
    int n;

    *id = row->id.data;
    *len = row->id.len;
    if (row->id_kind != ND_ID_NONE)
        return true;
    if (row->line)
        (void)snprintf(line, sizeof line, ":%llu", (unsigned long long)row->line);
    free(s->place);
    n = nd_print_new(&s->place, "%s%s%s%s", source->path, source->entry ? "!" : "",
                     source->entry ? source->entry : "", line);
    if (n < 0) {
        s->place = NULL;
        say("out of memory for ids");
        return false;
    }
    *id = s->place;
    *len = (size_t)n;
    return true;
}

int sketched_next(struct sketched_fingerprints *s, uint64_t *row, const char **id, size_t *len)
{
    const struct nd_sketch_row *next;
    const uint64_t *word;
    struct nd_error err;

    while (s->at == s->block.n) {
        if (s->next_block == nd_sketch_file_info(s->file)->blocks)
            return 2;
        if (nd_sketch_file_read(s->file, s->next_block++, ND_SKETCH_FILE_ROWS, &s->block, &err) !=
            ND_OK) {
            say("%s", err.message);
            return -1;
        }
        s->at = 0;
    }
    next = &s->block.rows[s->at++];
    word = s->is_signature    ? nd_sketch_row_words(next, 0)
           : next->n_shingles ? &next->simhash
                              : NULL;
    if (!word)
        return 0;
    memcpy(row, word, nd_hamming_words(s->bits) * sizeof *row);
    return name_row(s, next, id, len) ? 1 : -1;
}
