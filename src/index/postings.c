/* postings.c - from 32-bit values to the numbers of the documents that have them */
#include "index/postings.h"

#include <string.h>

#define IS_LIST 0x80000000u
#define NONE UINT32_MAX

enum { TABLE_SHIFT = 28, FIRST_SLOTS = 64, UNIT = 4, DOUBLING = 1 << 14 };
_Static_assert(ND_POSTING_TABLES == 1 << (32 - TABLE_SHIFT), "a table is chosen by upper bits");

void nd_postings_release(struct nd_postings *p)
{
    for (unsigned i = 0; i < ND_POSTING_TABLES; i++)
        nd_table_free(p->table[i].slot, p->table[i].n_slots * sizeof *p->table[i].slot);
    nd_column_release(&p->word);
    *p = (struct nd_postings){0};
}

size_t nd_postings_bytes(const struct nd_postings *p)
{
    size_t bytes = p->word.bytes;

    for (unsigned i = 0; i < ND_POSTING_TABLES; i++)
        bytes += p->table[i].n_slots * sizeof *p->table[i].slot;
    return bytes;
}

void nd_postings_clear(struct nd_postings *p)
{
    for (unsigned i = 0; i < ND_POSTING_TABLES; i++) {
        struct nd_posting_table *t = &p->table[i];

        if (t->n_taken)
            memset(t->slot, 0, t->n_slots * sizeof *t->slot);
        t->n_taken = 0;
    }
    memset(p->unused, 0, sizeof p->unused);
    p->n_words = 0;
    p->count = 0;
}

/* Spread values over all of 32 bits: those of samples are small (Knuth, The Art of Computer
 * Programming, volume 3, 6.4). */
static uint32_t spread(uint32_t value)
{
    return value * UINT32_C(0x9E3779B1);
}

/* The place of a value in its table, by the bits that did not choose the table. */
static size_t home_of(const struct nd_posting_table *t, uint32_t value)
{
    return (size_t)(((uint64_t)(spread(value) << (32 - TABLE_SHIFT)) * t->n_slots) >> 32);
}

static const struct nd_posting_table *table_of(const struct nd_postings *p, uint32_t value)
{
    return &p->table[spread(value) >> TABLE_SHIFT];
}

/* The slot of a value, or the free one where it would stand. */
static size_t find_slot(const struct nd_posting_table *t, uint32_t value)
{
    size_t at = home_of(t, value);

    while (t->slot[at].value && t->slot[at].value != value)
        at = at + 1 == t->n_slots ? 0 : at + 1;
    return at;
}

/* At 70% of its slots a table grows: to twice its size, or by a quarter once it is large. */
static bool reserve_slot(struct nd_posting_table *t)
{
    struct nd_posting_table larger = {NULL, 0, t->n_taken};

    if (t->n_slots && t->n_taken + 1 <= t->n_slots / 10 * 7)
        return true;
    larger.n_slots = !t->n_slots             ? FIRST_SLOTS
                     : t->n_slots < DOUBLING ? 2 * t->n_slots
                                             : t->n_slots + t->n_slots / 4;
    larger.slot = nd_table_alloc(larger.n_slots * sizeof *larger.slot);
    if (!larger.slot)
        return false;
    for (size_t i = 0; i < t->n_slots; i++)
        if (t->slot[i].value)
            larger.slot[find_slot(&larger, t->slot[i].value)] = t->slot[i];
    nd_table_free(t->slot, t->n_slots * sizeof *t->slot);
    *t = larger;
    return true;
}

static uint32_t *list_at(const struct nd_postings *p, uint32_t at)
{
    return (uint32_t *)p->word.data + (size_t)(at & ~IS_LIST) * UNIT;
}

/* The class of a list of so many numbers: it has UNIT << class words, one of them the count. */
static unsigned class_of(uint32_t count)
{
    unsigned class = 0;

    while (((size_t)UNIT << class) - 1 < count)
        class ++;
    return class;
}

/* A list of the class, empty; NONE: out of memory. */
static uint32_t new_list(struct nd_postings *p, unsigned class)
{
    uint32_t at;

    if (p->unused[class]) {
        at = p->unused[class] - 1;
        p->unused[class] = *list_at(p, at);
    } else {
        size_t words = (size_t)UNIT << class;

        if (p->n_words / UNIT >= (IS_LIST - 1) - ((size_t)1 << class) ||
            !nd_column_reserve(&p->word, p->n_words + words, sizeof(uint32_t)))
            return NONE;
        at = (uint32_t)(p->n_words / UNIT);
        p->n_words += words;
    }
    *list_at(p, at) = 0;
    return at | IS_LIST;
}

static void give_back(struct nd_postings *p, uint32_t at, unsigned class)
{
    *list_at(p, at) = p->unused[class];
    p->unused[class] = (at & ~IS_LIST) + 1;
}

/* A list with the numbers of the slot, and room for one more; NONE: out of memory. */
static uint32_t list_with_room(struct nd_postings *p, const struct nd_posting_slot *slot)
{
    uint32_t old = slot->entry, at, count;
    unsigned class;

    if (!(old & IS_LIST)) {
        at = new_list(p, 0);
        if (at == NONE)
            return NONE;
        list_at(p, at)[0] = 1;
        list_at(p, at)[1] = old;
        return at;
    }
    count = *list_at(p, old);
    class = class_of(count);
    if (count + 1 < (size_t)UNIT << class)
        return old;
    at = new_list(p, class + 1);
    if (at == NONE)
        return NONE;
    memcpy(list_at(p, at), list_at(p, old), (count + 1) * sizeof(uint32_t));
    give_back(p, old, class);
    return at;
}

/* How many numbers stand under the value of a slot. */
static uint32_t count_in_slot(const struct nd_postings *p, const struct nd_posting_slot *slot)
{
    if (!slot->value || slot->entry == NONE)
        return 0;
    return slot->entry & IS_LIST ? *list_at(p, slot->entry) : 1;
}

bool nd_postings_add(struct nd_postings *p, uint32_t value, uint32_t number, uint32_t room,
                     uint32_t *n)
{
    struct nd_posting_table *t = &p->table[spread(value) >> TABLE_SHIFT];
    struct nd_posting_slot *slot;
    uint32_t at, *list;

    if (!reserve_slot(t))
        return false;
    slot = &t->slot[find_slot(t, value)];
    *n = count_in_slot(p, slot);
    if (*n >= room)
        return true;
    if (!slot->value || slot->entry == NONE) {
        t->n_taken += slot->value == 0;
        *slot = (struct nd_posting_slot){value, number};
        p->count++;
        return true;
    }
    at = list_with_room(p, slot);
    if (at == NONE)
        return false;
    slot->entry = at;
    list = list_at(p, at);
    list[++list[0]] = number;
    p->count++;
    return true;
}

void nd_postings_remove(struct nd_postings *p, uint32_t value, uint32_t number)
{
    struct nd_posting_table *t = &p->table[spread(value) >> TABLE_SHIFT];
    struct nd_posting_slot *slot;
    uint32_t *list, i = 1;

    if (!t->n_slots)
        return;
    slot = &t->slot[find_slot(t, value)];
    if (!slot->value || slot->entry == NONE)
        return;
    if (!(slot->entry & IS_LIST)) {
        p->count -= slot->entry == number;
        slot->entry = slot->entry == number ? NONE : slot->entry;
        return;
    }
    list = list_at(p, slot->entry);
    while (i <= list[0] && list[i] != number)
        i++;
    if (i > list[0])
        return;
    memmove(list + i, list + i + 1, (list[0] - i) * sizeof *list);
    p->count--;
    if (--list[0] == 0) {
        give_back(p, slot->entry, 0);
        slot->entry = NONE;
    }
}

void nd_postings_prefetch(const struct nd_postings *p, uint32_t value)
{
    const struct nd_posting_table *t = table_of(p, value);

    if (t->n_slots)
        __builtin_prefetch(&t->slot[home_of(t, value)]);
}

struct nd_posting nd_postings_find(const struct nd_postings *p, uint32_t value)
{
    const struct nd_posting_table *t = table_of(p, value);
    const struct nd_posting_slot *slot;

    if (!t->n_slots)
        return (struct nd_posting){NULL, 0};
    slot = &t->slot[find_slot(t, value)];
    if (!slot->value || slot->entry == NONE)
        return (struct nd_posting){NULL, 0};
    if (!(slot->entry & IS_LIST))
        return (struct nd_posting){&slot->entry, 1};
    return (struct nd_posting){list_at(p, slot->entry) + 1, *list_at(p, slot->entry)};
}
