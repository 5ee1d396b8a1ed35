/* near_parts.h - for each part of the texts, the first one that it resembles */
#ifndef ND_USES_REPEATS_NEAR_PARTS_H
#define ND_USES_REPEATS_NEAR_PARTS_H

#include <neardup/error.h>
#include <neardup/run.h>
#include <neardup/types.h>

#include <stdbool.h>
#include <stdint.h>

#include "uses/repeats/text_units.h"

/*
 * The parts are the documents of a `dedup` of its own, by the default recipe with another threshold:
 * so candidates are found by its sketches and its index, every match is verified exactly, and its
 * memory is bounded as any run's.  Parts and decisions wait in files in `tmp`.
 *
 *     add        all units of each text, in order
 *     decide     a run of dedup over them
 *     represent  the units of each text once more, in the same order: what each resembles
 */
struct nd_near_parts;

/* A part that resembles an earlier one. */
struct nd_near_row {
    uint32_t document, from, to; /* bytes of its text */
    double resemblance;
};

/* Both are borrowed.  NULL: ND_EIO, ND_ENOMEM. */
struct nd_near_parts *nd_near_parts_new(const struct nd_run_options *options,
                                        const struct nd_repeats_params *params,
                                        struct nd_error *err);
/* NULL is allowed. */
void nd_near_parts_free(struct nd_near_parts *near);

enum nd_status nd_near_parts_add(struct nd_near_parts *near, struct nd_view text,
                                 const struct nd_window_list *units, struct nd_error *err);
enum nd_status nd_near_parts_decide(struct nd_near_parts *near, struct nd_error *err);

/*
 * Turn the units of a text into its windows, in place.  Windows are equal whose units resemble the
 * same ones.
 */
enum nd_status nd_near_parts_represent(struct nd_near_parts *near, uint32_t document,
                                       struct nd_window_list *units, struct nd_error *err);

/*
 * All have been represented.  Return the least resemblance of the parts in a range of a document's
 * text, 1 if each of them is the first of its kind; ranges are asked for in the order of documents.
 * Negative: ND_EIO.
 */
double nd_near_parts_resemblance(struct nd_near_parts *near, uint32_t document, uint32_t from,
                                 uint32_t to, struct nd_error *err);

#endif
