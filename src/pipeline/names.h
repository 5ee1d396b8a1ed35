/* names.h - what a document is called in the outputs */
#ifndef ND_PIPELINE_NAMES_H
#define ND_PIPELINE_NAMES_H

#include <neardup/input.h>
#include <neardup/types.h>

#include "base/json_out.h"

/* An id as the record has it, or the place of a record that has none. */
struct nd_name {
    enum nd_id_kind kind;
    struct nd_view text;
};

/* Append "file:line", "file!entry:line", "file!entry" or "file". */
void nd_place_append(struct nd_json *out, const struct nd_source *source, uint64_t line);

/*
 * The name of a document.  Where it is the place, that is written to *room, which it replaces.
 */
struct nd_name nd_name_of(const struct nd_document *document, const struct nd_source *source,
                          uint64_t line, struct nd_json *room);

/* Copy the beginning of a name for a terminal: what could steer it becomes '?'. */
void nd_name_show(const struct nd_view name, char *out, size_t room);

/* As a JSON value: a number stays one. */
void nd_name_json(struct nd_json *out, const struct nd_name *name);
/* As a field of TSV. */
void nd_name_tsv(struct nd_json *out, const struct nd_name *name);

#endif
