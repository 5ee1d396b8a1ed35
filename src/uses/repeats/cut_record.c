/* cut_record.c - a record without some parts of its text, everything else byte for byte */

/*
 * The text of a record may be written otherwise than it is read: with escapes in JSON and tables, and
 * with bytes that are not valid UTF-8, which are read as U+FFFD.  A place in the text is found in the
 * record by walking both:
 *
 *     record   "a \u00e9t\ud83d\ude00 <FF> b"
 *     text      a é     t😀             U+FFFD b
 */
#include "uses/repeats/cut_record.h"

#include <neardup/text.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/view.h"
#include "input/formats/formats.h"
#include "input/formats/json_walk.h"
#include "input/formats/lines.h"
#include "input/formats/table_row.h"

struct nd_record_cutter {
    const struct nd_input_options *options;
    struct nd_json_indexer *indexer;
    struct nd_arena arena;
    struct nd_buffer row; /* a record of CSV whose cell is written anew */
};

/* How a text is written. */
enum writing { AS_IT_IS, IN_JSON, IN_QUOTES, IN_TSV };

/* The text as it is written in the record, and a place in both. */
struct written_text {
    const char *bytes; /* of the record */
    size_t at, end;    /* in the record */
    size_t text_at;    /* in the text */
    size_t replaced;   /* where the next byte is that is read as U+FFFD, */
    size_t n_replaced; /* and how many; 0: there is none */
    size_t last_len;   /* bytes of the last step, in the record */
    enum writing writing;
    bool is_bare; /* a cell without quotes */
};

struct nd_record_cutter *nd_record_cutter_new(const struct nd_input_options *options)
{
    struct nd_record_cutter *c = calloc(1, sizeof *c);

    if (!c)
        return NULL;
    c->options = options;
    c->indexer = nd_json_indexer_new();
    if (c->indexer)
        return c;
    free(c);
    return NULL;
}

void nd_record_cutter_free(struct nd_record_cutter *c)
{
    if (!c)
        return;
    nd_json_indexer_free(c->indexer);
    nd_arena_release(&c->arena);
    nd_buffer_release(&c->row);
    free(c);
}

static enum nd_status no_memory(struct nd_error *err)
{
    return nd_fail(err, ND_ENOMEM, "out of memory");
}

/* ---- Places in the text and in the record ---------------------------------------------------- */

/* Find the next bytes that are read as U+FFFD. */
static void find_replaced(struct written_text *w)
{
    size_t at = w->at;

    w->n_replaced = nd_utf8_next_replaced(w->bytes, w->end, &at);
    w->replaced = at - w->n_replaced;
}

static unsigned hex_value(const char *digits)
{
    unsigned value = 0;

    for (int i = 0; i < 4; i++) {
        const char c = digits[i];

        value = value * 16 + (unsigned)(c <= '9' ? c - '0' : (c | 32) - 'a' + 10);
    }
    return value;
}

static bool is_unit(const struct written_text *w, size_t at, unsigned from, unsigned to)
{
    return w->end - at >= 6 && w->bytes[at] == '\\' && w->bytes[at + 1] == 'u' &&
           hex_value(w->bytes + at + 2) >= from && hex_value(w->bytes + at + 2) <= to;
}

/* Measure an escape: its length in the record, and what it stands for in UTF-8.  A lone surrogate is
 * U+FFFD. */
static size_t escape_len(const struct written_text *w, size_t *text_len)
{
    unsigned value;

    *text_len = 1;
    if (w->bytes[w->at + 1] != 'u')
        return 2;
    value = hex_value(w->bytes + w->at + 2);
    *text_len = value < 0x80 ? 1 : value < 0x800 ? 2 : 3;
    if (value < 0xD800 || value > 0xDBFF || !is_unit(w, w->at + 6, 0xDC00, 0xDFFF))
        return 6;
    *text_len = 4;
    return 12;
}

/* Measure what stands for the next bytes of the text, which may be an escape. */
static size_t step_len(const struct written_text *w, size_t *text_len)
{
    const char *const at = w->bytes + w->at;
    const bool is_pair = w->end - w->at >= 2;

    *text_len = 1;
    switch (w->writing) {
    case IN_JSON: return *at == '\\' ? escape_len(w, text_len) : 1;
    case IN_QUOTES: return *at == '"' && is_pair ? 2 : 1;
    case IN_TSV: return *at == '\\' && is_pair && strchr("tnr\\", at[1]) && at[1] ? 2 : 1;
    default: return 1;
    }
}

/* Walk to a place in the text.  False: the text has no such place. */
static bool walk_to(struct written_text *w, size_t text_at)
{
    while (w->text_at < text_at && w->at < w->end) {
        size_t len = 1, text_len = 1;

        if (w->n_replaced && w->at == w->replaced) {
            len = w->n_replaced;
            text_len = 3;
        } else {
            len = step_len(w, &text_len);
        }
        w->last_len = len;
        w->at += len;
        w->text_at += text_len;
        if (w->n_replaced && w->at > w->replaced)
            find_replaced(w);
    }
    return w->text_at == text_at;
}

/* ---- Where the text is in the record --------------------------------------------------------- */

/* Find a place of a repaired record in the record itself. */
static bool unrepaired(struct nd_view record, size_t at, size_t *found)
{
    struct written_text w = {.bytes = record.data, .end = record.len};

    find_replaced(&w);
    if (!walk_to(&w, at))
        return false;
    *found = w.at;
    return true;
}

static enum nd_status changed(struct nd_error *err)
{
    return nd_fail(err, ND_ECHANGED, "the input changed while it was read");
}

/* Find the field's string in a record that was repaired for it, if needed. */
static enum nd_status find_field(struct nd_record_cutter *c, struct nd_view record,
                                 struct nd_view read, struct written_text *w, struct nd_error *err)
{
    const char *const name = c->options->n_text_fields ? c->options->text_fields[0] : "text";
    const struct nd_view path = {name, strlen(name)};
    struct nd_json_value value;
    const char *reason = "";
    enum nd_json_found found;
    size_t from, to;

    nd_arena_reset(&c->arena);
    found = nd_json_walk(c->indexer, read.data, read.len, &path, 1, 1, &c->arena, &value, &reason);
    if (found == ND_JSON_NO_MEMORY)
        return no_memory(err);
    if (found != ND_JSON_INDEXED || value.kind != ND_JSON_STRING)
        return changed(err);
    from = (size_t)(value.raw.data - read.data);
    to = from + value.raw.len;
    if (read.data != record.data &&
        (!unrepaired(record, from, &from) || !unrepaired(record, to, &to)))
        return changed(err);
    *w = (struct written_text){.bytes = record.data, .at = from, .end = to, .writing = IN_JSON};
    return ND_OK;
}

static enum nd_status find_json(struct nd_record_cutter *c, struct nd_view record,
                                struct written_text *w, struct nd_error *err)
{
    struct nd_buffer padded = {0};
    struct nd_view read = record;
    enum nd_status status;
    char *repaired = NULL;
    size_t len;

    if (nd_utf8_repair(record.data, record.len, &repaired, &len) < 0)
        return no_memory(err);
    if (repaired && !nd_buffer_append(&padded, repaired, len)) {
        free(repaired);
        return no_memory(err);
    }
    if (repaired)
        read = (struct nd_view){padded.data, len};
    status = find_field(c, record, read, w, err);
    nd_buffer_release(&padded);
    free(repaired);
    return status;
}

/* The number of the column with the text. */
static bool find_column(struct nd_record_cutter *c, const struct nd_source *source, size_t *column)
{
    const char *const name = c->options->n_text_fields ? c->options->text_fields[0] : "text";
    struct nd_view rest = nd_line_without_end(nd_without_mark(source->header)), raw, value;

    nd_arena_reset(&c->arena);
    for (*column = 0; nd_row_next(source->format, &rest, &raw); ++*column)
        if (nd_cell_value(source->format, raw, &c->arena, &value) && nd_view_is(value, name))
            return true;
    return false;
}

/* Append a value in quotes, without those around it. */
static bool append_doubled(struct nd_buffer *out, const char *bytes, size_t len)
{
    bool done = true;

    for (size_t i = 0; done && i < len; i++)
        done = nd_buffer_append(out, bytes[i] == '"' ? "\"\"" : bytes + i, bytes[i] == '"' ? 2 : 1);
    return done;
}

/* Find where the quotes are closed that a cell begins with. */
static size_t closing_quote(struct nd_view cell)
{
    size_t at = 1;

    while (at < cell.len &&
           (cell.data[at] != '"' || (at + 1 < cell.len && cell.data[at + 1] == '"')))
        at += cell.data[at] == '"' ? 2 : 1;
    return at < cell.len ? at : cell.len;
}

/* Find the text in the cell of a table.  A cell of CSV that goes on behind its quotes is written anew,
 * all in quotes. */
static enum nd_status find_cell(struct nd_record_cutter *c, const struct nd_parsed *parsed,
                                struct written_text *w, struct nd_error *err)
{
    const enum nd_format format = parsed->source->format;
    const struct nd_view record = parsed->record.bytes;
    struct nd_view rest = nd_line_without_end(record), cell;
    size_t column, from, to, close;
    bool done = true;

    if (!find_column(c, parsed->source, &column))
        return changed(err);
    do
        if (!nd_row_next(format, &rest, &cell))
            return changed(err);
    while (column--);
    from = (size_t)(cell.data - record.data);
    to = from + cell.len;
    *w = (struct written_text){.bytes = record.data,
                               .at = from,
                               .end = to,
                               .writing = format == ND_FORMAT_TSV ? IN_TSV : AS_IT_IS,
                               .is_bare = true};
    if (format != ND_FORMAT_CSV || !cell.len || cell.data[0] != '"')
        return ND_OK;
    w->writing = IN_QUOTES;
    w->is_bare = false;
    w->at++;
    close = closing_quote(cell);
    w->end = from + close;
    if (close + 1 >= cell.len)
        return ND_OK;
    c->row.len = 0;
    done = nd_buffer_append(&c->row, record.data, from + close) &&
           append_doubled(&c->row, cell.data + close + 1, cell.len - close - 1);
    w->end = c->row.len;
    done = done && nd_buffer_append(&c->row, "\"", 1) &&
           nd_buffer_append(&c->row, record.data + to, record.len - to);
    w->bytes = c->row.data;
    return done ? ND_OK : no_memory(err);
}

/* Find the text of a record of plain text: all but a mark in front, line ends behind, and the blank
 * lines around a paragraph. */
static void find_text(const struct nd_record_cutter *c, const struct nd_parsed *parsed,
                      struct written_text *w)
{
    const struct nd_view record = parsed->record.bytes;
    const char *const text = parsed->document.text.data;
    size_t from = 0;

    if (text >= record.data && text <= record.data + record.len) {
        from = (size_t)(text - record.data);
    } else if (!parsed->source->is_container) {
        from = nd_mark_len(record.data, record.len);
    } else if (c->options->unit == ND_UNIT_PARAGRAPH) {
        for (size_t i = 0; i < record.len && nd_is_white(record.data[i]); i++)
            if (record.data[i] == '\n')
                from = i + 1;
    }
    *w = (struct written_text){.bytes = record.data, .at = from, .end = record.len};
}

/* ---- Cells that need another form -------------------------------------------------------------- */

/* Whether a row is blank, and would be no record: its only cell is empty. */
static bool is_blank_row(const struct nd_buffer *record, size_t from, size_t tail)
{
    return from == 0 && record->len == tail && (!tail || strchr("\r\n", record->data[0]));
}

/* TSV has no quotes: a space, which is no token, is the text of a row of one empty cell. */
static bool fill_row(struct nd_buffer *record)
{
    if (!nd_buffer_append(record, " ", 1))
        return false;
    memmove(record->data + 1, record->data, record->len - 1);
    record->data[0] = ' ';
    return true;
}

/* Write a carriage return that a cut left at the end of a row of TSV as an escape, since it would belong
 * to the line end; a backslash before it that stands for itself is doubled. */
static bool escape_return(struct nd_buffer *record, size_t from, size_t tail)
{
    const size_t end = record->len - tail;
    size_t at = end - (end > from), lone = 0, extra;

    if (end == from || record->data[at] != '\r' || (tail && !strchr("\r\n", record->data[end])))
        return true;
    while (at - lone > from && record->data[at - lone - 1] == '\\')
        lone++;
    extra = 1 + lone % 2;
    if (!nd_buffer_append(record, "\\\\", extra))
        return false;
    memmove(record->data + end + extra, record->data + end, tail);
    memset(record->data + at, '\\', extra);
    record->data[at + extra] = 'r';
    return true;
}

/* A cell of CSV without quotes must not begin with one, nor end with what belongs to a line end, and a
 * row must not be blank. */
static bool quote_cell(struct nd_buffer *record, size_t from, size_t tail)
{
    const size_t len = record->len - from - tail;
    struct nd_buffer quoted = {0};
    bool done;

    if (len ? record->data[from] != '"' && record->data[from + len - 1] != '\r'
            : !is_blank_row(record, from, tail))
        return true;
    done = nd_buffer_append(&quoted, "\"", 1) &&
           append_doubled(&quoted, record->data + from, len) &&
           nd_buffer_append(&quoted, "\"", 1) &&
           nd_buffer_append(&quoted, record->data + from + len, tail);
    record->len = from;
    done = done && nd_buffer_append(record, quoted.data, quoted.len);
    nd_buffer_release(&quoted);
    return done;
}

/* ---- A record without them ------------------------------------------------------------------- */

/* Append what stands before a range of the text, and step behind it. */
static enum nd_status step_over(struct written_text *w, struct nd_view text, size_t *from,
                                const struct nd_text_range *range, struct nd_buffer *record,
                                struct nd_error *err)
{
    const int joins = nd_text_joins(text, range);
    bool done = joins >= 0;

    if (range->to > text.len || !walk_to(w, range->from))
        return changed(err);
    done = done && nd_buffer_append(record, w->bytes + *from, w->at - *from);
    /* A backslash that stands for itself must not make an escape with what follows. */
    if (w->writing == IN_TSV && range->from && text.data[range->from - 1] == '\\' &&
        w->last_len == 1)
        done = done && nd_buffer_append(record, "\\", 1);
    done = done && (!joins || nd_buffer_append(record, " ", 1));
    if (done && !walk_to(w, range->to))
        return changed(err);
    *from = w->at;
    return done ? ND_OK : no_memory(err);
}

/* Find the text in the record as it is written. */
static enum nd_status find_written(struct nd_record_cutter *c, const struct nd_parsed *parsed,
                                   struct written_text *w, struct nd_error *err)
{
    enum nd_status status = ND_OK;

    if (parsed->source->format == ND_FORMAT_JSONL)
        status = find_json(c, parsed->record.bytes, w, err);
    else if (nd_format_row(parsed->source->format)->has_header)
        status = find_cell(c, parsed, w, err);
    else
        find_text(c, parsed, w);
    if (status == ND_OK)
        find_replaced(w);
    return status;
}

/* Append the rest of the record, from `from` on; the text began at `begin` in both. */
static bool end_record(const struct written_text *w, size_t begin, size_t from, size_t len,
                       struct nd_buffer *record)
{
    if (!nd_buffer_append(record, w->bytes + from, len - from))
        return false;
    if (!w->is_bare)
        return true;
    if (w->writing != IN_TSV)
        return quote_cell(record, begin, len - w->end);
    if (is_blank_row(record, begin, len - w->end))
        return fill_row(record);
    return escape_return(record, begin, len - w->end);
}

enum nd_status nd_record_cut(struct nd_record_cutter *c, const struct nd_parsed *parsed,
                             const struct nd_text_ranges *ranges, struct nd_buffer *record,
                             struct nd_error *err)
{
    struct written_text w = {.bytes = NULL};
    enum nd_status status = find_written(c, parsed, &w, err);
    const size_t begin = w.at;
    size_t from = 0, len;

    record->len = 0;
    len = w.bytes == c->row.data ? c->row.len : parsed->record.bytes.len;
    for (size_t i = 0; status == ND_OK && i < ranges->n; i++)
        status = step_over(&w, parsed->document.text, &from, &ranges->item[i], record, err);
    if (status == ND_OK && !end_record(&w, begin, from, len, record))
        status = no_memory(err);
    return status;
}
