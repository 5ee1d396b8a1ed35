/* examples.h - removed documents beside those kept for them: the least certain, and some at random */
#ifndef ND_REPORT_EXAMPLES_H
#define ND_REPORT_EXAMPLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <neardup/error.h>
#include <neardup/evidence.h>
#include <neardup/types.h>

/*
 * Remember these of the removed documents that are near the kept one and not equal to it:
 *
 *   - the ND_EXAMPLES_CLOSEST whose measure is the least, so that they are the least certain;
 *   - ND_EXAMPLES_SAMPLE at random: those whose places have the least hashes.
 *
 * Each worker has two heaps of its own, and they are joined at the end. An order that is total decides
 * who is in, so the result does not depend on workers, threads or the order of documents.
 */
enum { ND_EXAMPLES_CLOSEST = 20, ND_EXAMPLES_SAMPLE = 200 };
/* Bytes that are kept of a text: of the least certain, and of others. */
enum { ND_EXAMPLE_BYTES = 64 << 10, ND_EXAMPLE_BYTES_SAMPLE = 8 << 10 };

/* A removed document and the one kept for it; [0] is the kept one. */
struct nd_example {
    /* 0 … 1, of the measure that decided; below 0: nothing was measured. */
    double measure;
    /* In bits; above ND_DISTANCE_MAX: there is none. */
    unsigned distance;
    /* The kind of difference: of the whole texts in the sample, else of what is kept of them. */
    enum nd_differs by;
    /* Names, places, and the texts, which are valid UTF-8: all of both, or an excerpt of each that
     * begins where they begin to differ. */
    struct nd_view name[2], at[2], text[2];
    /* Whether these are excerpts. */
    bool is_cut[2];
};

struct nd_examples;

/* NULL: out of memory. */
struct nd_examples *nd_examples_new(unsigned n_workers);
void nd_examples_free(struct nd_examples *e);

/* Count a near removal, and return whether it would be remembered, so that its texts are needed:
 * example->measure, distance and at[1] are read. Each worker is one thread at a time. */
bool nd_examples_wants(struct nd_examples *e, unsigned worker, const struct nd_example *example);
/* Remember it, if it is wanted; all is copied.  example->text are whole texts; `by` and `is_cut` are
 * filled in here.  Any failure of nd_difference_of. */
enum nd_status nd_examples_add(struct nd_examples *e, unsigned worker,
                               const struct nd_example *example, struct nd_error *err);

/* All have been added: join what the workers have.  Any failure of nd_difference_of. */
enum nd_status nd_examples_end(struct nd_examples *e, struct nd_error *err);
/* How many near removals there were. */
uint64_t nd_examples_near(const struct nd_examples *e);
/* The i-th of the least certain ones, and of the sample, each in this order; NULL: there are no more. */
const struct nd_example *nd_examples_closest(const struct nd_examples *e, size_t i);
const struct nd_example *nd_examples_sampled(const struct nd_examples *e, size_t i);

#endif
