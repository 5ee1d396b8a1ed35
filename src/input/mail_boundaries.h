/* mail_boundaries.h - the boundaries that a message declares, and the lines that are such */
#ifndef ND_INPUT_MAIL_BOUNDARIES_H
#define ND_INPUT_MAIL_BOUNDARIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Start from zeroes. */
struct nd_boundaries {
    uint64_t *hash; /* open addressing; 0: a free place */
    size_t count, capacity;
    bool has_odd; /* one was declared that GMime may read otherwise: every line may be it */
    bool no_memory;
};

/* What follows the word "boundary" in a line of a header. */
void nd_boundaries_declare(struct nd_boundaries *b, const char *rest, size_t len);

/* Whether a line that begins with '-' is one of them, or may be. */
bool nd_boundaries_have(const struct nd_boundaries *b, const char *line, size_t len);

void nd_boundaries_release(struct nd_boundaries *b);

#endif
