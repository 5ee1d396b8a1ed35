/* parser.h - what a parser of one format calls, and the working memory of all of them */
#ifndef ND_INPUT_FORMATS_PARSER_H
#define ND_INPUT_FORMATS_PARSER_H

#include <neardup/input.h>
#include <neardup/text.h>

#include "base/memory.h"
#include "input/formats/charset.h"
#include "input/formats/json_walk.h"
#include "input/formats/page.h"
#include "input/formats/web_body.h"

struct nd_parser {
    struct nd_input_options options;
    struct nd_view path[ND_JSON_PATHS_MAX]; /* text fields, the id, other fields */
    size_t n_paths;
    struct nd_arena arena; /* what documents are made of, until the reset */
    struct nd_json_indexer *json;
    struct nd_json_value value[ND_JSON_PATHS_MAX]; /* by path, of the current record */

    struct nd_view *cell; /* tables: of the current row */
    size_t n_cells, cell_capacity;
    size_t column[ND_JSON_PATHS_MAX]; /* by path; SIZE_MAX: none has its name */
    size_t n_columns;                 /* of the header that `column` was made for */
    uint64_t columns_key;             /* hash of that header */

    struct nd_replaced replaced; /* in the current record */
    struct nd_charset charset;
    struct nd_html_page page;   /* HTML: the current one */
    struct nd_buffer mail_body; /* of the current message: its texts, each on lines of its own; of
                                 a feed: what an element says */
    struct nd_buffer feed_list; /* feeds: the categories of an item */
    struct nd_web_unpacker unpacker; /* web archives: of the current body */
};

/* A record on its way to a document: what every format's parser is given (nd_format_row.parse). */
struct nd_parsing {
    struct nd_parser *parser;
    const struct nd_source *source;
    struct nd_document *document; /* to be filled */
    struct nd_bad_record *bad;
};

/*
 * ---- For the parser of a format with fields ----
 *
 *     if (nd_parsing_begin(p, &record) < 0)
 *         return ND_ENOMEM;
 *     for each field of the record
 *         nd_parsing_set(p, name, value);
 *     return nd_parsing_finish(p, record);
 *
 * The record has all its bytes: the line end, and the blank lines behind a paragraph.  A byte order
 * mark at the start of the file is taken off, unless the file is one record (nd_cut_whole).
 *
 * Begin: *record becomes valid UTF-8, as the option `charset` says, and no field is set.  1, or
 * ND_ENOMEM.
 */
int nd_parsing_begin(struct nd_parsing *p, struct nd_view *record);

/* The record has this field.  `value` is a part of the record that nd_parsing_begin gave.  If it
 * has a field twice, the first one counts; names that nobody asked for are ignored. */
void nd_parsing_set(struct nd_parsing *p, struct nd_view name, struct nd_view value);

/*
 * As nd_parsing_set, for a value that has escapes: `raw` is how the record writes it, `value` what
 * it means, made in parser->arena with as many U+FFFD as raw has.
 */
void nd_parsing_set_made(struct nd_parsing *p, struct nd_view name, struct nd_view raw,
                         struct nd_view value);

/* The text, the id and the fields of p->document, from the fields that were set: 1; 0 if the record
 * has no text; ND_ENOMEM. */
int nd_parsing_finish(struct nd_parsing *p, struct nd_view record);

/* The record is bad: fill bad->reason; returns 0. */
int nd_parsing_refuse(struct nd_parsing *p, const char *format, ...) ND_PRINTF(2, 3);

/* ---- For parsers that do more themselves ---- */

/*
 * Read the visible text of a page in valid UTF-8, its title, and what else is wanted, into
 * parser->page: 1, 0 (refused), ND_ENOMEM.
 */
int nd_html_read(struct nd_parsing *p, struct nd_view page, struct nd_page_wanted wants);

/* document->text, which is valid UTF-8, is a page: make it what is seen of it.  1, 0, ND_ENOMEM. */
int nd_html_of_text(struct nd_parsing *p);

/* Set the id and the fields that the record has not, as the head of the page says that was read last.
 * `address` is its own address, or of no bytes: 1, ND_ENOMEM. */
int nd_html_take_head(struct nd_parsing *p, struct nd_view address);

/* Replace *text by its repair in the arena if it is not valid UTF-8, and note in parser->replaced
 * what was replaced: 1, ND_ENOMEM. */
int nd_parsing_repair(struct nd_parsing *p, struct nd_view *text);

/* Make *text, which is in the charset that the options name, valid UTF-8 in the same way. */
int nd_parsing_decode(struct nd_parsing *p, struct nd_view *text);

/* No value is set. */
void nd_parsing_clear(struct nd_parsing *p);

/* nd_parsing_finish for values whose `replaced` is known, and document->text_replaced too. */
int nd_parsing_take(struct nd_parsing *p);

/* nd_parsing_take for a text that is made as it shall be, whatever the option `text_format` says. */
int nd_parsing_take_made(struct nd_parsing *p);

/* The id and the fields, for a document that has its text. */
int nd_parsing_take_others(struct nd_parsing *p);

/* The fields alone. */
int nd_parsing_take_fields(struct nd_parsing *p);

#endif
