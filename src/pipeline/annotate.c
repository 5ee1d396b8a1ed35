/* annotate.c - what became of each document: rows of JSON, or messages with a field more */
#include "pipeline/filtering.h"

#include <string.h>

#include "input/mail_head.h"

static enum nd_status no_memory(struct nd_error *err)
{
    return nd_fail(err, ND_ENOMEM, "out of memory");
}

bool nd_is_mail(const struct nd_source *source)
{
    return source->format == ND_FORMAT_MAIL || source->format == ND_FORMAT_MBOX;
}

void nd_annotating_release(struct nd_annotating *a)
{
    nd_output_discard(a->out);
    nd_json_release(&a->row);
    a->out = NULL;
}

/* By name, what the signatures have in common. */
static void put_agreements(struct nd_annotating *a, const struct nd_agreement *agreement)
{
    const struct nd_method *method = &a->run->recipe.method;

    nd_json_key(&a->row, "signatures");
    nd_json_open(&a->row, '{');
    for (unsigned i = 0; i < method->n_signatures; i++) {
        nd_json_key(&a->row, method->signature[i].name);
        nd_json_open(&a->row, '{');
        nd_json_key(&a->row, "shared");
        nd_json_uint(&a->row, agreement[i].shared);
        nd_json_key(&a->row, "document");
        nd_json_uint(&a->row, agreement[i].a);
        nd_json_key(&a->row, "prototype");
        nd_json_uint(&a->row, agreement[i].b);
        nd_json_close(&a->row, '}');
    }
    nd_json_close(&a->row, '}');
}

static void put_prototype(struct nd_annotating *a, const struct nd_nearest *nearest)
{
    const struct nd_overlap *o = &nearest->pair.overlap;

    nd_json_key(&a->row, "prototype");
    nd_name_json(&a->row, &nearest->name);
    nd_json_key(&a->row, "prototypes");
    nd_json_uint(&a->row, nearest->prototypes);
    if (a->is_verified) {
        nd_json_key(&a->row, "resemblance");
        nd_json_double(&a->row, nd_overlap_resemblance(o));
        nd_json_key(&a->row, "shared");
        nd_json_uint(&a->row, o->shared);
        nd_json_key(&a->row, "shingles");
        nd_json_uint(&a->row, o->a);
    }
    if (nearest->pair.distance <= ND_DISTANCE_MAX) {
        nd_json_key(&a->row, "hamming");
        nd_json_uint(&a->row, nearest->pair.distance);
    }
    if (a->run->recipe.dedup.candidates == ND_CANDIDATES_MATCH)
        put_agreements(a, nearest->pair.agreement);
}

static enum nd_status write_row(struct nd_annotating *a, const struct nd_parsed *parsed,
                                const struct nd_nearest *nearest, struct nd_error *err)
{
    struct nd_json *room = &a->run->name_room[0];
    const struct nd_source *source = nd_reading_source(a->run->reading, parsed->record.source);
    const struct nd_name name = nd_name_of(&parsed->document, source, parsed->record.line, room);

    a->row.text.len = 0;
    nd_json_open(&a->row, '{');
    nd_json_key(&a->row, "id");
    nd_name_json(&a->row, &name);
    nd_json_key(&a->row, "match");
    nd_json_bool(&a->row, nearest->prototypes > 0);
    if (nearest->prototypes)
        put_prototype(a, nearest);
    nd_json_close(&a->row, '}');
    nd_json_line(&a->row);
    if (a->row.failed || room->failed)
        return no_memory(err);
    return nd_output_write(a->out, a->row.text.data, a->row.text.len, err);
}

/* The end of the message's first line. */
static const char *line_end_of(struct nd_view message)
{
    const char *end = message.len ? memchr(message.data, '\n', message.len) : NULL;

    return end && end > message.data && end[-1] == '\r' ? "\r\n" : "\n";
}

static enum nd_status write_message(struct nd_annotating *a, const struct nd_parsed *parsed,
                                    const struct nd_nearest *nearest, struct nd_error *err)
{
    struct nd_view bytes = parsed->record.bytes;
    size_t before = nd_mail_before_header(bytes);
    const struct nd_view rest = {bytes.data + before, bytes.len - before};

    if (nd_mail_has_header(rest)) { /* else a field would make a header of its text */
        a->row.text.len = 0;
        nd_json_bytes(&a->row, bytes.data, before);
        nd_annotation_field(&a->row, a, nearest, parsed->bad ? parsed->bad->reason : "",
                            line_end_of(rest));
        nd_json_bytes(&a->row, rest.data, rest.len);
        if (a->row.failed)
            return no_memory(err);
        bytes = (struct nd_view){a->row.text.data, a->row.text.len};
    }
    return nd_run_survive(a->run, parsed->record.source, bytes, err);
}

static enum nd_status open_rows(struct nd_annotating *a, struct nd_error *err)
{
    if (a->run->options->output_dir)
        return nd_fail(err, ND_EINVAL, "rows of JSON go to one output, not to --output-dir");
    a->out = nd_run_open_output(a->run, err);
    return a->out ? ND_OK : ND_EIO;
}

/* The first document says what is written. */
static enum nd_status begin(struct nd_annotating *a, const struct nd_source *source,
                            struct nd_error *err)
{
    a->of = source;
    a->has_messages = nd_is_mail(source) && !a->is_json;
    a->run->hands_on_bad = a->has_messages;
    if (!a->has_messages)
        return open_rows(a, err);
    if (nd_run_open_survivors(a->run, err) != ND_OK)
        return err->status;
    nd_survivors_take_documents(a->run->survivors);
    return ND_OK;
}

enum nd_status nd_annotate(struct nd_annotating *a, const struct nd_parsed *parsed,
                           const struct nd_nearest *nearest, struct nd_error *err)
{
    const struct nd_source *source = nd_reading_source(a->run->reading, parsed->record.source);
    bool is_message = nd_is_mail(source) && !a->is_json;
    enum nd_status status = ND_OK;

    if (!nearest && !is_message)
        return ND_OK;
    if (!a->of)
        status = begin(a, source, err);
    if (status != ND_OK)
        return status;
    if (is_message != a->has_messages)
        return nd_fail(err, ND_EINPUT,
                       "of %s and %s only one is mail: what is written of them cannot go to one "
                       "output; --json writes rows of both",
                       a->of->path, source->path);
    return is_message ? write_message(a, parsed, nearest, err) : write_row(a, parsed, nearest, err);
}

enum nd_status nd_annotating_flush(struct nd_annotating *a, struct nd_error *err)
{
    return a->out ? nd_output_flush(a->out, err) : ND_OK;
}

enum nd_status nd_annotating_begin_none(struct nd_annotating *a, struct nd_error *err)
{
    return !a->of && !a->run->options->output_dir ? open_rows(a, err) : ND_OK;
}
