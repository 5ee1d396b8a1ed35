/* sink.c - the answers of an index, as they are found
 *
 * A list of ids is a chain of cache lines, and the place of each is known only from the one before.
 * To read one list to its end would wait for every line.  So up to 32 lists are kept open, and one
 * line of each is read in turn: while the others have theirs, the next line of a list arrives.
 * That mixes the answers of different queries, which callers sort where their order matters.
 */
#include "hamming/memory/sink.h"

#include "base/memory.h"

/* Add n ids at the same distance. */
static inline void add_ids(struct nd_hamming_sink *sink, uint32_t query, const uint32_t *id,
                           size_t n, uint32_t distance)
{
    struct nd_hamming_matches *m = sink->matches;

    query += sink->first;
    if (sink->count) {
        sink->count[query] += n;
        return;
    }
    if (m->capacity - m->count < n && !ND_RESERVE(m->items, &m->capacity, m->count + n))
        sink->out_of_memory = true;
    for (size_t i = 0; i < n && !sink->out_of_memory; i++)
        m->items[m->count++] = (struct nd_hamming_match){query, id[i], distance};
}

void nd_hamming_sink_id(struct nd_hamming_sink *sink, uint32_t query, uint32_t id,
                        uint32_t distance)
{
    add_ids(sink, query, &id, 1, distance);
}

/* The ids of a block, each as often as it was added. */
static void add_block(struct nd_hamming_sink *sink, const struct nd_hamming_list *list,
                      const uint32_t *block)
{
    unsigned n = nd_hamming_ids_taken(block);

    if (!nd_hamming_ids_is_counted(list->block, block)) {
        add_ids(sink, list->query, block + 1, n, list->distance);
        return;
    }
    for (unsigned i = 1; i <= n; i++) {
        uint32_t times = nd_hamming_ids_times(list->ids, list->list, block[i]);

        for (uint32_t t = 0; t < times && !sink->out_of_memory; t++)
            nd_hamming_sink_id(sink, list->query, block[i], list->distance);
    }
}

/* Read one block of each list in turn, until no more than so many lists are left. */
static void read_lists(struct nd_hamming_sink *sink, size_t max_left)
{
    while (sink->n_lists > max_left && !sink->out_of_memory) {
        size_t left = 0;

        for (size_t i = 0; i < sink->n_lists; i++) {
            struct nd_hamming_list list = sink->list[i];
            const uint32_t *block = nd_hamming_ids_block(list.ids, list.block);
            uint32_t next = nd_hamming_ids_next(list.block, block);

            if (next)
                __builtin_prefetch(nd_hamming_ids_block(list.ids, next));
            add_block(sink, &list, block);
            list.block = next;
            sink->list[left] = list;
            left += next != 0;
        }
        sink->n_lists = left;
    }
}

void nd_hamming_sink_list(struct nd_hamming_sink *sink, uint32_t query,
                          const struct nd_hamming_ids *ids, uint32_t list, uint32_t distance)
{
    if (sink->out_of_memory) /* nobody reads the others any more */
        return;
    __builtin_prefetch(nd_hamming_ids_block(ids, list));
    sink->list[sink->n_lists++] = (struct nd_hamming_list){ids, list, list, query, distance};
    if (sink->n_lists == ND_HAMMING_LISTS)
        read_lists(sink, ND_HAMMING_LISTS / 2);
}

void nd_hamming_sink_flush(struct nd_hamming_sink *sink)
{
    read_lists(sink, 0);
    sink->n_lists = 0; /* some are left where memory is out */
}
