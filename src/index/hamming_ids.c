/* hamming_ids.c - the ids of a fingerprint that has several */
#include "index/hamming_ids.h"

void nd_hamming_ids_release(struct nd_hamming_ids *s)
{
    nd_column_release(&s->nodes);
    *s = (struct nd_hamming_ids){.n = 0};
}

uint32_t nd_hamming_ids_add(struct nd_hamming_ids *s, uint32_t list, uint32_t id)
{
    uint32_t number = s->free_node;
    struct nd_hamming_id_node *node;

    if (number) {
        s->free_node = nd_hamming_ids_node(s, number)->next;
    } else {
        if (s->n >= UINT32_MAX - 1 || !nd_column_reserve(&s->nodes, (size_t)s->n + 1, sizeof *node))
            return 0;
        number = ++s->n;
    }
    node = nd_hamming_ids_node(s, number);
    *node = (struct nd_hamming_id_node){id, list};
    return number;
}

bool nd_hamming_ids_remove(struct nd_hamming_ids *s, uint32_t *list, uint32_t id)
{
    for (uint32_t *link = list; *link; link = &nd_hamming_ids_node(s, *link)->next) {
        uint32_t number = *link;
        struct nd_hamming_id_node *node = nd_hamming_ids_node(s, number);

        if (node->id != id)
            continue;
        *link = node->next;
        node->next = s->free_node;
        s->free_node = number;
        return true;
    }
    return false;
}
