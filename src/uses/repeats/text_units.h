/* text_units.h - the parts of a text that may repeat: lines, paragraphs, sentences, passages */
#ifndef ND_USES_REPEATS_TEXT_UNITS_H
#define ND_USES_REPEATS_TEXT_UNITS_H

#include <neardup/error.h>
#include <neardup/types.h>
#include <neardup/uses.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash_set.h"
#include "base/repeats.h"

/*
 * A window is a run of units: one line, one paragraph, three sentences, or n tokens.  Two windows are
 * equal if their tokens are, by 128 bits of a hash.
 */
struct nd_text_window {
    uint64_t hash[2];
    uint32_t unit;     /* number of its first unit in the text */
    uint32_t from, to; /* in bytes of the text */
    uint32_t tokens;   /* in nd_text_units_each: how many it has */
};

/* Starts from zeroes.  Freed by its owner. */
struct nd_window_list {
    struct nd_text_window *item;
    size_t n, capacity;
};

/* Set tokens = 0 to its default, and check that the parameters are in range: ND_EINVAL. */
enum nd_status nd_text_units_check(struct nd_repeats_params *params, struct nd_error *err);

/* The working memory of one thread. */
struct nd_text_units;

/* params is borrowed.  NULL: out of memory. */
struct nd_text_units *nd_text_units_new(const struct nd_repeats_params *params);
/* NULL is allowed. */
void nd_text_units_free(struct nd_text_units *u);

/*
 * List the windows of a text of valid UTF-8, shorter than 4 GB, in order, in place of what the list
 * had.  With a filter of all anchors (NULL: there is none) passages are left out whose anchor came
 * only once.  False: out of memory.
 */
bool nd_text_units_list(struct nd_text_units *u, struct nd_view text,
                        const struct nd_repeats *anchors, struct nd_window_list *list);

/* List each line, paragraph or single sentence that has tokens, in place of what the list had.  False:
 * out of memory. */
bool nd_text_units_each(struct nd_text_units *u, struct nd_view text, struct nd_window_list *list);
/* How many units a window has: one, or three sentences. */
size_t nd_text_units_width(const struct nd_repeats_params *params);
/* Whether a unit may be cut, by itself or with others. */
bool nd_text_units_may_repeat(const struct nd_repeats_params *params,
                              const struct nd_text_window *unit);
/* Turn the units that nd_text_units_each lists into windows, in place: they are equal if their units
 * have equal numbers.  number[i] is read of units that may repeat. */
void nd_text_units_join(const struct nd_repeats_params *params, const uint64_t *number,
                        struct nd_window_list *list);

/*
 * Append the anchors of a text's passages.  Each passage has one, the hash of the run of half as many
 * tokens within it whose hash is least: equal passages have equal anchors, and neighbours mostly the
 * same one (winnowing: Schleimer 2003, §3).  False: out of memory.
 */
bool nd_text_units_anchors(struct nd_text_units *u, struct nd_view text, struct nd_hashes *list);
/* How many anchors a token has, about. */
double nd_text_units_anchor_density(const struct nd_repeats_params *params);

/* Count the tokens of a text.  Negative: out of memory. */
int64_t nd_text_units_count(struct nd_text_units *u, struct nd_view text);

#endif
