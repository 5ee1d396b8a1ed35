/* formats.h - the formats that documents are read from, a row each */
#ifndef ND_INPUT_FORMATS_FORMATS_H
#define ND_INPUT_FORMATS_FORMATS_H

#include <stdbool.h>
#include <stddef.h>

#include <neardup/input.h>

#include "base/memory.h"
#include "input/formats/cut.h"

struct nd_parsing;
struct nd_field_list;

/* A format.  Its row is in the file that parses it; formats.c lists the rows in the order of enum
 * nd_format.  What is left out is false or NULL. */
struct nd_format_row {
    const char *word; /* in options and in the manifest: "jsonl" */
    const char *name; /* in messages: "JSON Lines" */

    /* The suffixes of file names, separated by spaces, such as "jsonl ndjson". */
    const char *suffixes;

    /* How a stream is cut into records, and what stands between two of them where records of
     * several files are written to one.  Plain text is cut as the option `unit` says. */
    const struct nd_cut *cut;

    /* Make p->document from the bytes of a record: 1; 0, with the reason in p->bad; ND_ENOMEM.
     * The functions that a parser calls are in parser.h. */
    int (*parse)(struct nd_parsing *p, struct nd_view record);

    /*
     * Whether the first bytes of a file show this format.  NULL: only its name can.
     *
     * `head` has up to 64 KiB (ND_DETECT_BYTES), less where the file is shorter: it may be empty,
     * and may end within a line or a character.  It is decompressed, and UTF-8 if it was UTF-16.
     * The byte order mark and the white space at the start are taken off.  Other charsets are not
     * decoded yet.  The formats that are later in the list are asked first.
     */
    bool (*looks_like)(const char *head, size_t len);

    /* Add the fields of a record that is a document.  NULL: the format does not list them. */
    void (*list_fields)(struct nd_parser *parser, const struct nd_source *source,
                        struct nd_view record, struct nd_field_list *list);

    /* Why a file that was found to have this format has no records to read: a common mistake.
     * NULL: it may have.  `head` is as above, with the white space. */
    const char *(*find_mistake)(const char *head, size_t len);

    /* Why no file of this format can be read: a library is not installed.  NULL: it can be. */
    const char *(*find_missing)(void);

    /*
     * For records that stand in a frame, which nd_source.header begins: append what ends it (false:
     * out of memory), and whether records of one may stand in the other.  NULL: there is none.
     */
    bool (*frame_end)(struct nd_view header, struct nd_buffer *out);
    bool (*is_like_frame)(struct nd_view header, struct nd_view other);

    /* A record has named fields, of which the text is one and may be a page. */
    bool has_fields;

    /* The first record is the header of a table (table_row.h), and must name the text fields. */
    bool has_header;

    /* The format itself tells its charset, so that the option `charset` does not apply. */
    bool names_charset;

    /* Messages, which GMime reads: the option `no_mail` refuses them. */
    bool is_mail;
};

const struct nd_format_row *nd_format_row(enum nd_format format);

/* How records of this format are cut, with this unit of plain text. */
const struct nd_cut *nd_format_cut(enum nd_format format, enum nd_unit unit);

/* Whether the options of reading are in their ranges.  ND_EINVAL: the message names the option. */
enum nd_status nd_input_options_check(const struct nd_input_options *o, struct nd_error *err);

#endif
