/* manifest.c - the rows of the manifest and of the list of clusters, and the manifest's first line */

/*
 * The manifest has a first line that says what was done, to which inputs and by which recipe, so
 * that the run can be repeated and explained, and then a row for each removed document with the
 * evidence. The list of clusters has a row for every document.
 */
#include "pipeline/manifest.h"

#include <neardup/text.h>
#include <neardup/version.h>

#include "engine/engine.h"
#include "input/charset.h"
#include "input/formats.h"
#include "input/mail.h"
#include "input/page_guard.h"
#include "recipe/recipe.h"

#include <stdlib.h>

/* ---- Rows ---- */

void nd_rows_release(struct nd_rows *rows)
{
    nd_json_release(&rows->manifest);
    nd_json_release(&rows->clusters);
}

static const char *method_name(const struct nd_recipe *recipe, const struct nd_decision *decision)
{
    static const char *const names[] = {"minhash", "simhash", "identity", "all", "match"};

    if (decision->identical != ND_IDENTICAL_NO)
        return "identity";
    if (nd_dedup_takes_samples(&recipe->dedup))
        return "shingles";
    return names[recipe->dedup.candidates];
}

/* The fraction part / whole; 1 if whole is 0, because two empty sets are equal. */
double nd_fraction(uint64_t part, uint64_t whole)
{
    return whole ? (double)part / (double)whole : 1.0;
}

double nd_overlap_resemblance(const struct nd_overlap *overlap)
{
    return nd_fraction(overlap->shared, overlap->a + overlap->b - overlap->shared);
}

static void put_place(struct nd_json *out, struct nd_json *scratch, const struct nd_source *source,
                      uint64_t line)
{
    scratch->text.len = 0;
    nd_place_append(scratch, source, line);
    out->failed |= scratch->failed;
    nd_json_string(out, (struct nd_view){scratch->text.data, scratch->text.len});
}

/* What comparing the two texts gave; null if they were not compared. */
static void put_evidence(struct nd_json *out, const struct nd_decision *d)
{
    const struct nd_overlap *o = &d->overlap;

    nd_json_key(out, "resemblance");
    d->verified ? nd_json_double(out, nd_overlap_resemblance(o)) : nd_json_null(out);
    nd_json_key(out, "shared");
    d->verified ? nd_json_uint(out, o->shared) : nd_json_null(out);
    nd_json_put_uint(out, "shingles_removed", o->a);
    nd_json_put_uint(out, "shingles_kept", o->b);
    nd_json_key(out, "containment_of_removed");
    d->verified ? nd_json_double(out, nd_fraction(o->shared, o->a)) : nd_json_null(out);
    nd_json_key(out, "containment_of_kept");
    d->verified ? nd_json_double(out, nd_fraction(o->shared, o->b)) : nd_json_null(out);
    nd_json_key(out, "distance");
    d->distance <= ND_DISTANCE_MAX ? nd_json_uint(out, d->distance) : nd_json_null(out);
}

enum nd_containment nd_deciding_containment(const struct nd_dedup_params *params,
                                            const struct nd_decision *d)
{
    bool of_kept = params->verify == ND_VERIFY_CONTAINMENT_OF_KEPT ||
                   (params->verify == ND_VERIFY_CONTAINMENT_EITHER && d->overlap.b < d->overlap.a);

    if (d->identical != ND_IDENTICAL_NO || params->cluster == ND_CLUSTER_COMPONENTS ||
        !nd_dedup_measures_containment(params))
        return ND_CONTAINMENT_NONE;
    return of_kept ? ND_CONTAINMENT_OF_KEPT : ND_CONTAINMENT_OF_REMOVED;
}

void nd_agreements_json(struct nd_json *out, const struct nd_method *method,
                        const struct nd_agreement *agreement, const char *a, const char *b)
{
    nd_json_key(out, "signatures");
    nd_json_open(out, '{');
    for (unsigned i = 0; i < method->n_signatures; i++) {
        nd_json_key(out, method->signature[i].name);
        nd_json_open(out, '{');
        nd_json_put_uint(out, "shared", agreement[i].shared);
        nd_json_put_uint(out, a, agreement[i].a);
        nd_json_put_uint(out, b, agreement[i].b);
        nd_json_close(out, '}');
    }
    nd_json_close(out, '}');
}

void nd_row_removed(struct nd_json *out, struct nd_json *scratch, const struct nd_party *removed,
                    const struct nd_party *kept, const struct nd_decision *decision,
                    const struct nd_recipe *recipe, const struct nd_row_via *via)
{
    static const char *const identical[] = {"no", "bytes", "tokens"};
    static const char *const containments[] = {NULL, "containment_of_removed",
                                               "containment_of_kept"};
    enum nd_containment deciding = nd_deciding_containment(&recipe->dedup, decision);

    nd_json_open(out, '{');
    nd_json_key(out, "removed");
    nd_name_json(out, &removed->name);
    nd_json_key(out, "kept");
    nd_name_json(out, &kept->name);
    nd_json_key(out, "removed_at");
    put_place(out, scratch, removed->source, removed->line);
    nd_json_key(out, "kept_at");
    put_place(out, scratch, kept->source, kept->line);
    nd_json_put_text(out, "method", method_name(recipe, decision));
    nd_json_put_text(out, "identical", identical[decision->identical]);
    nd_json_put_bool(out, "verified", decision->verified);
    put_evidence(out, decision);
    if (deciding != ND_CONTAINMENT_NONE) {
        nd_json_put_text(out, "decided_by", containments[deciding]);
    }
    if (recipe->dedup.candidates == ND_CANDIDATES_MATCH && decision->identical == ND_IDENTICAL_NO)
        nd_agreements_json(out, &recipe->method, decision->agreement, "removed", "kept");
    if (via) {
        nd_json_key(out, "via");
        nd_name_json(out, &via->name);
        nd_json_key(out, "via_resemblance");
        via->is_verified ? nd_json_double(out, via->resemblance) : nd_json_null(out);
    }
    if (decision->was_cut) {
        nd_json_put_bool(out, "cut", true);
    }
    nd_json_close(out, '}');
    nd_json_line(out);
}

void nd_row_skipped(struct nd_json *out, struct nd_json *scratch, const struct nd_source *source,
                    uint64_t line, const char *reason)
{
    nd_json_open(out, '{');
    nd_json_key(out, "skipped");
    put_place(out, scratch, source, line);
    nd_json_put_text(out, "reason", reason);
    nd_json_close(out, '}');
    nd_json_line(out);
}

void nd_row_cluster(struct nd_json *out, const struct nd_name *name, const struct nd_name *kept)
{
    nd_name_tsv(out, name);
    nd_json_bytes(out, "\t", 1);
    nd_name_tsv(out, kept);
    nd_json_bytes(out, "\n", 1);
}

/* ---- The first line ---- */

const char *nd_input_charset(const struct nd_input_options *input)
{
    return input->charset && !nd_charset_is_utf8(input->charset) ? input->charset : NULL;
}

static void put_text(struct nd_json *out, const char *key, const char *value)
{
    if (!value)
        return;
    nd_json_put_text(out, key, value);
}

static void put_list(struct nd_json *out, const char *key, const char *const *list, size_t n)
{
    if (!n)
        return;
    nd_json_key(out, key);
    nd_json_open(out, '[');
    for (size_t i = 0; i < n; i++)
        nd_json_text(out, list[i]);
    nd_json_close(out, ']');
}

static void put_recipe(const struct nd_recipe *recipe, struct nd_json *out)
{
    char *text = NULL;
    size_t len = 0;
    uint64_t fingerprint = 0;

    if (nd_recipe_canonical(recipe, &text, &len, &fingerprint, NULL) != ND_OK) {
        out->failed = true;
        return;
    }
    nd_json_put_string(out, "recipe", (struct nd_view){text, len});
    nd_json_put_hex(out, "recipe_fingerprint", fingerprint);
    free(text);
}

/* Write pairs of a field and a value. */
static void put_never(const struct nd_run_options *o, struct nd_json *out)
{
    if (!o->n_never)
        return;
    nd_json_key(out, "never");
    nd_json_open(out, '[');
    for (size_t i = 0; i < o->n_never; i++) {
        nd_json_open(out, '[');
        nd_json_text(out, o->never[i].field);
        nd_json_text(out, o->never[i].value);
        nd_json_close(out, ']');
    }
    nd_json_close(out, ']');
}

/* The options that change the result and are not in the recipe. */
static void put_options(const struct nd_run_options *o, struct nd_json *out)
{
    static const char *const units[] = {"file", "line", "paragraph"};

    nd_json_key(out, "options");
    nd_json_open(out, '{');
    put_text(out, "format", nd_format_word(o->input.format));
    put_text(out, "unit", units[o->input.unit]);
    put_text(out, "missing_text", o->input.missing_text == ND_MISSING_SKIP ? "skip" : "empty");
    if (o->input.binary == ND_BINARY_TEXT)
        put_text(out, "binary", "text");
    if (o->input.no_mail)
        put_text(out, "mail", "none");
    put_text(out, "charset", nd_input_charset(&o->input));
    put_text(out, "text_format", o->input.text_format == ND_TEXT_HTML ? "html" : "plain");
    put_list(out, "text_fields", o->input.text_fields, o->input.n_text_fields);
    put_text(out, "id_field", o->input.id_field);
    put_list(out, "globs", o->input.globs, o->input.n_globs);
    put_list(out, "excludes", o->input.excludes, o->input.n_excludes);
    put_text(out, "df_auto", o->df_auto);
    put_text(out, "within", o->within);
    put_text(out, "prefer_field", o->prefer_field);
    put_list(out, "prefer", o->prefer, o->n_prefer);
    put_never(o, out);
    nd_json_put_bool(out, "strict", o->strict);
    nd_json_close(out, '}');
}

static void put_source(const struct nd_source *source, struct nd_json *out)
{
    nd_json_open(out, '{');
    put_text(out, "path", source->path);
    put_text(out, "entry", source->entry);
    put_text(out, "format", nd_format_word(source->format));
    put_text(out, "compression", source->compression);
    put_text(out, "archive", source->archive);
    nd_json_put_uint(out, "records", source->records);
    nd_json_put_uint(out, "bytes", source->bytes);
    nd_json_put_hex(out, "xxh3", source->bytes_hash);
    nd_json_close(out, '}');
}

/* Write out what has been formatted so far, so that a million inputs need little memory. */
static enum nd_status pass_on(struct nd_output *to, struct nd_json *out, struct nd_error *err)
{
    enum nd_status status;

    if (out->failed)
        return nd_fail(err, ND_ENOMEM, "out of memory");
    status = nd_output_write(to, out->text.data, out->text.len, err);
    out->text.len = 0;
    return status;
}

/*
 * The library that read mail; "none" if there was no mail, so that GMime is not loaded only for its
 * name.
 */
static void put_mail_parser(const struct nd_reading *reading, struct nd_json *out)
{
    char version[ND_MAIL_VERSION_BYTES];
    bool has_mail = false;

    for (uint32_t i = 0; !has_mail && i < nd_reading_sources(reading); i++)
        has_mail = nd_format_row(nd_reading_source(reading, i)->format)->is_mail;
    put_text(out, "mail_parser", has_mail ? nd_mail_parser_version(version) : "none");
}

enum nd_status nd_manifest_put_header(struct nd_output *to, const struct nd_recipe *recipe,
                                      const struct nd_run_options *options,
                                      const struct nd_run_summary *summary,
                                      const struct nd_reading *reading, struct nd_error *err)
{
    struct nd_json out = {0};
    enum nd_status status = ND_OK;

    nd_json_open(&out, '{');
    put_text(&out, "neardup", nd_version());
    put_text(&out, "unicode", nd_unicode_version());
    put_text(&out, "html_parser", nd_html_parser_version());
    put_mail_parser(reading, &out);
    put_recipe(recipe, &out);
    put_options(options, &out);
    nd_json_put_uint(&out, "bands", summary->bands);
    nd_json_put_uint(&out, "rows", summary->rows);
    if (summary->sample) {
        nd_json_put_uint(&out, "sample", summary->sample);
        nd_json_put_uint(&out, "sample_least", summary->sample_least);
    }
    nd_json_key(&out, "inputs");
    nd_json_open(&out, '[');
    for (uint32_t i = 0; status == ND_OK && i < nd_reading_sources(reading); i++) {
        put_source(nd_reading_source(reading, i), &out);
        status = pass_on(to, &out, err);
    }
    nd_json_close(&out, ']');
    nd_json_close(&out, '}');
    nd_json_line(&out);
    if (status == ND_OK)
        status = pass_on(to, &out, err);
    nd_json_release(&out);
    return status;
}
