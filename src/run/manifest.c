/* manifest.c - the first line of the manifest: what a run over files did, and to which inputs */
#include "run/manifest.h"

#include "evidence/first_line.h"
#include "input/formats/charset.h"
#include "input/formats/formats.h"
#include "input/formats/mail.h"
#include "input/formats/page_guard.h"

const char *nd_input_charset(const struct nd_input_options *input)
{
    return input->charset && !nd_charset_is_utf8(input->charset) ? input->charset : NULL;
}

/* The options that change the result and are not in the recipe. */
static struct nd_first_line line_of(const struct nd_run_options *o)
{
    static const char *const units[] = {"file", "line", "paragraph"};

    return (struct nd_first_line){
        .html_parser = nd_html_parser_version(),
        .format = nd_format_word(o->input.format),
        .unit = units[o->input.unit],
        .missing_text = o->input.missing_text == ND_MISSING_SKIP ? "skip" : "empty",
        .binary = o->input.binary == ND_BINARY_TEXT ? "text" : NULL,
        .mail = o->input.no_mail ? "none" : NULL,
        .charset = nd_input_charset(&o->input),
        .text_format = o->input.text_format == ND_TEXT_HTML ? "html" : "plain",
        .text_fields = o->input.text_fields,
        .n_text_fields = o->input.n_text_fields,
        .id_field = o->input.id_field,
        .globs = o->input.globs,
        .n_globs = o->input.n_globs,
        .excludes = o->input.excludes,
        .n_excludes = o->input.n_excludes,
        .filters = o->input.filters,
        .n_filters = o->input.n_filters,
        .tags = o->input.tags ? nd_tags_text(o->input.tags) : NULL,
        .df_auto = o->df_auto,
        .within = o->within,
        .security_field = o->security_field,
        .prefer_field = o->prefer_field,
        .prefer = o->prefer,
        .n_prefer = o->n_prefer,
        .never = o->never,
        .n_never = o->n_never,
        .is_strict = o->strict,
        .is_only_against = o->only_against,
    };
}

static struct nd_first_line_source source_of(const struct nd_source *source)
{
    return (struct nd_first_line_source){
        .path = source->path,
        .entry = source->entry,
        .format = source->is_sketched ? "sketch" : nd_format_word(source->format),
        .compression = source->is_sketched ? NULL : source->compression,
        .is_sketched = source->is_sketched,
        .archive = source->archive,
        .records = source->records,
        .bytes = source->bytes,
        .bytes_hash = source->bytes_hash,
    };
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
static const char *mail_parser(const struct nd_reading *reading,
                               char version[ND_MAIL_VERSION_BYTES])
{
    for (uint32_t i = 0; i < nd_reading_sources(reading); i++)
        if (nd_format_row(nd_reading_source(reading, i)->format)->is_mail)
            return nd_mail_parser_version(version);
    return "none";
}

enum nd_status nd_manifest_put_header(struct nd_output *to, const struct nd_recipe *recipe,
                                      const struct nd_run_options *options,
                                      const struct nd_run_summary *summary,
                                      const struct nd_reading *reading,
                                      const struct nd_against *against,
                                      const struct nd_run_request *request, struct nd_error *err)
{
    char version[ND_MAIL_VERSION_BYTES];
    struct nd_first_line line = line_of(options);
    struct nd_json out = {0};
    enum nd_status status = ND_OK;

    line.prototypes = request->prototypes;
    line.repeats = request->repeats;
    line.mail_parser = mail_parser(reading, version);
    if (against)
        line.seen = nd_against_files(against, &line.n_seen);
    nd_first_line_begin(&out, &line, recipe, summary);
    for (uint32_t i = 0; status == ND_OK && i < nd_reading_sources(reading); i++) {
        const struct nd_first_line_source source = source_of(nd_reading_source(reading, i));

        nd_first_line_source(&out, &source);
        status = pass_on(to, &out, err);
    }
    nd_first_line_end(&out);
    if (status == ND_OK)
        status = pass_on(to, &out, err);
    nd_json_release(&out);
    return status;
}
