/* copies.c - survivors with a field that says how many documents their cluster has */
#include "report/copies.h"

#include "base/view.h"
#include "input/formats/formats.h"
#include "input/formats/lines.h"
#include "input/formats/table_row.h"
#include "reading/names.h"
#include "report/json_member.h"

#include <string.h>

static bool is_table(enum nd_format format)
{
    return format == ND_FORMAT_CSV || format == ND_FORMAT_TSV;
}

static struct nd_view view_of(const char *text)
{
    return (struct nd_view){text, strlen(text)};
}

/* ---- Whether records can take the field ---- */

static enum nd_status refuse(const struct nd_source *source, uint64_t line, const char *what,
                             const char *field, struct nd_error *err)
{
    struct nd_json place = {.failed = false};
    enum nd_status status = ND_ENOMEM;

    nd_place_append(&place, source, line);
    nd_json_bytes(&place, "", 1);
    if (place.failed)
        (void)nd_fail(err, ND_ENOMEM, "out of memory");
    else
        status = nd_fail(err, ND_EINPUT,
                         "%s: there is a %s '%s' already: choose another name for copies-field",
                         place.text.data, what, field);
    nd_json_release(&place);
    return status;
}

static enum nd_status check_columns(const struct nd_source *source, const char *field,
                                    struct nd_error *err)
{
    struct nd_view rest = nd_line_without_end(nd_without_mark(source->header)), raw, name;
    struct nd_arena arena = {0};
    enum nd_status status = ND_OK;

    while (status == ND_OK && nd_row_next(source->format, &rest, &raw)) {
        if (!nd_cell_value(source->format, raw, &arena, &name))
            status = nd_fail(err, ND_ENOMEM, "out of memory");
        else if (nd_view_equal(name, view_of(field)))
            status = refuse(source, 1, "column", field, err);
    }
    nd_arena_release(&arena);
    return status;
}

static enum nd_status check_source(const struct nd_source *source, const char *field,
                                   struct nd_error *err)
{
    if (is_table(source->format))
        return check_columns(source, field, err);
    if (source->format == ND_FORMAT_JSONL)
        return ND_OK;
    return nd_fail(err, ND_EINPUT,
                   "%s is %s, which has no place for a field of copies-field: use --clusters",
                   source->path, nd_format_name(source->format));
}

enum nd_status nd_copies_check(const char *field, const struct nd_reading_batch *batch,
                               const struct nd_source **last, struct nd_error *err)
{
    for (size_t i = 0; i < batch->count; i++) {
        const struct nd_parsed *parsed = &batch->parsed[i];
        const struct nd_source *source = parsed->source;
        enum nd_status status = ND_OK;

        if (parsed->bad)
            continue;
        if (source != *last)
            status = check_source(source, field, err);
        *last = source;
        if (status == ND_OK && source->format == ND_FORMAT_JSONL &&
            nd_json_has_member(parsed->record.bytes, view_of(field)))
            status = refuse(source, parsed->record.line, "field", field, err);
        if (status != ND_OK)
            return status;
    }
    return ND_OK;
}

/* ---- Records with the field ---- */

static void put_number(struct nd_json *out, const void *copies)
{
    nd_json_uint(out, *(const uint64_t *)copies);
}

static void put_name(struct nd_json *out, enum nd_format format, const char *field)
{
    if (format == ND_FORMAT_TSV)
        nd_tsv_field(out, view_of(field));
    else
        nd_csv_cell(out, view_of(field));
}

/* Append a row with one cell more: the name, or where it is NULL the number. */
static void put_row(struct nd_json *out, enum nd_format format, struct nd_view record,
                    const char *name, uint64_t copies)
{
    const struct nd_view row = nd_line_without_end(record);

    nd_json_bytes(out, row.data, row.len);
    nd_json_bytes(out, format == ND_FORMAT_TSV ? "\t" : ",", 1);
    out->after_value = false;
    if (name)
        put_name(out, format, name);
    else
        nd_json_uint(out, copies);
    out->after_value = false;
    nd_json_bytes(out, record.data + row.len, record.len - row.len);
}

void nd_copies_header(struct nd_json *out, enum nd_format format, struct nd_view header,
                      const char *field)
{
    put_row(out, format, header, field, 0);
}

void nd_copies_put(struct nd_json *out, enum nd_format format, struct nd_view record,
                   const char *field, uint64_t copies)
{
    if (is_table(format))
        put_row(out, format, record, NULL, copies);
    else
        nd_json_put_member(out, record, view_of(field), put_number, &copies);
}
