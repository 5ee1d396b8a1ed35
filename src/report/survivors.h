/* survivors.h - the records that stay, or those that go, in the form in which they came */
#ifndef ND_REPORT_SURVIVORS_H
#define ND_REPORT_SURVIVORS_H

#include <neardup/error.h>
#include <neardup/input.h>
#include <neardup/run.h>

#include "base/file/late_write.h"
#include "base/file/publish.h"
#include "reading/run_options.h"

#include <stdbool.h>

/*
 * One of: a stream of records, an archive or a list of paths (-o); a folder that mirrors the inputs
 * (--output-dir); copies of or links to files.  Used by one thread at a time.
 */
struct nd_survivors;

/* The place where they go, when all has been added. `options` says the rest. */
struct nd_survivors_params {
    const struct nd_run_options *options;
    struct nd_publisher *publisher;
    enum nd_publish_stage stage;
    const char *output;           /* NULL: the standard output, or: */
    const char *folder;           /* not NULL: a mirror */
    bool by_link;                 /* of links */
    bool may_replace;             /* the sources, where they stand in it */
    struct nd_file_mark replaced; /* the only input, in whose place the output goes */
    /* The records come with annotations, of this recipe's signatures (annotation.h); NULL: as they
     * stand in the input. */
    const struct nd_method *annotates;
    /* A field that they come with (copies.h); NULL: none. */
    const char *copies_field;
    /* They are documents of sketch files, packed, by this recipe; NULL: they are records. */
    const struct nd_recipe *sketches;
    struct nd_sketch_writer_options like; /* how such a file is written */
};
/* NULL: ND_EIO, ND_ENOMEM. */
struct nd_survivors *nd_survivors_new(const struct nd_survivors_params *params,
                                      struct nd_error *err);

/* Before the first source: with -o, a document goes there itself and not in a list of paths, and so
 * there can only be one. */
void nd_survivors_take_documents(struct nd_survivors *s);

/* The next source, in order, whether anything of it survives or not. */
enum nd_status nd_survivors_source(struct nd_survivors *s, const struct nd_source *source,
                                   struct nd_error *err);

/* A record of the last source given that survives, in the form `bytes`, and the line at which it
 * stands there. */
enum nd_status nd_survivors_add(struct nd_survivors *s, uint64_t line, struct nd_view bytes,
                                struct nd_error *err);

/* Between these two, the records that are added stay where they are, and some of them until they are
 * written late (nd_output_borrow). */
void nd_survivors_borrow(struct nd_survivors *s, struct nd_late_write *late);
enum nd_status nd_survivors_return(struct nd_survivors *s, struct nd_error *err);
enum nd_status nd_survivors_write_late(const struct nd_survivors *s, struct nd_late_write *late,
                                       struct nd_error *err);

/* Hand on what is buffered, where somebody may be waiting for it. */
enum nd_status nd_survivors_flush(struct nd_survivors *s, struct nd_error *err);

/* All has been added: the publisher has what is whole. */
enum nd_status nd_survivors_finish(struct nd_survivors *s, struct nd_error *err);
/* Note that what was finished has been published. */
void nd_survivors_are_published(struct nd_survivors *s);
/* The i-th input that a mirror will replace; NULL: there are fewer. */
const struct nd_input_file *nd_survivors_replaced(const struct nd_survivors *s, size_t i);
/* Frees it; folders that were made go where nothing was published (nd_mirror_free).  NULL: nothing.
 */
void nd_survivors_free(struct nd_survivors *s);

#endif
