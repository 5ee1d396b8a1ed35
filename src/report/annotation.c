/* annotation.c - a record with its annotation: JSON Lines, CSV, TSV, mail */

/*
 * An annotated record must stay a valid record, and everything else in it must stay byte for byte. A
 * JSON object gets a member at its end, in place of those of an older annotation (json_member.h). CSV
 * and TSV get columns at the end of each row. Mail gets a header field at its top, whose long values are folded and encoded (RFC 2231).
 */
#include "report/annotation.h"

#include "base/memory.h"
#include "input/formats/detect.h"
#include "input/formats/formats.h"
#include "input/formats/lines.h"
#include "input/formats/mail_head.h"
#include "input/formats/table_row.h"
#include "recipe/recipe_struct.h"
#include "report/json_member.h"

#include <string.h>

/* ---- The header field X-Neardup of mail ---- */

/* How much of a name fits in one line: a header's lines have at most 998 bytes (RFC 5322). */
enum { PIECE_BYTES = 300 };

static void put(struct nd_json *out, const char *text)
{
    nd_json_bytes(out, text, strlen(text));
}

static bool is_quotable(struct nd_view name)
{
    if (name.len > PIECE_BYTES)
        return false;
    for (size_t i = 0; i < name.len; i++)
        if (name.data[i] < ' ' || name.data[i] > '~')
            return false;
    return true;
}

static void put_quoted(struct nd_json *out, const char *parameter, struct nd_view name)
{
    put(out, parameter);
    put(out, "=\"");
    for (size_t i = 0; i < name.len; i++) {
        if (name.data[i] == '"' || name.data[i] == '\\')
            put(out, "\\");
        nd_json_bytes(out, name.data + i, 1);
    }
    put(out, "\"");
}

/* Bytes that may appear literally in a parameter's extended value (RFC 2231, section 7). */
static bool is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c && strchr("-._+", c));
}

static void put_encoded(struct nd_json *out, const char *parameter, struct nd_view name,
                        const char *fold)
{
    static const char digit[] = "0123456789ABCDEF";
    bool in_pieces = name.len > PIECE_BYTES;

    put(out, parameter);
    put(out, in_pieces ? "*0*=UTF-8''" : "*=UTF-8''");
    for (size_t i = 0; i < name.len; i++) {
        unsigned char byte = (unsigned char)name.data[i];

        if (i && i % PIECE_BYTES == 0) {
            put(out, ";");
            put(out, fold);
            put(out, parameter);
            put(out, "*");
            out->after_value = false;
            nd_json_uint(out, i / PIECE_BYTES);
            put(out, "*=");
        }
        if (is_plain(name.data[i]))
            nd_json_bytes(out, name.data + i, 1);
        else
            nd_json_bytes(out, (const char[]){'%', digit[byte >> 4], digit[byte & 15]}, 3);
    }
}

static const char *fold_of(const char *line_end)
{
    return strcmp(line_end, "\r\n") == 0 ? "\r\n\t" : "\n\t";
}

void nd_mail_name(struct nd_json *out, const char *parameter, struct nd_view name,
                  const char *line_end)
{
    const char *fold = fold_of(line_end);

    put(out, ";");
    put(out, fold);
    if (is_quotable(name))
        put_quoted(out, parameter, name);
    else
        put_encoded(out, parameter, name, fold);
}

/* The end of the message's first line. */
static const char *line_end_of(struct nd_view message)
{
    const char *end = message.len ? memchr(message.data, '\n', message.len) : NULL;

    return end && end > message.data && end[-1] == '\r' ? "\r\n" : "\n";
}

void nd_mail_annotate(struct nd_json *out, struct nd_view message,
                      void (*write)(struct nd_json *out, const void *context, const char *line_end),
                      const void *context)
{
    size_t before = nd_mail_before_header(message);
    const struct nd_view rest = {message.data + before, message.len - before};

    nd_json_bytes(out, message.data, before);
    if (nd_mail_has_header(rest)) { /* otherwise the field would turn its text into a header */
        const char *line_end = line_end_of(rest);

        put(out, "X-Neardup: ");
        write(out, context, line_end);
        put(out, line_end);
        out->after_value = false;
    }
    nd_json_bytes(out, rest.data, rest.len);
}

/* ---- All formats ---- */

static const char field_name[] = "neardup"; /* the object's key; the columns' prefix */

void nd_measures_json(struct nd_json *out, const struct nd_measures *m, const char *other)
{
    if (m->is_verified) {
        nd_json_put_double(out, "resemblance", m->resemblance);
    }
    if (m->is_verified && m->overlap) {
        nd_json_put_uint(out, "shared", m->overlap->shared);
        nd_json_put_uint(out, "shingles", m->overlap->a);
    }
    if (m->shows_containment && m->overlap) {
        nd_json_put_double(out, "containment", nd_fraction(m->overlap->shared, m->overlap->a));
        nd_json_put_double(out, "containment_of_other",
                           nd_fraction(m->overlap->shared, m->overlap->b));
    }
    if (m->distance <= ND_DISTANCE_MAX) {
        nd_json_put_uint(out, "hamming", m->distance);
    }
    if (m->method)
        nd_agreements_json(out, m->method, m->agreement, "document", other);
}

static void put_uint(struct nd_json *out, uint64_t value)
{
    out->after_value = false;
    nd_json_uint(out, value);
    out->after_value = false;
}

static void put_double(struct nd_json *out, double value)
{
    out->after_value = false;
    nd_json_double(out, value);
    out->after_value = false;
}

void nd_measures_mail(struct nd_json *out, const struct nd_measures *m)
{
    if (m->is_verified) {
        put(out, "; resemblance=");
        put_double(out, m->resemblance);
    }
    if (m->is_verified && m->overlap) {
        put(out, "; shared=");
        put_uint(out, m->overlap->shared);
        put(out, "; shingles=");
        put_uint(out, m->overlap->a);
    }
    if (m->shows_containment && m->overlap) {
        put(out, "; containment=");
        put_double(out, nd_fraction(m->overlap->shared, m->overlap->a));
        put(out, "; containment_of_other=");
        put_double(out, nd_fraction(m->overlap->shared, m->overlap->b));
    }
    if (m->distance <= ND_DISTANCE_MAX) {
        put(out, "; hamming=");
        put_uint(out, m->distance);
    }
    for (unsigned i = 0; m->method && i < m->method->n_signatures; i++) {
        put(out, "; shared.");
        put(out, m->method->signature[i].name);
        put(out, "=");
        put_uint(out, m->agreement[i].shared);
    }
}

static const char *identical_word(enum nd_identical identical)
{
    static const char *const words[] = {"no", "bytes", "tokens"};

    return words[identical];
}

static void put_members(struct nd_json *out, const struct nd_annotation *a)
{
    nd_json_put_bool(out, "match", a->is_duplicate);
    nd_json_key(out, "cluster");
    nd_name_json(out, &a->cluster);
    if (a->copies)
        nd_json_put_uint(out, "copies", a->copies);
    if (!a->is_duplicate)
        return;
    nd_json_key(out, "duplicate_of");
    nd_name_json(out, &a->duplicate_of);
    nd_json_put_text(out, "identical", identical_word(a->identical));
    if (a->decided_by) {
        nd_json_put_text(out, "decided_by", a->decided_by);
    }
    nd_measures_json(out, &a->measures, "kept");
}

static void put_object(struct nd_json *out, const void *annotation)
{
    nd_json_open(out, '{');
    put_members(out, annotation);
    nd_json_close(out, '}');
}

static void put_json(struct nd_json *out, struct nd_view record, const struct nd_annotation *a)
{
    nd_json_put_member(out, record, (struct nd_view){field_name, strlen(field_name)}, put_object,
                       a);
}

/* The columns in order, followed by one for each signature, "neardup.shared.NAME". */
static const char *const columns[] = {"match",
                                      "cluster",
                                      "copies",
                                      "duplicate_of",
                                      "identical",
                                      "decided_by",
                                      "resemblance",
                                      "shared",
                                      "shingles",
                                      "containment",
                                      "containment_of_other",
                                      "hamming"};
enum { N_COLUMNS = sizeof columns / sizeof *columns };

static void put_cell(struct nd_json *out, enum nd_format format, struct nd_view value)
{
    if (format == ND_FORMAT_TSV)
        nd_tsv_field(out, value);
    else
        nd_csv_cell(out, value);
}

/* Append the cells of the measures, each after a separator; unknown values are empty. */
static void put_measure_cells(struct nd_json *out, const char *separator,
                              const struct nd_measures *m, unsigned n_signatures)
{
    put(out, separator);
    if (m->is_verified)
        put_double(out, m->resemblance);
    put(out, separator);
    if (m->is_verified && m->overlap)
        put_uint(out, m->overlap->shared);
    put(out, separator);
    if (m->is_verified && m->overlap)
        put_uint(out, m->overlap->a);
    put(out, separator);
    if (m->shows_containment && m->overlap)
        put_double(out, nd_fraction(m->overlap->shared, m->overlap->a));
    put(out, separator);
    if (m->shows_containment && m->overlap)
        put_double(out, nd_fraction(m->overlap->shared, m->overlap->b));
    put(out, separator);
    if (m->distance <= ND_DISTANCE_MAX)
        put_uint(out, m->distance);
    for (unsigned i = 0; i < n_signatures; i++) {
        put(out, separator);
        if (m->method)
            put_uint(out, m->agreement[i].shared);
    }
}

static void put_row(struct nd_json *out, enum nd_format format, struct nd_view record,
                    const struct nd_annotation *a)
{
    const struct nd_measures none = {.distance = ND_DISTANCE_MAX + 1};
    const struct nd_view row = nd_line_without_end(record);
    const char *separator = format == ND_FORMAT_TSV ? "\t" : ",";

    nd_json_bytes(out, row.data, row.len);
    put(out, separator);
    put(out, a->is_duplicate ? "true" : "false");
    put(out, separator);
    put_cell(out, format, a->cluster.text);
    put(out, separator);
    if (a->copies)
        put_uint(out, a->copies);
    put(out, separator);
    if (a->is_duplicate)
        put_cell(out, format, a->duplicate_of.text);
    put(out, separator);
    if (a->is_duplicate)
        put(out, identical_word(a->identical));
    put(out, separator);
    if (a->decided_by)
        put(out, a->decided_by);
    put_measure_cells(out, separator, a->is_duplicate ? &a->measures : &none, a->n_signatures);
    nd_json_bytes(out, record.data + row.len, record.len - row.len);
}

/* Whether a header already has a column that an annotation would add. */
static bool has_column(enum nd_format format, struct nd_view header)
{
    struct nd_view rest = nd_line_without_end(header), raw;
    size_t len = strlen(field_name);

    while (nd_row_next(format, &rest, &raw)) {
        if (raw.len && raw.data[0] == '"')
            raw = (struct nd_view){raw.data + 1, raw.len - 1};
        if (raw.len > len && memcmp(raw.data, field_name, len) == 0 && raw.data[len] == '.')
            return true;
    }
    return false;
}

bool nd_annotation_header(struct nd_json *out, enum nd_format format, struct nd_view header,
                          const struct nd_method *method)
{
    const struct nd_view row = nd_line_without_end(header);
    const char *separator = format == ND_FORMAT_TSV ? "\t" : ",";

    if (has_column(format, header))
        return false;
    nd_json_bytes(out, row.data, row.len);
    for (size_t i = 0; i < N_COLUMNS; i++) {
        put(out, separator);
        put(out, "neardup.");
        put(out, columns[i]);
    }
    for (unsigned i = 0; i < method->n_signatures; i++) {
        put(out, separator);
        put(out, "neardup.shared.");
        put(out, method->signature[i].name);
    }
    nd_json_bytes(out, header.data + row.len, header.len - row.len);
    return true;
}

static void write_field(struct nd_json *out, const void *context, const char *line_end)
{
    const struct nd_annotation *a = context;

    if (a->unread) {
        put(out, "unread; reason=\"");
        put(out, a->unread);
        put(out, "\"");
        return;
    }
    put(out, a->is_duplicate ? "match" : "none");
    if (a->copies) {
        put(out, "; copies=");
        put_uint(out, a->copies);
    }
    if (a->is_duplicate) {
        put(out, "; identical=");
        put(out, identical_word(a->identical));
        if (a->decided_by) {
            put(out, "; decided_by=");
            put(out, a->decided_by);
        }
        nd_measures_mail(out, &a->measures);
        nd_mail_name(out, "duplicate_of", a->duplicate_of.text, line_end);
    }
    nd_mail_name(out, "cluster", a->cluster.text, line_end);
}

/*
 * The measure, between the document and the kept one, that reached the threshold. With components
 * the kept one did not decide, and equal documents need no measure.
 */
static const char *deciding_measure(const struct nd_dedup_params *params,
                                    const struct nd_decision *decision)
{
    if (decision->identical != ND_IDENTICAL_NO || !decision->verified ||
        params->cluster == ND_CLUSTER_COMPONENTS)
        return NULL;
    switch (nd_deciding_containment(params, decision)) {
    case ND_CONTAINMENT_OF_REMOVED: return "containment";
    case ND_CONTAINMENT_OF_KEPT: return "containment_of_other";
    case ND_CONTAINMENT_NONE: break;
    }
    return nd_dedup_measure(params);
}

struct nd_annotation nd_annotation_of(const struct nd_recipe *recipe,
                                      const struct nd_decision *decision,
                                      const struct nd_name *kept, const struct nd_row_via *via)
{
    bool by_match = recipe->dedup.candidates == ND_CANDIDATES_MATCH && !via &&
                    decision->identical == ND_IDENTICAL_NO;

    return (struct nd_annotation){
        .is_duplicate = true,
        .cluster = *kept,
        .duplicate_of = via ? via->name : *kept,
        .identical = decision->identical,
        .decided_by = deciding_measure(&recipe->dedup, decision),
        .n_signatures = recipe->method.n_signatures,
        .measures =
            {
                .is_verified = via ? via->is_verified : decision->verified != 0,
                .resemblance = via ? via->resemblance : nd_overlap_resemblance(&decision->overlap),
                .overlap = via ? NULL : &decision->overlap,
                .shows_containment =
                    !via && decision->verified && nd_dedup_measures_containment(&recipe->dedup),
                .distance = via ? ND_DISTANCE_MAX + 1 : decision->distance,
                .method = by_match ? &recipe->method : NULL,
                .agreement = decision->agreement,
            },
    };
}

struct nd_annotation nd_annotation_of_kept(const struct nd_recipe *recipe,
                                           const struct nd_name *name, uint32_t copies)
{
    return (struct nd_annotation){
        .cluster = *name, .copies = copies, .n_signatures = recipe->method.n_signatures};
}

struct nd_annotation nd_annotation_of_bad(const struct nd_bad_record *bad)
{
    return (struct nd_annotation){.unread = bad->reason};
}

bool nd_annotation_fits_bad(enum nd_format format)
{
    return nd_format_row(format)->is_mail;
}

static bool fits(enum nd_format format)
{
    return format == ND_FORMAT_JSONL || format == ND_FORMAT_CSV || format == ND_FORMAT_TSV ||
           nd_annotation_fits_bad(format);
}

enum nd_status nd_annotation_check(const struct nd_source *source, const struct nd_source **first,
                                   struct nd_error *err)
{
    if (!fits(source->format))
        return nd_fail(err, ND_EINPUT,
                       "%s is %s, which has no place for an annotation: use --clusters or "
                       "--manifest",
                       source->path, nd_format_name(source->format));
    if (!*first)
        *first = source;
    if (nd_annotation_fits_bad((*first)->format) == nd_annotation_fits_bad(source->format))
        return ND_OK;
    return nd_fail(err, ND_EINPUT, "only one of %s and %s is mail: annotate them in two runs",
                   (*first)->path, source->path);
}

void nd_annotation_put(struct nd_json *out, enum nd_format format, struct nd_view record,
                       const struct nd_annotation *a)
{
    switch (format) {
    case ND_FORMAT_JSONL: put_json(out, record, a); break;
    case ND_FORMAT_CSV:
    case ND_FORMAT_TSV: put_row(out, format, record, a); break;
    case ND_FORMAT_MAIL:
    case ND_FORMAT_MBOX: nd_mail_annotate(out, record, write_field, a); break;
    default: nd_json_bytes(out, record.data, record.len);
    }
}
