/* document_fingerprints.c - fingerprints that index makes of documents, by a recipe */
#include "index/document_fingerprints.h"
#include "base/system/c_functions.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

bool recipe_is_given(const struct settings *s)
{
    return is_given(s, "recipe") || is_given(s, "set") || is_given(s, "shingle") ||
           is_given(s, "characters");
}

bool reads_documents(const struct settings *s, const struct nd_hamming_recipe *known,
                     const char *const *path, size_t n)
{
    if (recipe_is_given(s))
        return true;
    if (!known->len || s->hamming.fingerprints || s->hamming.raw || s->hamming.any_digits)
        return false;
    for (size_t i = 0; i < n; i++)
        if (!is_index_path(path[i]))
            return true;
    return false;
}

bool check_recipes(struct nd_hamming_recipe *known, const char *name, const char *const *path,
                   size_t n)
{
    bool fine = true, all = true;

    for (size_t i = 0; i < n && fine; i++) {
        struct nd_hamming_recipe other = {.text = NULL};
        struct nd_hamming_shape shape;
        struct nd_error err;

        if (is_index_path(path[i]) &&
            nd_hamming_file_peek(path[i], &shape, &other, &err) != ND_OK) {
            say("%s", err.message);
            fine = false;
        } else if (other.len && known->len && other.fingerprint != known->fingerprint) {
            say("%s and %s hold documents of different recipes", name ? name : path[0], path[i]);
            fine = false;
        }
        all = all && other.len;
        if (fine && all && !name && !known->len)
            *known = other;
        else
            free((char *)(uintptr_t)other.text);
    }
    if (!name && !all) { /* so the recipe of some fingerprints is unknown */
        free((char *)(uintptr_t)known->text);
        *known = (struct nd_hamming_recipe){.text = NULL};
    }
    return fine;
}

/* Whether the option applies only to documents. */
static bool is_for_documents(const struct option *o, bool uses_threads)
{
    if (!(o->commands & FOR_INDEX))
        return false;
    if (strcmp(o->name, "threads") == 0)
        return !uses_threads;
    return o->commands & FOR_SKETCH || strcmp(o->name, "df") == 0 || strcmp(o->name, "quiet") == 0;
}

bool check_no_documents(const struct settings *s, bool uses_threads)
{
    for (size_t i = 0; i < s->given.count; i++)
        for (size_t o = 0; o < n_options; o++)
            if (strcmp(option_table[o].name, s->given.at[i]) == 0 &&
                is_for_documents(&option_table[o], uses_threads) &&
                !(strcmp(option_table[o].name, "tmp") == 0 && is_given(s, "memory"))) {
                say("--%s applies to documents, which need a --recipe", s->given.at[i]);
                return false;
            }
    return true;
}

bool documents_recipe(struct settings *s, const struct nd_hamming_recipe *known, const char *name)
{
    const char *counted = s->df ? df_auto_name(s->df) : NULL;
    struct nd_error err;

    if (known->len && !recipe_is_given(s)) {
        struct nd_recipe *recipe = nd_recipe_new(&err);

        if (!recipe || nd_recipe_parse(recipe, name, known->text, known->len, &err) != ND_OK) {
            say("%s", err.message);
            nd_recipe_free(recipe);
            return false;
        }
        nd_recipe_free(s->recipe);
        s->recipe = recipe;
        nd_run_options_set_recipe(s->run, recipe);
    }
    if (counted) {
        if (known->len) {
            say("--df auto=FILE: %s already has a recipe, with its own table", name);
            return false;
        }
        if (nd_run_options_set(s->run, "df-auto", counted, &err) != ND_OK) {
            say("%s", err.message);
            return false;
        }
        s->df = counted;
    }
    if (s->df && nd_recipe_set_df(s->recipe, s->df, &err) != ND_OK) {
        say("%s", err.message);
        return false;
    }
    return true;
}

/* The sink for nd_run_fingerprints. */
struct fingerprint_sink {
    struct fingerprints *out;
    struct hamming_settings *hamming;
    struct document_source *source;
    const struct nd_hamming_recipe *known; /* the recipe of the index; len 0: none */
    const char *index;
};

/* Take bits and distance from the recipe, unless an option or the index determines them. */
static enum nd_status take_shape(struct fingerprint_sink *sink,
                                 const struct nd_recipe_simhash *simhash, struct nd_error *err)
{
    struct hamming_settings *h = sink->hamming;

    if ((h->has_bits || sink->index) && h->bits != simhash->bits)
        return nd_fail(err, ND_EINVAL, "%s has %u bits, but the recipe's fingerprints have %u",
                       sink->index ? sink->index : "--bits", h->bits, simhash->bits);
    if (!sink->index && !h->has_distance && simhash->distance > ND_HAMMING_DISTANCE_MAX)
        return nd_fail(
            err, ND_EINVAL,
            "the recipe allows %u differing bits, but an index allows at most %u: give --distance",
            simhash->distance, ND_HAMMING_DISTANCE_MAX);
    h->bits = simhash->bits;
    if (!sink->index && !h->has_distance)
        h->distance = simhash->distance;
    sink->out->words = nd_hamming_words(h->bits);
    return ND_OK;
}

static enum nd_status begin(void *context, const struct nd_recipe_simhash *simhash,
                            struct nd_view canonical, uint64_t recipe_fingerprint,
                            struct nd_error *err)
{
    struct fingerprint_sink *sink = context;

    if (sink->known->len && sink->known->fingerprint != recipe_fingerprint)
        return nd_fail(err, ND_EINVAL,
                       "%s was built with another recipe (%016llx, not %016llx); without --recipe "
                       "its own is used (see neardup index info)",
                       sink->index, (unsigned long long)sink->known->fingerprint,
                       (unsigned long long)recipe_fingerprint);
    sink->source->text = nd_text_copy_n(canonical.data, canonical.len);
    if (!sink->source->text)
        return nd_fail(err, ND_ENOMEM, "out of memory");
    sink->source->recipe =
        (struct nd_hamming_recipe){sink->source->text, canonical.len, recipe_fingerprint};
    return take_shape(sink, simhash, err);
}

static enum nd_status take(void *context, struct nd_view id, const uint64_t *fingerprint,
                           struct nd_error *err)
{
    struct fingerprint_sink *sink = context;

    if (!fingerprints_add(sink->out, fingerprint, id.data, id.len))
        return nd_fail(err, ND_ENOMEM, "out of memory for fingerprints");
    if (!sink->source->full || sink->out->n < FINGERPRINTS_AT_ONCE)
        return ND_OK;
    if (!sink->source->full(sink->source->context, sink->out))
        return nd_fail(err, ND_EIO, "the fingerprints of the documents could not be used");
    fingerprints_clear(sink->out);
    return ND_OK;
}

int documents_read(struct fingerprints *out, const struct settings *s, struct hamming_settings *h,
                   const struct nd_hamming_recipe *known, const char *index,
                   const char *const *path, size_t n, struct document_source *source)
{
    struct fingerprint_sink sink = {out, h, source, known, index};
    const struct nd_run_fingerprints results = {&sink, begin, take};
    struct report report = {.settings = s};
    struct nd_run_events events = report_events(&report);
    struct nd_run_summary summary;
    struct nd_error err;
    enum nd_status status;

    if (!run_reads(s->run, path, n))
        return 2;
    status = nd_run_fingerprints(s->run, &results, &events, &summary, &err);
    report_end(&report);
    if (status == ND_OK && summary.unsigned_documents && !s->quiet)
        say("%llu of %llu documents have no fingerprint (such as those without text) and are left "
            "out",
            (unsigned long long)summary.unsigned_documents, (unsigned long long)summary.documents);
    return report_run(s, status, &err, &summary, true);
}

void document_source_release(struct document_source *source)
{
    free(source->text);
    *source = (struct document_source){.text = NULL};
}

int read_inputs(struct fingerprints *out, struct settings *s, struct hamming_settings *h,
                const char *const *path, size_t n, size_t *start)
{
    static const struct nd_hamming_recipe none = {.text = NULL};
    struct document_source source = {.text = NULL};
    int status;

    if (!recipe_is_given(s))
        return fingerprints_read_files(out, h, path, n, start) ? 0 : 2;
    if (!documents_recipe(s, &none, NULL))
        return 2;
    status = documents_read(out, s, h, &none, NULL, path, n, &source);
    document_source_release(&source);
    return status;
}
