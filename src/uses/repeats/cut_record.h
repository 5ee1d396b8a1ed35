/* cut_record.h - a record without some parts of its text, everything else byte for byte */
#ifndef ND_USES_REPEATS_CUT_RECORD_H
#define ND_USES_REPEATS_CUT_RECORD_H

#include <neardup/error.h>
#include <neardup/input.h>

#include <stddef.h>
#include <stdint.h>

#include "base/memory.h"
#include "reading/parsed.h"
#include "uses/repeats/text_cut.h"

/* Working memory. */
struct nd_record_cutter;

/* The text's field is options->text_fields[0], or "text"; borrowed.  NULL: out of memory. */
struct nd_record_cutter *nd_record_cutter_new(const struct nd_input_options *options);
/* NULL is allowed. */
void nd_record_cutter_free(struct nd_record_cutter *c);

/*
 * Write the record without these ranges of its text to *record, in place of what was there: its text
 * is then that of nd_text_cut.  It is one of JSON Lines or a table, whose text is one field, or of
 * plain text.  ND_ECHANGED: its text does not have these bytes; ND_ENOMEM.
 */
enum nd_status nd_record_cut(struct nd_record_cutter *c, const struct nd_parsed *parsed,
                             const struct nd_text_ranges *ranges, struct nd_buffer *record,
                             struct nd_error *err);

#endif
