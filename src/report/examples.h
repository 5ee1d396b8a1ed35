/* examples.h - removed documents beside those kept for them: the least certain, and some at random */
#ifndef ND_REPORT_EXAMPLES_H
#define ND_REPORT_EXAMPLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <neardup/error.h>
#include <neardup/evidence.h>
#include <neardup/types.h>

#include "base/thread/pool.h"
#include "reading/lookup.h"

/*
 * Remember these of the removed documents that are near the kept one and not equal to it:
 *
 *   - the ND_EXAMPLES_CLOSEST whose measure is the least, so that they are the least certain;
 *   - ND_EXAMPLES_SAMPLE at random: those whose places have the least hashes.
 *
 * An order that is total decides who is in, so the result does not depend on threads or on the order of
 * documents.  All threads share the two lists, and what would be the last of a full list is a bound that
 * most documents fail at once.  Texts are compared only at the end, for those that remain: a run meets
 * several times as many that are wanted for a while.
 */
enum { ND_EXAMPLES_CLOSEST = 20, ND_EXAMPLES_SAMPLE = 200 };
/* Bytes that are kept of a text: of the least certain, and of others. */
enum { ND_EXAMPLE_BYTES = 32 << 10, ND_EXAMPLE_BYTES_SAMPLE = 8 << 10 };
/* Bytes of a text that is held whole until the end, and of all those texts together. */
enum { ND_EXAMPLE_BYTES_HELD = 256 << 10, ND_EXAMPLES_BYTES_HELD = 24 << 20 };

/* A removed document and the one kept for it; [0] is the kept one. */
struct nd_example {
    /* 0 … 1, of the measure that decided; below 0: nothing was measured. */
    double measure;
    /* In bits; above ND_DISTANCE_MAX: there is none. */
    unsigned distance;
    /* The kind of difference, if it is known: of the whole texts in the sample, else of what is kept
     * of them. */
    enum nd_differs by;
    bool has_class;
    /* The texts are not those that were compared. */
    bool has_changed;
    /* Names and places as outputs write them, and the texts, which are valid UTF-8: all of both, or an
     * excerpt of each that begins where they begin to differ; data NULL: it is not there. */
    struct nd_view name[2], at[2], text[2];
    /* Whether these are excerpts. */
    bool is_cut[2];
    /* For nd_example_texts: where the kept document is found again, or a number. */
    struct nd_place kept;
    uint64_t number;
};

/* Return a text that is there, though it may be empty. */
static inline struct nd_view nd_text_there(struct nd_view text)
{
    return text.data ? text : (struct nd_view){"", 0};
}

struct nd_examples;

/* NULL: out of memory. */
struct nd_examples *nd_examples_new(void);
void nd_examples_free(struct nd_examples *e);

/* Count a near removal, and return whether it would be remembered: example->measure, distance and at[1]
 * are read.  Any number of threads may call it and nd_examples_add. */
bool nd_examples_wants(struct nd_examples *e, const struct nd_example *example);
/* Whether there is no room to hold its texts, so that nd_examples_add needs both now. */
bool nd_examples_needs_both(const struct nd_examples *e, const struct nd_example *example);
/* Remember it, if it is still wanted; all is copied.  example->text are whole texts, or not there if
 * they are found at the end.  Any failure of nd_difference_of. */
enum nd_status nd_examples_add(struct nd_examples *e, const struct nd_example *example,
                               struct nd_error *err);

/* Find the texts of an example that are not there, or leave it without; valid until the next call of
 * this worker.  It may set `has_changed`. */
typedef enum nd_status nd_example_texts(void *context, struct nd_example *example, unsigned worker,
                                        struct nd_error *err);
/* All have been added: find the texts that are missing, and compare those of each example, as tasks of
 * the pool.  Any failure of `texts` and of nd_difference_of. */
enum nd_status nd_examples_end(struct nd_examples *e, struct nd_pool *pool, nd_example_texts *texts,
                               void *context, struct nd_error *err);

/* Count what nd_examples_wants was asked for. */
uint64_t nd_examples_near(const struct nd_examples *e);
/* Return the i-th of the least certain ones, and of the sample, each by falling uncertainty; NULL: there
 * are no more. */
const struct nd_example *nd_examples_closest(const struct nd_examples *e, size_t i);
const struct nd_example *nd_examples_sampled(const struct nd_examples *e, size_t i);

#endif
