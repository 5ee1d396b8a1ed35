/* cut_record.h - a record without some parts of its text, everything else byte for byte */
#ifndef ND_USES_REPEATS_CUT_RECORD_H
#define ND_USES_REPEATS_CUT_RECORD_H

#include <neardup/error.h>
#include <neardup/input.h>

#include <stddef.h>
#include <stdint.h>

#include "base/memory.h"
#include "reading/parsed.h"

/* Bytes of a text. */
struct nd_text_range {
    uint32_t from, to;
};

/* Working memory. */
struct nd_record_cutter;

/* The text's field is options->text_fields[0], or "text"; borrowed.  NULL: out of memory. */
struct nd_record_cutter *nd_record_cutter_new(const struct nd_input_options *options);
/* NULL is allowed. */
void nd_record_cutter_free(struct nd_record_cutter *c);

/*
 * Write the record without n ranges of its text, which are in order and disjoint, to *record (NULL:
 * nowhere), and the text that is left to *text; both replace what was there.  One space takes the
 * place of a range if its neighbours could otherwise become one token.  A record is one of JSON Lines
 * or a table, whose text is one field, or of plain text; for the text alone it may be any.  ND_ECHANGED: its text does not have these bytes; ND_ENOMEM.
 */
enum nd_status nd_record_cut(struct nd_record_cutter *c, const struct nd_parsed *parsed,
                             const struct nd_text_range *range, size_t n, struct nd_buffer *record,
                             struct nd_buffer *text, struct nd_error *err);

#endif
