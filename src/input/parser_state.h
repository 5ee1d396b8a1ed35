/* parser_state.h - the working memory of a parser; shared by parse*.c */
#ifndef ND_INPUT_PARSER_STATE_H
#define ND_INPUT_PARSER_STATE_H

#include <neardup/input.h>
#include <neardup/text.h>

#include "base/memory.h"
#include "input/charset.h"
#include "input/json_walk.h"
#include "input/page_marks.h"
#include "input/page_tree.h"

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

    struct nd_charset charset;
    struct nd_buffer page_text, page_title; /* HTML: of the current page */
    struct nd_page_marks page_marks;
    struct nd_page_tree page_tree;
    struct nd_buffer mail_body; /* of the current message: its texts, each on lines of its own */
};

/* What every format's parser is given, and answers: 1, 0 (bad->reason), ND_ENOMEM. */
struct nd_parsing {
    struct nd_parser *parser;
    const struct nd_source *source;
    struct nd_document *document;
    uint64_t repaired;
    struct nd_bad_record *bad;
};

int nd_parse_json(struct nd_parsing *p, struct nd_view record);
int nd_parse_html(struct nd_parsing *p, struct nd_view record);
int nd_parse_table(struct nd_parsing *p, struct nd_view record);
int nd_parse_text(struct nd_parsing *p, struct nd_view record);
int nd_parse_mail(struct nd_parsing *p, struct nd_view record);

/*
 * The visible text of a page in valid UTF-8 to parser->page_text, its title to page_title, what is
 * marked up to *marks, its elements to *tree (NULL: nobody asks): 1, 0 (refused), ND_ENOMEM.
 */
int nd_html_read(struct nd_parsing *p, struct nd_view page, struct nd_page_marks *marks,
                 struct nd_page_tree *tree);

/* document->text, which is valid UTF-8, is a page: make it what is seen of it.  1, 0, ND_ENOMEM. */
int nd_html_of_text(struct nd_parsing *p);

/* Fill bad->reason; returns 0. */
int nd_parsing_refuse(struct nd_parsing *p, const char *format, ...) ND_PRINTF(2, 3);

/* Replace *text by its repair in the arena where it is no valid UTF-8: 1, ND_ENOMEM. */
int nd_parsing_repair(struct nd_parsing *p, struct nd_view *text);

/* From parser->value to the document: text, id and fields.  For JSON Lines and tables. */
int nd_parsing_finish(struct nd_parsing *p);

/* Only the fields, from parser->value; and those all set to absent. */
int nd_parsing_take_fields(struct nd_parsing *p);
void nd_parsing_clear(struct nd_parsing *p);

#endif
