/* first_line.c - the first line of a manifest */
#include "evidence/first_line.h"

#include <neardup/text.h>
#include <neardup/version.h>

#include <stdlib.h>

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
static void put_never(const struct nd_first_line *o, struct nd_json *out)
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

static void put_prototypes(const struct nd_first_line_prototypes *p, struct nd_json *out)
{
    put_list(out, "prototypes", p->paths, p->n_paths);
    put_list(out, "prototypes_text_fields", p->text_fields, p->n_text_fields);
    put_text(out, "prototypes_id_field", p->id_field);
    put_text(out, "prototypes_group_field", p->group_field);
}

static void put_repeats(const struct nd_first_line_repeats *r, struct nd_json *out)
{
    put_text(out, "cut", r->cut);
    nd_json_put_uint(out, "tokens", r->tokens);
    nd_json_put_uint(out, "occurrences", r->occurrences);
    if (r->near.p)
        nd_json_put_double(out, "near", (double)r->near.p / (double)r->near.q);
    nd_json_put_bool(out, "drop_empty", r->drop_empty);
    if (r->texts)
        nd_json_put_bool(out, "texts", true);
}

/* The options that change the result and are not in the recipe. */
static void put_options(const struct nd_first_line *o, struct nd_json *out)
{
    nd_json_key(out, "options");
    nd_json_open(out, '{');
    put_text(out, "format", o->format);
    put_text(out, "unit", o->unit);
    put_text(out, "missing_text", o->missing_text);
    put_text(out, "binary", o->binary);
    put_text(out, "mail", o->mail);
    put_text(out, "charset", o->charset);
    put_text(out, "text_format", o->text_format);
    put_list(out, "text_fields", o->text_fields, o->n_text_fields);
    put_text(out, "id_field", o->id_field);
    put_list(out, "globs", o->globs, o->n_globs);
    put_list(out, "excludes", o->excludes, o->n_excludes);
    put_list(out, "filters", o->filters, o->n_filters);
    put_text(out, "tags", o->tags);
    put_text(out, "df_auto", o->df_auto);
    put_text(out, "within", o->within);
    put_text(out, "security_field", o->security_field);
    put_text(out, "prefer_field", o->prefer_field);
    put_list(out, "prefer", o->prefer, o->n_prefer);
    put_never(o, out);
    if (o->prototypes)
        put_prototypes(o->prototypes, out);
    if (o->repeats)
        put_repeats(o->repeats, out);
    if (o->is_only_against)
        nd_json_put_bool(out, "only_against", true);
    nd_json_put_bool(out, "strict", o->is_strict);
    nd_json_close(out, '}');
}

static void put_seen(struct nd_json *out, const struct nd_first_line_seen *seen, size_t n)
{
    nd_json_key(out, "against");
    nd_json_open(out, '[');
    for (size_t i = 0; i < n; i++) {
        nd_json_open(out, '{');
        put_text(out, "path", seen[i].path);
        nd_json_put_uint(out, "generation", seen[i].generation);
        nd_json_put_uint(out, "documents", seen[i].documents);
        nd_json_close(out, '}');
    }
    nd_json_close(out, ']');
}

void nd_first_line_begin(struct nd_json *out, const struct nd_first_line *line,
                         const struct nd_recipe *recipe, const struct nd_run_summary *summary)
{
    nd_json_open(out, '{');
    put_text(out, "neardup", nd_version());
    put_text(out, "unicode", nd_unicode_version());
    put_text(out, "html_parser", line->html_parser);
    put_text(out, "mail_parser", line->mail_parser);
    if (!line->repeats)
        put_recipe(recipe, out);
    put_options(line, out);
    if (!line->repeats) {
        nd_json_put_uint(out, "bands", summary->bands);
        nd_json_put_uint(out, "rows", summary->rows);
    }
    if (summary->sample) {
        nd_json_put_uint(out, "sample", summary->sample);
        nd_json_put_uint(out, "sample_least", summary->sample_least);
    }
    if (line->n_seen)
        put_seen(out, line->seen, line->n_seen);
    nd_json_key(out, "inputs");
    nd_json_open(out, '[');
}

void nd_first_line_source(struct nd_json *out, const struct nd_first_line_source *source)
{
    nd_json_open(out, '{');
    put_text(out, "path", source->path);
    put_text(out, "entry", source->entry);
    put_text(out, "format", source->format);
    put_text(out, "compression", source->compression);
    put_text(out, "archive", source->archive);
    nd_json_put_uint(out, "records", source->records);
    if (!source->is_sketched)
        nd_json_put_uint(out, "bytes", source->bytes);
    nd_json_put_hex(out, "xxh3", source->bytes_hash);
    nd_json_close(out, '}');
}

void nd_first_line_end(struct nd_json *out)
{
    nd_json_close(out, ']');
    nd_json_close(out, '}');
    nd_json_line(out);
}
