/* candidate_list.c - lists of documents met, in the order in which they are looked at */
#include <stdlib.h>
#include <string.h>

#include <neardup/index.h>

#include "base/memory.h"
#include "base/sort.h"
#include "index/candidate_list.h"

void nd_candidates_release(struct nd_candidates *list)
{
    free(list->items);
    *list = (struct nd_candidates){0};
}

bool nd_candidates_add(struct nd_candidates *list, struct nd_candidate candidate)
{
    if (list->count == list->capacity && !ND_RESERVE(list->items, &list->capacity, list->count + 1))
        return false;
    list->items[list->count++] = candidate;
    return true;
}

_Static_assert(sizeof(struct nd_candidate) == sizeof(uint64_t), "a candidate is sorted as a word");

/* A word that sorts as the candidates do, and holds all of one: three fields of 16, 32, 16 bits. */
static uint64_t word_of(struct nd_candidate c, bool by_simhash)
{
    uint16_t first = by_simhash ? c.distance : (uint16_t)~c.equal;
    uint16_t last = by_simhash ? c.equal : c.distance;

    return (uint64_t)first << 48 | (uint64_t)c.number << 16 | last;
}

static struct nd_candidate candidate_of(uint64_t word, bool by_simhash)
{
    uint16_t first = (uint16_t)(word >> 48), last = (uint16_t)word;

    return (struct nd_candidate){.number = (uint32_t)(word >> 16),
                                 .equal = by_simhash ? last : (uint16_t)~first,
                                 .distance = by_simhash ? first : last};
}

static int by_word(const void *left, const void *right)
{
    uint64_t a, b;

    memcpy(&a, left, sizeof a);
    memcpy(&b, right, sizeof b);
    return a < b ? -1 : a > b;
}

/* Lists are short, most of them: long ones are sorted by the library. */
void nd_candidates_sort(struct nd_candidates *list, bool by_simhash)
{
    enum { MANY = 512 };
    uint64_t word[MANY], scratch[MANY];
    size_t n = list->count;

    if (n <= MANY) {
        for (size_t i = 0; i < n; i++)
            word[i] = word_of(list->items[i], by_simhash);
        nd_sort_values(word, n, scratch);
        for (size_t i = 0; i < n; i++)
            list->items[i] = candidate_of(word[i], by_simhash);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        word[0] = word_of(list->items[i], by_simhash);
        memcpy(&list->items[i], word, sizeof *word);
    }
    qsort(list->items, n, sizeof *list->items, by_word);
    for (size_t i = 0; i < n; i++) {
        memcpy(word, &list->items[i], sizeof *word);
        list->items[i] = candidate_of(word[0], by_simhash);
    }
}

void nd_numbers_release(struct nd_numbers *list)
{
    free(list->items);
    free(list->met);
    *list = (struct nd_numbers){0};
}

bool nd_numbers_begin(struct nd_numbers *list, size_t n)
{
    list->count = 0;
    if (n > list->met_capacity) {
        size_t capacity = n + n / 2;
        uint32_t *met = calloc(capacity, sizeof *met);

        if (!met)
            return false;
        free(list->met);
        list->met = met;
        list->met_capacity = capacity;
        list->lookups = 0;
    }
    if (++list->lookups == UINT32_MAX / ND_NUMBERS_COUNTS) {
        memset(list->met, 0, list->met_capacity * sizeof *list->met);
        list->lookups = 1;
    }
    return true;
}

bool nd_numbers_append(struct nd_numbers *list, uint32_t number)
{
    if (!ND_RESERVE(list->items, &list->capacity, list->count + 1))
        return false;
    list->items[list->count++] = number;
    return true;
}
