/* hamming_ids.c - the ids of a fingerprint that has several */
#include "index/hamming_ids.h"

#include "base/hash.h"

/* From so many ids on a list is in the hash table; a shorter one is gone along. */
enum { LONG = 16, LEAST_SLOTS = 64 };

void nd_hamming_ids_release(struct nd_hamming_ids *s)
{
    nd_column_release(&s->nodes);
    nd_table_free(s->slot, s->slots * sizeof *s->slot);
    *s = (struct nd_hamming_ids){.n = 0};
}

size_t nd_hamming_ids_bytes(const struct nd_hamming_ids *s)
{
    return s->nodes.bytes + s->slots * sizeof *s->slot;
}

static size_t home_of(const struct nd_hamming_ids *s, uint32_t list, uint32_t id)
{
    return (size_t)nd_mix64((uint64_t)list << 32 | id) & (s->slots - 1);
}

static size_t home_of_slot(const struct nd_hamming_ids *s, size_t at)
{
    return home_of(s, s->slot[at].list, nd_hamming_ids_node(s, s->slot[at].node)->id);
}

/* The slot of an id of a list, and of this very node if it is not 0; SIZE_MAX: there is none. */
static size_t find(const struct nd_hamming_ids *s, uint32_t list, uint32_t id, uint32_t node)
{
    if (s->slots == 0)
        return SIZE_MAX;
    for (size_t at = home_of(s, list, id); s->slot[at].node; at = (at + 1) & (s->slots - 1))
        if (s->slot[at].list == list &&
            (node ? s->slot[at].node == node : nd_hamming_ids_node(s, s->slot[at].node)->id == id))
            return at;
    return SIZE_MAX;
}

static void insert(struct nd_hamming_ids *s, struct nd_hamming_id_slot slot)
{
    size_t at = home_of(s, slot.list, nd_hamming_ids_node(s, slot.node)->id);

    while (s->slot[at].node)
        at = (at + 1) & (s->slots - 1);
    s->slot[at] = slot;
    s->taken++;
}

/* What follows moves up, unless it would come to stand before its home. */
static void erase(struct nd_hamming_ids *s, size_t at)
{
    size_t mask = s->slots - 1;

    for (size_t next = (at + 1) & mask; s->slot[next].node; next = (next + 1) & mask)
        if (((next - home_of_slot(s, next)) & mask) >= ((next - at) & mask)) {
            s->slot[at] = s->slot[next];
            at = next;
        }
    s->slot[at] = (struct nd_hamming_id_slot){0, 0};
    s->taken--;
}

/* Room for so many more; the least slots of which half stay free. */
static bool reserve_slots(struct nd_hamming_ids *s, size_t more)
{
    struct nd_hamming_ids grown = *s;

    while (grown.slots < LEAST_SLOTS || 2 * (s->taken + more) > grown.slots)
        grown.slots = grown.slots ? 2 * grown.slots : LEAST_SLOTS;
    if (grown.slots == s->slots)
        return true;
    grown.slot = nd_table_alloc(grown.slots * sizeof *grown.slot);
    if (!grown.slot)
        return false;
    grown.taken = 0;
    for (size_t i = 0; i < s->slots; i++)
        if (s->slot[i].node)
            insert(&grown, s->slot[i]);
    nd_table_free(s->slot, s->slots * sizeof *s->slot);
    *s = grown;
    return true;
}

static bool is_long(const struct nd_hamming_ids *s, uint32_t list)
{
    return find(s, list, nd_hamming_ids_node(s, list)->id, list) != SIZE_MAX;
}

static bool has_many(const struct nd_hamming_ids *s, uint32_t list)
{
    unsigned n = 0;

    for (; list && n < LONG; list = nd_hamming_ids_node(s, list)->next)
        n++;
    return n == LONG;
}

/* The node of an id: by the hash table, or along the list; 0: it is not there. */
static uint32_t find_node(const struct nd_hamming_ids *s, uint32_t list, uint32_t id)
{
    if (is_long(s, list)) {
        size_t at = find(s, list, id, 0);

        return at == SIZE_MAX ? 0 : s->slot[at].node;
    }
    while (list && nd_hamming_ids_node(s, list)->id != id)
        list = nd_hamming_ids_node(s, list)->next;
    return list;
}

/* A node that nobody uses, or 0. */
static uint32_t new_node(struct nd_hamming_ids *s)
{
    uint32_t number = s->free_node;

    if (number) {
        s->free_node = nd_hamming_ids_node(s, number)->next;
        return number;
    }
    if (s->n >= UINT32_MAX - 1 ||
        !nd_column_reserve(&s->nodes, (size_t)s->n + 1, sizeof(struct nd_hamming_id_node)))
        return 0;
    return ++s->n;
}

static void give_back(struct nd_hamming_ids *s, uint32_t number)
{
    nd_hamming_ids_node(s, number)->next = s->free_node;
    s->free_node = number;
}

/* Put a new node behind the first of a list, and into the hash table what belongs there. */
static uint32_t extend(struct nd_hamming_ids *s, uint32_t list, uint32_t id)
{
    bool was_long = is_long(s, list), becomes_long = !was_long && has_many(s, list);
    struct nd_hamming_id_node *first;
    uint32_t number;

    if ((was_long || becomes_long) && !reserve_slots(s, LONG + 1))
        return 0;
    number = new_node(s);
    if (!number)
        return 0;
    first = nd_hamming_ids_node(s, list);
    *nd_hamming_ids_node(s, number) = (struct nd_hamming_id_node){id, first->next, 1};
    first->next = number;
    if (was_long)
        insert(s, (struct nd_hamming_id_slot){number, list});
    for (uint32_t n = list; becomes_long && n; n = nd_hamming_ids_node(s, n)->next)
        insert(s, (struct nd_hamming_id_slot){n, list});
    return list;
}

uint32_t nd_hamming_ids_add(struct nd_hamming_ids *s, uint32_t list, uint32_t id)
{
    uint32_t number = list ? find_node(s, list, id) : new_node(s);
    struct nd_hamming_id_node *node;

    if (!number)
        return list ? extend(s, list, id) : 0;
    node = nd_hamming_ids_node(s, number);
    if (!list) {
        *node = (struct nd_hamming_id_node){id, 0, 1};
        return number;
    }
    if (node->times == UINT32_MAX)
        return 0;
    node->times++;
    return list;
}

/* The second node goes; what it holds, if that is to stay, moves to the node whose id goes. */
static void drop(struct nd_hamming_ids *s, uint32_t list, uint32_t number)
{
    struct nd_hamming_id_node *node = nd_hamming_ids_node(s, number);
    struct nd_hamming_id_node *first = nd_hamming_ids_node(s, list);
    uint32_t second = first->next;
    struct nd_hamming_id_node kept = *nd_hamming_ids_node(s, second);
    bool hashed = is_long(s, list);

    if (hashed) {
        erase(s, find(s, list, node->id, number));
        if (number != second)
            erase(s, find(s, list, kept.id, second));
    }
    if (number != second) {
        node->id = kept.id;
        node->times = kept.times;
        if (hashed)
            insert(s, (struct nd_hamming_id_slot){number, list});
    }
    first->next = kept.next;
    give_back(s, second);
}

bool nd_hamming_ids_remove(struct nd_hamming_ids *s, uint32_t list, uint32_t id, bool *only)
{
    uint32_t number = find_node(s, list, id);
    const struct nd_hamming_id_node *first = nd_hamming_ids_node(s, list);

    if (!number)
        return false;
    if (nd_hamming_ids_node(s, number)->times > 1)
        nd_hamming_ids_node(s, number)->times--;
    else
        drop(s, list, number);
    *only = first->next == 0 && first->times == 1;
    return true;
}

uint32_t nd_hamming_ids_end(struct nd_hamming_ids *s, uint32_t list)
{
    uint32_t id = nd_hamming_ids_node(s, list)->id;
    size_t at = find(s, list, id, list);

    if (at != SIZE_MAX)
        erase(s, at);
    give_back(s, list);
    return id;
}
