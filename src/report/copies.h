/* copies.h - survivors with a field that says how many documents their cluster has */
#ifndef ND_REPORT_COPIES_H
#define ND_REPORT_COPIES_H

#include <neardup/error.h>
#include <neardup/input.h>

#include "base/json_out.h"
#include "reading/reading.h"

/*
 * Check that the documents of a batch can take the field: their format has a place for it, and none
 * has a field of this name. *last: the source whose columns were checked, NULL at first. ND_EINPUT.
 */
enum nd_status nd_copies_check(const char *field, const struct nd_reading_batch *batch,
                               const struct nd_source **last, struct nd_error *err);

/* Append the header of CSV or TSV with the column, the last one. */
void nd_copies_header(struct nd_json *out, enum nd_format format, struct nd_view header,
                      const char *field);
/* Append a record with the field, the last one. */
void nd_copies_put(struct nd_json *out, enum nd_format format, struct nd_view record,
                   const char *field, uint64_t copies);

#endif
