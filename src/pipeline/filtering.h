/* filtering.h - the nearest prototype of each document of a stream, and how it is told */
#ifndef ND_PIPELINE_FILTERING_H
#define ND_PIPELINE_FILTERING_H

#include <neardup/uses.h>

#include "pipeline/run_state.h"

/* The nearest prototype of a document. */
struct nd_nearest {
    struct nd_found_pair pair;
    struct nd_name name; /* the prototype's */
    uint64_t prototypes; /* that it matches; 0: none */
};

/* Annotations on their way out.  Starts from zeroes, `run` and the two that say what is wanted. */
struct nd_annotating {
    struct nd_run *run;
    bool is_json;               /* rows of messages too */
    bool is_verified;           /* the texts are compared */
    const struct nd_source *of; /* the first source: it says what is written */
    bool has_messages;          /* they are, with a field each; else rows to `out` */
    struct nd_output *out;
    struct nd_json row;
};
void nd_annotating_release(struct nd_annotating *a);

/* Whether the records of a source are messages of mail. */
bool nd_is_mail(const struct nd_source *source);

/*
 * What became of one document.  Of mail the message, byte for byte, with a field X-Neardup above
 * its header; else a row.  nearest NULL: the message could not be read (a bad record): it is handed
 * on, so that none is lost.  ND_EINPUT: both kinds stand in one stream; ND_EIO; ND_ENOMEM.
 */
enum nd_status nd_annotate(struct nd_annotating *a, const struct nd_parsed *parsed,
                           const struct nd_nearest *nearest, struct nd_error *err);
enum nd_status nd_annotating_flush(struct nd_annotating *a, struct nd_error *err);
/* All has been read: where there was nothing to write, the file of rows is opened nevertheless. */
enum nd_status nd_annotating_begin_none(struct nd_annotating *a, struct nd_error *err);

/* annotate_mail.c: the field, with its line end, for a message whose lines end so. */
void nd_annotation_field(struct nd_json *out, const struct nd_annotating *a,
                         const struct nd_nearest *nearest, const char *reason,
                         const char *line_end);

#endif
