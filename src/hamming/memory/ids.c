/* ids.c - the ids of a fingerprint that has several
 *
 * ids.h draws the four kinds of lists.  A list grows from a quarter of a line to a half, to a chain
 * of lines, and then becomes LONG; it never becomes a smaller kind again before its end.
 *
 * Memory.  Lines are cut like this: a half comes from halving a line, a quarter from halving a half,
 * and what is left over goes to the free blocks of its size.  Blocks are not joined again.
 *
 * Order.  A list has none, so a removed id leaves no hole: the last id of the second line, or of the
 * only one, takes its place.  That keeps all lines but the first two full.
 *
 * LONG lists.  To remove an id from a chain, the chain is read.  Where the same fingerprint was
 * added a million times, that is too slow.  A hash table over all LONG lists (open addressing,
 * linear probing, at most half full) maps the list and an id to the place where the id stands, and
 * to how often it was added.  The id itself is not repeated in the table: it is read at its place.
 */
#include "hamming/memory/ids.h"

#include <string.h>

#include "base/hash.h"

enum {
    LINE = 16,     /* words */
    CHAIN_MAX = 4, /* lines of a list that is not LONG */
    SLOTS_MIN = 64
};
#define LINES_MAX (UINT32_MAX / LINE)
#define TAKEN ((uint32_t)15)
#define KIND ((uint32_t)3)

/* Ids in a block of each kind. */
static const unsigned capacity[] = {3, 7, 15, 14};

void nd_hamming_ids_release(struct nd_hamming_ids *s)
{
    nd_column_release(&s->lines);
    nd_table_free(s->slot, s->slots * sizeof *s->slot);
    *s = (struct nd_hamming_ids){.n_lines = 0};
}

size_t nd_hamming_ids_bytes(const struct nd_hamming_ids *s)
{
    return s->lines.bytes + s->slots * sizeof *s->slot;
}

static enum nd_hamming_ids_kind kind_of(uint32_t list)
{
    return (enum nd_hamming_ids_kind)(list & 3);
}

static uint32_t *word_at(const struct nd_hamming_ids *s, uint32_t place)
{
    return (uint32_t *)s->lines.data + (place - LINE);
}

static size_t home_of(const struct nd_hamming_ids *s, uint32_t list, uint32_t id)
{
    return (size_t)nd_mix64((uint64_t)list << 32 | id) & (s->slots - 1);
}

static size_t home_of_slot(const struct nd_hamming_ids *s, size_t at)
{
    return home_of(s, s->slot[at].list, *word_at(s, s->slot[at].place));
}

/* The slot of an id of a LONG list; SIZE_MAX: it is not there. */
static size_t find(const struct nd_hamming_ids *s, uint32_t list, uint32_t id)
{
    if (s->slots == 0)
        return SIZE_MAX;
    for (size_t at = home_of(s, list, id); s->slot[at].place; at = (at + 1) & (s->slots - 1))
        if (s->slot[at].list == list && *word_at(s, s->slot[at].place) == id)
            return at;
    return SIZE_MAX;
}

static void insert(struct nd_hamming_ids *s, struct nd_hamming_id_slot slot)
{
    size_t at = home_of(s, slot.list, *word_at(s, slot.place));

    while (s->slot[at].place)
        at = (at + 1) & (s->slots - 1);
    s->slot[at] = slot;
    s->taken++;
}

/*
 * Linear probing without marks for what was deleted: an entry that follows moves to the hole,
 * unless that lies before its home.
 */
static void erase(struct nd_hamming_ids *s, size_t at)
{
    size_t mask = s->slots - 1;

    for (size_t next = (at + 1) & mask; s->slot[next].place; next = (next + 1) & mask)
        if (((next - home_of_slot(s, next)) & mask) >= ((next - at) & mask)) {
            s->slot[at] = s->slot[next];
            at = next;
        }
    s->slot[at] = (struct nd_hamming_id_slot){.place = 0};
    s->taken--;
}

/* Make sure of a slot for one more id.  At least half of the slots stay free. */
static bool reserve_slot(struct nd_hamming_ids *s)
{
    struct nd_hamming_ids grown = *s;

    if (s->slots && 2 * (s->taken + 1) <= s->slots)
        return true;
    grown.slots = s->slots ? 2 * s->slots : SLOTS_MIN;
    grown.slot = nd_table_alloc(grown.slots * sizeof *grown.slot);
    if (!grown.slot)
        return false;
    grown.taken = 0;
    for (size_t i = 0; i < s->slots; i++)
        if (s->slot[i].place)
            insert(&grown, s->slot[i]);
    nd_table_free(s->slot, s->slots * sizeof *s->slot);
    *s = grown;
    return true;
}

uint32_t nd_hamming_ids_times(const struct nd_hamming_ids *s, uint32_t list, uint32_t id)
{
    size_t at = find(s, list, id);

    return at == SIZE_MAX ? 0 : s->slot[at].times;
}

static void give_back(struct nd_hamming_ids *s, uint32_t block)
{
    enum nd_hamming_ids_kind size = kind_of(block);

    if (size == ND_HAMMING_IDS_LONG) {
        size = ND_HAMMING_IDS_LINES;
        block--;
    }
    *nd_hamming_ids_block(s, block) = s->free_block[size];
    s->free_block[size] = block;
}

/* A block that nobody uses, or 0.  Where none of its size is free, one of twice the size is halved.
 */
static uint32_t new_block(struct nd_hamming_ids *s, enum nd_hamming_ids_kind size)
{
    uint32_t block = s->free_block[size];

    if (block) {
        s->free_block[size] = *nd_hamming_ids_block(s, block);
    } else if (size == ND_HAMMING_IDS_LINES) {
        if (s->n_lines < LINES_MAX &&
            nd_column_reserve(&s->lines, (size_t)s->n_lines + 1, LINE * sizeof(uint32_t)))
            block = ++s->n_lines * LINE | ND_HAMMING_IDS_LINES;
    } else {
        block = new_block(s, size + 1);
        if (block) {
            block--; /* one size less */
            give_back(s, block + (4u << size));
        }
    }
    return block;
}

/* The block of a list to which the next id goes: the first, or the second, or a new one; or 0. */
static uint32_t open_block(struct nd_hamming_ids *s, uint32_t list)
{
    const unsigned max = capacity[kind_of(list)];
    uint32_t *first = nd_hamming_ids_block(s, list), *line;
    uint32_t second = nd_hamming_ids_next(list, first);

    if (nd_hamming_ids_taken(first) < max)
        return list;
    if (second && nd_hamming_ids_taken(nd_hamming_ids_block(s, second)) < max)
        return second;
    second = new_block(s, ND_HAMMING_IDS_LINES);
    if (!second)
        return 0;
    first = nd_hamming_ids_block(s, list); /* it may have moved */
    line = nd_hamming_ids_block(s, second);
    line[0] = first[0] & ~TAKEN;
    line[LINE - 1] = 0;
    first[0] = (second & ~KIND) | max;
    return (second & ~KIND) | kind_of(list);
}

/* The place at which it stands now. */
static uint32_t append(struct nd_hamming_ids *s, uint32_t block, uint32_t id)
{
    uint32_t *at = nd_hamming_ids_block(s, block);
    unsigned n = ++at[0] & TAKEN;

    at[n] = id;
    return (block & ~KIND) + n;
}

static bool add_long(struct nd_hamming_ids *s, uint32_t list, uint32_t id)
{
    size_t at = find(s, list, id);
    uint32_t block;

    if (at != SIZE_MAX) {
        struct nd_hamming_id_slot *slot = &s->slot[at];

        if (slot->times == UINT32_MAX)
            return false;
        slot->times++;
        *word_at(s, slot->place | (LINE - 1)) = 1;
        return true;
    }
    block = reserve_slot(s) ? open_block(s, list) : 0;
    if (!block)
        return false;
    insert(s, (struct nd_hamming_id_slot){append(s, block, id), list, 1});
    return true;
}

/* All of a chain, and what is in the hash table of it. */
static void give_back_all(struct nd_hamming_ids *s, uint32_t list)
{
    for (uint32_t block = list, next; block; block = next) {
        const uint32_t *at = nd_hamming_ids_block(s, block);

        next = nd_hamming_ids_next(block, at);
        for (unsigned i = 1; kind_of(list) == ND_HAMMING_IDS_LONG && i <= nd_hamming_ids_taken(at);
             i++)
            erase(s, find(s, list, at[i]));
        give_back(s, block);
    }
}

/* A LONG list with the ids of a chain and one more, in place of the chain; or 0. */
static uint32_t make_long(struct nd_hamming_ids *s, uint32_t list, uint32_t id)
{
    uint32_t line = new_block(s, ND_HAMMING_IDS_LINES), made = line | ND_HAMMING_IDS_LONG;
    bool fits;

    if (!line)
        return 0;
    nd_hamming_ids_block(s, line)[0] = nd_hamming_ids_block(s, line)[LINE - 1] = 0;
    fits = add_long(s, made, id);
    for (uint32_t block = list; block && fits;
         block = nd_hamming_ids_next(block, nd_hamming_ids_block(s, block)))
        for (unsigned i = 1; i <= nd_hamming_ids_taken(nd_hamming_ids_block(s, block)) && fits; i++)
            fits = add_long(s, made, nd_hamming_ids_block(s, block)[i]);
    give_back_all(s, fits ? list : made);
    return fits ? made : 0;
}

/* Whether a chain is as long as one may be that is not LONG. */
static bool is_full(const struct nd_hamming_ids *s, uint32_t list)
{
    unsigned n = 0;

    for (uint32_t block = list; block; n++) {
        const uint32_t *at = nd_hamming_ids_block(s, block);

        if (nd_hamming_ids_taken(at) < capacity[ND_HAMMING_IDS_LINES])
            return false;
        block = nd_hamming_ids_next(block, at);
    }
    return n == CHAIN_MAX;
}

/* The ids of a full block in one of twice the size; of no list, an empty one.  Or 0. */
static uint32_t move_up(struct nd_hamming_ids *s, uint32_t list)
{
    uint32_t block = new_block(s, list ? kind_of(list) + 1 : ND_HAMMING_IDS_QUARTER);

    if (!block)
        return 0;
    nd_hamming_ids_block(s, block)[0] = 0;
    if (list) {
        memcpy(nd_hamming_ids_block(s, block), nd_hamming_ids_block(s, list),
               (capacity[kind_of(list)] + 1) * sizeof(uint32_t));
        give_back(s, list);
    }
    return block;
}

uint32_t nd_hamming_ids_add(struct nd_hamming_ids *s, uint32_t list, uint32_t id)
{
    enum nd_hamming_ids_kind kind = kind_of(list);
    uint32_t block;

    if (kind == ND_HAMMING_IDS_LONG)
        return add_long(s, list, id) ? list : 0;
    if (kind == ND_HAMMING_IDS_LINES && is_full(s, list))
        return make_long(s, list, id);
    if (!list || (kind < ND_HAMMING_IDS_LINES &&
                  nd_hamming_ids_taken(nd_hamming_ids_block(s, list)) == capacity[kind]))
        list = move_up(s, list);
    block = list ? open_block(s, list) : 0;
    if (!block)
        return 0;
    append(s, block, id);
    return list;
}

/* The place of an id in a list that is not LONG; 0: it is not there. */
static uint32_t find_place(const struct nd_hamming_ids *s, uint32_t list, uint32_t id)
{
    for (uint32_t block = list; block;) {
        const uint32_t *at = nd_hamming_ids_block(s, block);

        for (unsigned i = 1; i <= nd_hamming_ids_taken(at); i++)
            if (at[i] == id)
                return (block & ~KIND) + i;
        block = nd_hamming_ids_next(block, at);
    }
    return 0;
}

/* One of a LONG list leaves the hash table, and another, which may be the same, takes its place. */
static void replace_long(struct nd_hamming_ids *s, uint32_t list, uint32_t place, uint32_t last)
{
    struct nd_hamming_id_slot *slot;

    erase(s, find(s, list, *word_at(s, place)));
    if (place == last)
        return;
    slot = &s->slot[find(s, list, *word_at(s, last))];
    slot->place = place;
    if (slot->times > 1)
        *word_at(s, place | (LINE - 1)) = 1;
}

/* The last id of the second block, or of the only one, takes the place of the one that goes. */
static void take_out(struct nd_hamming_ids *s, uint32_t list, uint32_t place)
{
    uint32_t *first = nd_hamming_ids_block(s, list), *from;
    uint32_t second = nd_hamming_ids_next(list, first), block = second ? second : list, last;

    from = nd_hamming_ids_block(s, block);
    last = (block & ~KIND) + nd_hamming_ids_taken(from);
    if (kind_of(list) == ND_HAMMING_IDS_LONG)
        replace_long(s, list, place, last);
    *word_at(s, place) = *word_at(s, last);
    from[0]--;
    if (second && nd_hamming_ids_taken(from) == 0) {
        first[0] = from[0] | nd_hamming_ids_taken(first);
        give_back(s, second);
    }
}

static bool remove_long(struct nd_hamming_ids *s, uint32_t list, uint32_t id, bool *only)
{
    const uint32_t *first = nd_hamming_ids_block(s, list);
    size_t at = find(s, list, id);

    if (at == SIZE_MAX)
        return false;
    if (s->slot[at].times > 1)
        s->slot[at].times--;
    else
        take_out(s, list, s->slot[at].place);
    *only = first[0] == 1 && nd_hamming_ids_times(s, list, first[1]) == 1;
    return true;
}

bool nd_hamming_ids_remove(struct nd_hamming_ids *s, uint32_t list, uint32_t id, bool *only)
{
    uint32_t place;

    if (kind_of(list) == ND_HAMMING_IDS_LONG)
        return remove_long(s, list, id, only);
    place = find_place(s, list, id);
    if (!place)
        return false;
    take_out(s, list, place);
    *only = nd_hamming_ids_block(s, list)[0] == 1;
    return true;
}

uint32_t nd_hamming_ids_end(struct nd_hamming_ids *s, uint32_t list)
{
    uint32_t id = nd_hamming_ids_block(s, list)[1];

    if (kind_of(list) == ND_HAMMING_IDS_LONG)
        erase(s, find(s, list, id));
    give_back(s, list);
    return id;
}

bool nd_hamming_id_add(struct nd_hamming_ids *s, struct nd_hamming_id *own, uint32_t id)
{
    uint32_t list = own->is_list ? own->number : nd_hamming_ids_add(s, 0, own->number), longer;

    if (!list)
        return false;
    longer = nd_hamming_ids_add(s, list, id);
    if (!longer) {
        if (!own->is_list)
            nd_hamming_ids_end(s, list);
        return false;
    }
    *own = (struct nd_hamming_id){longer, true};
    return true;
}

bool nd_hamming_id_remove(struct nd_hamming_ids *s, struct nd_hamming_id *own, uint32_t id)
{
    bool only;

    if (!nd_hamming_ids_remove(s, own->number, id, &only))
        return false;
    if (only)
        *own = (struct nd_hamming_id){nd_hamming_ids_end(s, own->number), false};
    return true;
}
