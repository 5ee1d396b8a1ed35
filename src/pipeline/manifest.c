/* manifest.c - the manifest's first line: what was done, to what, and how */
#include "input/mail.h"
#include "input/parser_versions.h"
#include "pipeline/run_state.h"

#include <neardup/text.h>
#include <neardup/version.h>

#include <stdlib.h>

const char *nd_format_word(enum nd_format format)
{
    static const char *const names[] = {"auto", "text", "html", "jsonl",
                                        "csv",  "tsv",  "mail", "mbox"};

    return names[format];
}

static void put_text(struct nd_json *out, const char *key, const char *value)
{
    if (!value)
        return;
    nd_json_key(out, key);
    nd_json_text(out, value);
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

static void put_recipe(struct nd_run *run, struct nd_json *out)
{
    char *text = NULL;
    size_t len = 0;
    uint64_t fingerprint = 0;

    if (nd_recipe_canonical(&run->recipe, &text, &len, &fingerprint, NULL) != ND_OK) {
        out->failed = true;
        return;
    }
    nd_json_key(out, "recipe");
    nd_json_string(out, (struct nd_view){text, len});
    nd_json_key(out, "recipe_fingerprint");
    nd_json_hex(out, fingerprint);
    free(text);
}

/* What changes the result and is not in the recipe. */
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
    put_text(out, "text_format", o->input.text_format == ND_TEXT_HTML ? "html" : "plain");
    put_list(out, "text_fields", o->input.text_fields, o->input.n_text_fields);
    put_text(out, "id_field", o->input.id_field);
    put_list(out, "globs", o->input.globs, o->input.n_globs);
    put_list(out, "excludes", o->input.excludes, o->input.n_excludes);
    put_text(out, "within", o->within);
    put_text(out, "prefer_field", o->prefer_field);
    put_list(out, "prefer", o->prefer, o->n_prefer);
    nd_json_key(out, "strict");
    nd_json_bool(out, o->strict);
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
    nd_json_key(out, "records");
    nd_json_uint(out, source->records);
    nd_json_key(out, "bytes");
    nd_json_uint(out, source->bytes);
    nd_json_key(out, "xxh3");
    nd_json_hex(out, source->bytes_hash);
    nd_json_close(out, '}');
}

/* What has been made so far, so that a million inputs need no memory. */
static enum nd_status pass_on(struct nd_run *run, struct nd_json *out, struct nd_error *err)
{
    enum nd_status status;

    if (out->failed)
        return nd_fail(err, ND_ENOMEM, "out of memory");
    status = nd_output_write(run->manifest, out->text.data, out->text.len, err);
    out->text.len = 0;
    return status;
}

/* What made texts of mail; "none" where there was none, so that GMime is not opened to be named. */
static void put_mail_parser(const struct nd_run *run, struct nd_json *out)
{
    char version[ND_MAIL_VERSION_BYTES];
    bool has_mail = false;

    for (uint32_t i = 0; !has_mail && i < nd_reading_sources(run->reading); i++) {
        enum nd_format format = nd_reading_source(run->reading, i)->format;

        has_mail = format == ND_FORMAT_MAIL || format == ND_FORMAT_MBOX;
    }
    put_text(out, "mail_parser", has_mail ? nd_mail_parser_version(version) : "none");
}

static enum nd_status write_header(struct nd_run *run, struct nd_json *out, struct nd_error *err)
{
    enum nd_status status = ND_OK;

    nd_json_open(out, '{');
    put_text(out, "neardup", nd_version());
    put_text(out, "unicode", nd_unicode_version());
    put_text(out, "html_parser", nd_html_parser_version());
    put_mail_parser(run, out);
    put_recipe(run, out);
    put_options(run->options, out);
    nd_json_key(out, "bands");
    nd_json_uint(out, run->summary->bands);
    nd_json_key(out, "rows");
    nd_json_uint(out, run->summary->rows);
    nd_json_key(out, "inputs");
    nd_json_open(out, '[');
    for (uint32_t i = 0; status == ND_OK && i < nd_reading_sources(run->reading); i++) {
        put_source(nd_reading_source(run->reading, i), out);
        status = pass_on(run, out, err);
    }
    nd_json_close(out, ']');
    nd_json_close(out, '}');
    nd_json_line(out);
    return status == ND_OK ? pass_on(run, out, err) : status;
}

enum nd_status nd_manifest_header(struct nd_run *run, struct nd_error *err)
{
    struct nd_json out = {0};
    enum nd_status status = write_header(run, &out, err);

    nd_json_release(&out);
    return status;
}
