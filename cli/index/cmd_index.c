/* cmd_index.c - neardup index: index files built, queried and described; which part is run */

/*
 * The subcommands are rows of a table at the end of the file: name, the numbers of paths allowed,
 * and the function. What build, add and query read may be fingerprints or documents;
 * document_fingerprints.c turns documents into fingerprints by the recipe of the index.
 */
#include "base/system/c_functions.h"
#include "base/system/descriptor.h"
#include "base/system/naming.h"
#include "file_list.h"
#include "id_list.h"
#include "index/cmd_index_records.h"
#include "index/document_fingerprints.h"
#include "settings.h"
#include "svg.h"

#include <neardup/hamming_file.h>

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const char *const standard_input = "-";

static int failed(const struct nd_error *err)
{
    say("%s", err->message);
    return 2;
}

/* The texts of the ids, NULL for ids without one. NULL: an error was reported. */
static const char **texts_of(const struct fingerprints *f)
{
    const char **text = calloc(f->n + 1, sizeof *text);

    if (!text)
        say("out of memory for %zu ids", f->n);
    for (size_t i = 0; text && i < f->n; i++)
        text[i] = f->id[i] == NO_TEXT ? NULL : f->text + f->id[i];
    return text;
}

/* Build an index of the fingerprints, or add them to an existing one (shape NULL). */
static int write_index(const struct fingerprints *all, const char *index,
                       const struct nd_hamming_shape *shape)
{
    const char **text = texts_of(all);
    const struct nd_hamming_entries entries = {all->row, all->n, NULL, text};
    struct nd_error err;
    int status = 2;

    if (text && (shape ? nd_hamming_file_build(index, shape, &entries, &err)
                       : nd_hamming_file_add(index, &entries, &err)) == ND_OK)
        status = 0;
    else if (text)
        failed(&err);
    free(text);
    return status;
}

/* Whether the output is one of the inputs. */
static bool would_lose(const char *output, const char *path)
{
    bool standard = strcmp(path, "-") == 0;
    struct nd_file_about x, y;

    return nd_path_about(output, &x) &&
           (standard ? nd_descriptor_about(0, &y) : nd_path_about(path, &y)) &&
           nd_file_is_one(&x, &y);
}

static void release_recipe(struct nd_hamming_recipe *recipe)
{
    free((char *)(uintptr_t)recipe->text);
}

/* An index that is built in bounded memory, of fingerprints that are not kept. */
struct bounded_build {
    struct settings *s;
    unsigned *bits; /* known when the first fingerprint comes */
    struct nd_hamming_builder *builder;
};

/* As of struct document_source. */
static bool add_block(void *context, const struct fingerprints *block)
{
    struct bounded_build *b = context;
    const char *tmp = nd_run_options_get(b->s->run, "tmp", 0);
    struct nd_error err;
    enum nd_status status = ND_OK;

    if (!b->builder)
        status =
            nd_hamming_builder_new(&b->builder, *b->bits, tmp ? tmp : nd_folder_for_temporary(),
                                   b->s->hamming.run_memory, &err);
    for (size_t i = 0; i < block->n && status == ND_OK; i++)
        status = nd_hamming_builder_add(b->builder, block->row + i * block->words,
                                        block->id[i] == NO_TEXT ? NULL : block->text + block->id[i],
                                        &err);
    if (status != ND_OK)
        failed(&err);
    return status == ND_OK;
}

/* Read whole files of fingerprints, a block at a time. */
static bool add_files(struct bounded_build *b, const struct hamming_settings *h,
                      const char *const *path, size_t n)
{
    struct fingerprints block = {.row = NULL};
    bool fine = true;

    for (size_t i = 0; i < n && fine; i++) {
        struct fingerprint_file file;

        fine = fingerprint_file_open(&file, h, path[i]);
        do {
            fingerprints_clear(&block);
            fine = fine && fingerprint_file_read(&file, FINGERPRINTS_AT_ONCE, &block) &&
                   add_block(b, &block);
        } while (fine && block.n);
        fingerprint_file_close(&file);
    }
    fingerprints_release(&block);
    return fine;
}

/* Build under --memory: as build(), and the file has the same bytes. */
static int build_bounded(struct settings *s, const char *const *path, size_t n)
{
    struct hamming_settings h = s->hamming;
    struct bounded_build b = {.s = s, .bits = &h.bits};
    struct fingerprints rest = {.row = NULL};
    struct document_source source = {.full = add_block, .context = &b};
    struct nd_hamming_recipe recipe = {.text = NULL};
    struct nd_hamming_shape shape;
    struct nd_error err;
    int status = 2;

    if (!recipe_is_given(s) && !is_sketch_path(path[0]))
        status = check_no_documents(s, false) && check_recipes(&recipe, NULL, path, n) &&
                         add_files(&b, &h, path, n)
                     ? 0
                     : 2;
    else if (documents_recipe(s, &recipe, NULL))
        status = documents_read(&rest, s, &h, &recipe, NULL, path, n, &source);
    if (status != 2 && !add_block(&b, &rest)) /* what is left; and an index of nothing is one too */
        status = 2;
    shape = hamming_shape(&h);
    shape.recipe = source.text ? &source.recipe : recipe.len ? &recipe : NULL;
    if (status != 2 && nd_hamming_builder_finish(b.builder, h.output, &shape, &err) != ND_OK)
        status = failed(&err);
    nd_hamming_builder_free(b.builder);
    release_recipe(&recipe);
    document_source_release(&source);
    fingerprints_release(&rest);
    return status;
}

/* Read documents if a recipe is given, or comes with sketches of them, which is kept in the index;
 * otherwise fingerprints. */
static int build(struct settings *s, const char *const *path, size_t n)
{
    struct hamming_settings h = s->hamming;
    struct fingerprints all = {.row = NULL};
    struct document_source source = {.text = NULL};
    struct nd_hamming_recipe recipe = {.text = NULL};
    int status = 2;

    if (!recipe_is_given(s) && !is_sketch_path(path[0]))
        status = check_no_documents(s, false) && check_recipes(&recipe, NULL, path, n) &&
                         fingerprints_read_files(&all, &h, path, n, NULL)
                     ? 0
                     : 2;
    else if (documents_recipe(s, &recipe, NULL))
        status = documents_read(&all, s, &h, &recipe, NULL, path, n, &source);
    if (status != 2) {
        struct nd_hamming_shape shape = hamming_shape(&h);

        shape.recipe = source.text ? &source.recipe : recipe.len ? &recipe : NULL;
        status = write_index(&all, h.output, &shape) ? 2 : status;
    }
    release_recipe(&recipe);
    document_source_release(&source);
    fingerprints_release(&all);
    return status;
}

static int index_build(struct settings *s, const char *const *path, size_t n)
{
    const struct hamming_settings *h = &s->hamming;

    if (!h->output) {
        say("index build needs --output FILE");
        return 2;
    }
    for (size_t i = 0; i < n; i++)
        if (would_lose(h->output, path[i])) {
            say("'%s' is an input and would be overwritten: choose another output", h->output);
            return 2;
        }
    if (index_becomes_records(s))
        return records_build(s, path, n);
    return h->run_memory ? build_bounded(s, path, n) : build(s, path, n);
}

static int index_add(struct settings *s, const char *const *path, size_t n)
{
    const char *index = path[0], *const *more = n > 1 ? path + 1 : &standard_input;
    struct hamming_settings h = s->hamming;
    struct fingerprints all = {.row = NULL};
    struct document_source source = {.text = NULL};
    struct nd_hamming_recipe recipe;
    struct nd_hamming_shape shape;
    struct nd_error err;
    size_t n_more = n > 1 ? n - 1 : 1;
    int status = 2;

    if (index_is_of_records(index))
        return records_add(s, index, more, n_more);
    if (nd_hamming_file_peek(index, &shape, &recipe, &err) != ND_OK)
        return failed(&err);
    h.bits = shape.bits;
    if (h.has_bits && s->hamming.bits != shape.bits)
        say("%s: an index of %u-bit fingerprints, not %u-bit", index, shape.bits, s->hamming.bits);
    else if (!reads_documents(s, &recipe, more, n_more))
        status = check_no_documents(s, false) && check_recipes(&recipe, index, more, n_more) &&
                         fingerprints_read_files(&all, &h, more, n_more, NULL)
                     ? 0
                     : 2;
    else if (documents_recipe(s, &recipe, index))
        status = documents_read(&all, s, &h, &recipe, index, more, n_more, &source);
    if (status != 2)
        status = write_index(&all, index, NULL) ? 2 : status;
    release_recipe(&recipe);
    document_source_release(&source);
    fingerprints_release(&all);
    return status;
}

static int index_merge(struct settings *s, const char *const *path, size_t n)
{
    const struct hamming_settings *h = &s->hamming;
    const struct nd_hamming_shape given = hamming_shape(h);
    struct nd_hamming_shape shape;
    struct nd_error err;

    if (index_is_of_records(path[0]))
        return records_merge(s, path, n);
    if (n > 1 && !h->output) {
        say("index merge needs --output FILE for more than one index");
        return 2;
    }
    if (nd_hamming_file_peek(path[0], &shape, NULL, &err) != ND_OK)
        return failed(&err);
    if (h->has_bits && h->bits != shape.bits) {
        say("%s: an index of %u-bit fingerprints, not %u-bit", path[0], shape.bits, h->bits);
        return 2;
    }
    if (h->has_distance)
        shape.distance = h->distance;
    if (h->layout && given.layout != shape.layout) { /* what was requested of the other is void */
        shape.layout = given.layout;
        shape.family = given.family;
        shape.tables = 0;
    }
    if (h->tables || h->key_bits) {
        shape.tables = given.tables;
        shape.key_bits = given.key_bits;
    }
    if (h->codec)
        shape.codec = given.codec;
    if (h->family)
        shape.family = given.family;
    shape.max_bytes = given.max_bytes;
    if (h->part_fingerprints)
        shape.part_fingerprints = given.part_fingerprints;
    if (nd_hamming_file_merge(path, n, h->output ? h->output : path[0], &shape, &err) != ND_OK)
        return failed(&err);
    return 0;
}

static int index_remove(struct settings *s, const char *const *path, size_t n)
{
    struct id_list list = {.id = NULL};
    struct nd_error err;
    int status = 2;

    (void)s;
    if (index_is_of_records(path[0]))
        return records_remove(path[0], n > 1 ? path[1] : "-");
    if (id_list_read(&list, n > 1 ? path[1] : "-"))
        status = nd_hamming_file_remove(path[0], (const char *const *)list.id, list.n, NULL,
                                        &err) == ND_OK
                     ? 0
                     : failed(&err);
    id_list_release(&list);
    return status;
}

static int index_verify(struct settings *s, const char *const *path, size_t n)
{
    struct nd_hamming_file *file;
    struct nd_error err;

    (void)n;
    if (index_is_of_records(path[0]))
        return cmd_sketch_file(s, "verify");
    if (nd_hamming_file_open(&file, path[0], &err) != ND_OK)
        return failed(&err);
    if (nd_hamming_file_check(file, &err) != ND_OK) {
        say("%s: %s", path[0], err.message);
        nd_hamming_file_close(file);
        return 2;
    }
    nd_hamming_file_close(file);
    return 0;
}

/* Print how the bytes of the index are used; parts that it does not have are left out. */
static void print_sizes(FILE *out, const struct nd_hamming_file *file, double count)
{
    const struct nd_hamming_file_sizes s = nd_hamming_file_sizes(file);
    unsigned most = nd_hamming_file_shape(file).part_fingerprints;
    double bytes = (double)nd_hamming_file_bytes(file);

    if (most)
        fprintf(out, "parts: %u, of at most %u fingerprints\n", s.parts, most);
    fprintf(out, "segments: %u\nbytes: %.0f\n", s.segments, bytes);
    fprintf(out, "bytes of tables: %llu\n", (unsigned long long)s.tables);
    if (s.fingerprints)
        fprintf(out, "bytes of fingerprints: %llu\n", (unsigned long long)s.fingerprints);
    fprintf(out, "bytes of ids: %llu\n", (unsigned long long)s.ids);
    if (s.unused)
        fprintf(out, "bytes unused: %llu\n", (unsigned long long)s.unused);
    if (s.values)
        fprintf(out, "bits a value in a table: %.2f\n", 8 * (double)s.tables / (double)s.values);
    if (count > 0)
        fprintf(out, "bytes a fingerprint: %.2f\n", bytes / count);
    if (s.sound_headers < 2)
        fprintf(out, "headers: one of two; the next add or merge writes both\n");
}

/* Print the recipe after the figures, as neardup recipe show --canonical does. */
static void print_recipe(FILE *out, const struct nd_hamming_file *file)
{
    const struct nd_hamming_recipe *recipe = nd_hamming_file_recipe(file);

    if (!recipe)
        return;
    fprintf(out, "recipe: %016llx\n\n", (unsigned long long)recipe->fingerprint);
    fwrite(recipe->text, 1, recipe->len, out);
}

static int index_info(struct settings *s, const char *const *path, size_t n)
{
    const struct nd_hamming_plan *plan;
    struct nd_hamming_shape shape;
    struct nd_hamming_file *file;
    struct results to;
    struct nd_error err;

    if (index_is_of_records(path[0]))
        return cmd_sketch_file(s, "info");
    if (!results_open(&to, s->hamming.output, path, n))
        return 2;
    if (nd_hamming_file_open(&file, path[0], &err) != ND_OK)
        return results_close(&to, failed(&err));
    plan = nd_hamming_file_design(file);
    shape = nd_hamming_file_shape(file);
    fprintf(to.file,
            "bits: %u\ndistance: %u\nfingerprints: %llu\ndistinct: %llu\nids: %s\nlayout: %s\n"
            "design: %s\ntables: %u\nkey bits: %u-%u\n",
            plan->problem.bits, plan->problem.distance, (unsigned long long)plan->problem.count,
            (unsigned long long)nd_hamming_file_distinct(file),
            nd_hamming_file_has_texts(file) ? "texts" : "numbers",
            nd_hamming_file_layout_name(shape.layout), nd_hamming_family_name(plan->family),
            plan->tables, plan->key_bits, plan->key_bits_max);
    if (shape.layout == ND_HAMMING_COMPACT)
        fprintf(to.file, "codec: %s\n", nd_hamming_codec_name(shape.codec));
    print_sizes(to.file, file, (double)plan->problem.count);
    print_recipe(to.file, file);
    nd_hamming_file_close(file);
    return results_close(&to, 0);
}

/* Order by query, distance, and the bytes of the id. */
static int by_text(const void *a, const void *b, void *context)
{
    const struct nd_hamming_file *file = context;
    const struct nd_hamming_file_match *x = a, *y = b;
    char digits[2][ND_HAMMING_NUMBER_MAX];
    const char *text[2];
    size_t len[2];
    int order;

    if (x->query != y->query)
        return x->query < y->query ? -1 : 1;
    if (x->distance != y->distance)
        return x->distance < y->distance ? -1 : 1;
    text[0] = nd_hamming_file_text(file, x->entry, digits[0], &len[0]);
    text[1] = nd_hamming_file_text(file, y->entry, digits[1], &len[1]);
    order = memcmp(text[0], text[1], len[0] < len[1] ? len[0] : len[1]);
    return order ? order : (len[0] > len[1]) - (len[0] < len[1]);
}

/* Print the answers for one block of queries, of ids that are texts. -1: an error was reported. */
static int answer_texts(struct results *to, struct nd_hamming_file *file,
                        const struct fingerprints *block, uint64_t first, unsigned distance)
{
    struct nd_hamming_file_matches found = {.items = NULL};
    struct nd_error err;
    int any = -1;

    if (nd_hamming_file_find(file, block->row, block->n, distance, &found, &err) == ND_OK)
        any = found.count > 0;
    else
        failed(&err);
    if (any > 0)
        nd_sort_with(found.items, found.count, sizeof *found.items, by_text, file);
    for (size_t i = 0; any > 0 && i < found.count; i++) {
        const struct nd_hamming_file_match *match = &found.items[i];
        char digits[ND_HAMMING_NUMBER_MAX];
        size_t len;
        const char *text = nd_hamming_file_text(file, match->entry, digits, &len);

        print_fingerprint_id(to, block, match->query, first);
        putc('\t', to->file);
        results_put_id(to, text, len);
        fprintf(to->file, "\t%u\n", match->distance);
    }
    free(found.items);
    return any;
}

/* Answer a block of queries with ids that are numbers. */
static int answer_numbers(struct results *to, struct nd_hamming_file *file,
                          const struct fingerprints *block, uint64_t first, unsigned distance)
{
    struct nd_hamming_matches found = {.items = NULL};
    struct nd_error err;
    int any = -1;

    if (nd_hamming_file_query(file, block->row, block->n, distance, &found, &err) == ND_OK)
        any = found.count > 0;
    else
        failed(&err);
    if (any > 0)
        nd_hamming_matches_sort(&found);
    for (size_t i = 0; any > 0 && i < found.count; i++) {
        const struct nd_hamming_match *match = &found.items[i];

        print_fingerprint_id(to, block, match->query, first);
        fprintf(to->file, "\t%u\t%u\n", match->id, match->distance);
    }
    nd_hamming_matches_release(&found);
    return any;
}

static int answer(struct results *to, struct nd_hamming_file *file,
                  const struct fingerprints *block, uint64_t first, unsigned distance)
{
    return nd_hamming_file_has_texts(file) ? answer_texts(to, file, block, first, distance)
                                           : answer_numbers(to, file, block, first, distance);
}

static int stream(struct results *to, struct nd_hamming_file *file,
                  struct fingerprint_file *queries, unsigned distance)
{
    struct fingerprints block = {.row = NULL};
    int any = 0, got = 0;

    do {
        uint64_t first = queries->n;

        fingerprints_clear(&block);
        got = fingerprint_file_read(queries, FINGERPRINTS_AT_ONCE, &block)
                  ? answer(to, file, &block, first, distance)
                  : -1;
        any |= got > 0;
    } while (got >= 0 && block.n > 0);
    fingerprints_release(&block);
    return got < 0 ? 2 : !any;
}

/* The index in which documents are looked up, and what was found so far. */
struct document_query {
    struct results *to;
    struct nd_hamming_file *file;
    const struct hamming_settings *h;
    uint64_t first; /* the number of the next document */
    int found;
};

/* As of struct document_source. */
static bool answer_block(void *context, const struct fingerprints *block)
{
    struct document_query *q = context;
    int got = block->n ? answer(q->to, q->file, block, q->first, q->h->distance) : 0;

    q->first += block->n;
    q->found |= got > 0;
    return got >= 0;
}

static int query_documents(struct results *to, struct nd_hamming_file *file, struct settings *s,
                           struct hamming_settings *h, const char *index, const char *queries)
{
    static const struct nd_hamming_recipe none = {.text = NULL};
    const struct nd_hamming_recipe *known = nd_hamming_file_recipe(file);
    struct fingerprints rest = {.row = NULL};
    struct document_query query = {.to = to, .file = file, .h = h};
    struct document_source source = {.full = answer_block, .context = &query};
    int status = 2;

    known = known ? known : &none;
    if (documents_recipe(s, known, index))
        status = documents_read(&rest, s, h, known, index, &queries, 1, &source);
    if (status != 2 && !answer_block(&query, &rest))
        status = 2;
    document_source_release(&source);
    fingerprints_release(&rest);
    return status ? status : !query.found;
}

static int query(struct results *to, struct nd_hamming_file *file, struct settings *s,
                 const char *index, const char *queries)
{
    const struct nd_hamming_problem *problem = &nd_hamming_file_design(file)->problem;
    struct nd_hamming_recipe known = {.text = NULL};
    struct hamming_settings h = s->hamming;
    struct fingerprint_file in = {.file = NULL};
    int status = 2;

    if (h.has_bits && h.bits != problem->bits) {
        say("%s: an index of %u-bit fingerprints, not %u-bit", index, problem->bits, h.bits);
        return 2;
    }
    h.bits = problem->bits;
    if (!h.has_distance)
        h.distance = problem->distance;
    if (nd_hamming_file_recipe(file))
        known = *nd_hamming_file_recipe(file);
    if (reads_documents(s, &known, &queries, 1))
        return query_documents(to, file, s, &h, index, queries);
    if (check_no_documents(s, false) && check_recipes(&known, index, &queries, 1) &&
        fingerprint_file_open(&in, &h, queries))
        status = stream(to, file, &in, h.distance);
    fingerprint_file_close(&in);
    return status;
}

static int index_query(struct settings *s, const char *const *path, size_t n)
{
    const char *const inputs[] = {path[0], n == 2 ? path[1] : standard_input};
    struct nd_hamming_file *file;
    struct results to;
    struct nd_error err;
    int status;

    if (index_is_of_records(inputs[0]))
        return records_query(s, inputs[0], inputs[1]);
    if (!results_open(&to, s->hamming.output, inputs, 2))
        return 2;
    if (nd_hamming_file_open(&file, inputs[0], &err) != ND_OK)
        return results_close(&to, failed(&err));
    status = query(&to, file, s, inputs[0], inputs[1]);
    nd_hamming_file_close(file);
    return results_close(&to, status);
}

/* Without an option, the bits are those of the first file, if that is an index. */
static unsigned bits_of(const struct hamming_settings *h, const char *path)
{
    struct nd_hamming_shape shape;

    if (h->has_bits || strcmp(path, "-") == 0 ||
        nd_hamming_file_peek(path, &shape, NULL, NULL) != ND_OK)
        return h->bits;
    return shape.bits;
}

static void print_stats(FILE *out, const struct nd_hamming_stats *s)
{
    fputs("figure\tplace\tcount\tuniform\n", out);
    fprintf(out, "fingerprints\t-\t%llu\t-\n", (unsigned long long)s->count);
    fprintf(out, "equal\t-\t%llu\t-\n", (unsigned long long)s->equal);
    for (unsigned i = 0; i < s->bits; i++)
        fprintf(out, "leading\t%u\t%llu\t%.4g\n", i, (unsigned long long)s->leading[i],
                nd_hamming_stats_uniform(s, i));
    for (unsigned i = 0; i < s->buckets; i++)
        fprintf(out, "bucket\t%u\t%llu\t%.4g\n", i, (unsigned long long)s->bucket[i],
                (double)s->count / s->buckets);
}

/* Write the figures and the table, each to its output. */
static int write_stats(struct results *table, const char *svg, const char *const *others, size_t n,
                       const struct nd_hamming_stats *stats)
{
    struct results figures;

    if (svg) {
        if (!results_open(&figures, svg, others, n))
            return 2;
        draw_stats(figures.file, stats);
        if (results_close(&figures, 0))
            return 2;
    }
    print_stats(table->file, stats);
    return 0;
}

static int index_stats(struct settings *s, const char *const *path, size_t n)
{
    struct hamming_settings settings = s->hamming;
    struct fingerprints all = {.row = NULL};
    struct nd_hamming_stats *stats = malloc(sizeof *stats);
    const char **others = calloc(n + 1, sizeof *others);
    struct results to;
    struct nd_error err;
    int status = 2, left_out = 2;

    if (!stats || !others)
        say("out of memory");
    for (size_t i = 0; others && i < n; i++)
        others[i] = path[i];
    if (stats && others && results_open(&to, settings.output, path, n)) {
        others[n] = settings.output;
        settings.bits = bits_of(&settings, path[0]);
        if (recipe_is_given(s) || check_no_documents(s, false))
            left_out = read_inputs(&all, s, &settings, path, n, NULL);
        if (left_out == 2)
            ;
        else if (nd_hamming_stats_make(all.row, all.n, settings.bits, settings.buckets, stats,
                                       &err) != ND_OK)
            say("%s", err.message);
        else
            status = write_stats(&to, settings.svg, others, n + 1, stats) ? 2 : left_out;
        status = results_close(&to, status);
    }
    fingerprints_release(&all);
    free(others);
    free(stats);
    return status;
}

/* Options that contradict each other. */
static bool fits(const struct hamming_settings *h)
{
    if (h->tables && h->key_bits)
        say("only one of --tables and --key-bits can be given");
    else if (h->calibrate && h->calibration)
        say("only one of --calibrate and --calibration can be given");
    else if (h->raw && h->any_digits)
        say("--any-digits applies to lines, but --raw files have none");
    else
        return true;
    return false;
}

/* The parts, how many paths each takes, and what runs it.  A part without a path reads "-". */
static const struct part {
    const char *name;
    size_t min, max;
    int (*run)(struct settings *s, const char *const *path, size_t n);
} part_table[] = {
    {"plan", 0, 0, index_plan},          {"pairs", 0, SIZE_MAX, index_pairs},
    {"build", 0, SIZE_MAX, index_build}, {"add", 1, SIZE_MAX, index_add},
    {"remove", 1, 2, index_remove},      {"merge", 1, SIZE_MAX, index_merge},
    {"query", 1, 2, index_query},        {"info", 1, 1, index_info},
    {"verify", 1, 1, index_verify},      {"stats", 0, SIZE_MAX, index_stats},
};

static const struct part *find_part(const char *name, size_t n)
{
    for (size_t i = 0; i < sizeof part_table / sizeof *part_table; i++)
        if (strcmp(part_table[i].name, name) == 0)
            return n >= part_table[i].min && n <= part_table[i].max ? &part_table[i] : NULL;
    return NULL;
}

int cmd_index(struct settings *s)
{
    size_t n = s->paths.count ? s->paths.count - 1 : 0;
    const struct part *part = find_part(s->paths.count ? s->paths.at[0] : "", n);

    if (!part) {
        say("usage: index plan; pairs, stats or build with files; add, remove, merge, info, "
            "verify or query with an index; see neardup help index");
        return 2;
    }
    if (!fits(&s->hamming) || !file_lists_fit(s, s->hamming.output) ||
        !file_lists_fit(s, s->hamming.svg))
        return 2;
    return n ? part->run(s, s->paths.at + 1, n) : part->run(s, &standard_input, 1);
}
