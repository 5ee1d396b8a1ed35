/* hamming_sink.c - the answers of an index, as they are found */
#include "base/memory.h"
#include "index/hamming_index.h"

void nd_hamming_sink_id(struct nd_hamming_sink *sink, uint32_t query, uint32_t id,
                        uint32_t distance)
{
    struct nd_hamming_matches *m = sink->matches;
    void *at;

    query += sink->first;
    if (sink->count) {
        sink->count[query]++;
        return;
    }
    at = m->at;
    if (m->count == m->capacity &&
        !nd_array_reserve(&at, &m->capacity, m->count + 1, sizeof *m->at))
        sink->out_of_memory = true;
    m->at = at;
    if (!sink->out_of_memory)
        m->at[m->count++] = (struct nd_hamming_match){query, id, distance};
}

/* One node of each list, until no more than so many lists are left. */
static void go_along(struct nd_hamming_sink *sink, size_t most)
{
    while (sink->n_lists > most && !sink->out_of_memory) {
        size_t left = 0;

        for (size_t i = 0; i < sink->n_lists; i++) {
            struct nd_hamming_list list = sink->list[i];
            const struct nd_hamming_id_node *node = nd_hamming_ids_node(list.ids, list.node);

            for (uint32_t t = 0; t < node->times && !sink->out_of_memory; t++)
                nd_hamming_sink_id(sink, list.query, node->id, list.distance);
            if (!node->next)
                continue;
            list.node = node->next;
            __builtin_prefetch(nd_hamming_ids_node(list.ids, list.node));
            sink->list[left++] = list;
        }
        sink->n_lists = left;
    }
}

void nd_hamming_sink_list(struct nd_hamming_sink *sink, uint32_t query,
                          const struct nd_hamming_ids *ids, uint32_t list, uint32_t distance)
{
    if (sink->out_of_memory) /* nobody goes along the others any more */
        return;
    __builtin_prefetch(nd_hamming_ids_node(ids, list));
    sink->list[sink->n_lists++] = (struct nd_hamming_list){ids, list, query, distance};
    if (sink->n_lists == ND_HAMMING_LISTS)
        go_along(sink, ND_HAMMING_LISTS / 2);
}

void nd_hamming_sink_settle(struct nd_hamming_sink *sink)
{
    go_along(sink, 0);
    sink->n_lists = 0; /* some are left where memory is out */
}
