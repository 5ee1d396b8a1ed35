/* domain_counts.c - how much was cut of the documents of each domain */
#include "uses/repeats/domain_counts.h"

#include <stdlib.h>
#include <string.h>

#include "base/address.h"
#include "evidence/name.h"

void nd_domain_counts_release(struct nd_domain_counts *c)
{
    nd_groups_release(&c->names);
    free(c->item);
}

bool nd_domain_counts_add(struct nd_domain_counts *c, struct nd_view value, uint64_t text_bytes,
                          uint64_t cut_bytes)
{
    char host[ND_HOST_MAX + 1];
    struct nd_view path, name = {host, 0};
    struct nd_domain_count *at;
    uint32_t number;

    if (!value.data)
        return true;
    if (!nd_address_split(value, host, &name.len, &path))
        name = value;
    if (name.data == value.data && !c->takes_values)
        return true;
    number = nd_groups_find(&c->names, name);
    if (!number && c->n == ND_REPEATS_DOMAINS_COUNTED) {
        c->has_others = true;
        return true;
    }
    if (!number &&
        (!nd_groups_number(&c->names, name, &number) || !ND_RESERVE(c->item, &c->capacity, number)))
        return false;
    if (number > c->n)
        c->item[c->n++] = (struct nd_domain_count){.documents = 0};
    at = &c->item[number - 1];
    at->documents++;
    at->changed += cut_bytes > 0;
    at->text_bytes += text_bytes;
    at->cut_bytes += cut_bytes;
    return true;
}

/* Put a domain among the n first ones that lost most; of equal ones the earlier comes first. */
static void offer(const struct nd_domain_counts *c, uint32_t *best, size_t *n, uint32_t number)
{
    size_t at = *n;

    while (at > 0 && c->item[best[at - 1]].cut_bytes < c->item[number].cut_bytes)
        at--;
    if (at == ND_REPEATS_DOMAINS)
        return;
    if (*n < ND_REPEATS_DOMAINS)
        ++*n;
    memmove(best + at + 1, best + at, (*n - at - 1) * sizeof *best);
    best[at] = number;
}

void nd_domain_counts_summarise(const struct nd_domain_counts *c, struct nd_repeats_summary *to)
{
    uint32_t best[ND_REPEATS_DOMAINS];
    size_t n = 0;

    for (uint32_t i = 0; i < c->n; i++)
        offer(c, best, &n, i);
    for (size_t i = 0; i < n; i++) {
        const struct nd_domain_count *from = &c->item[best[i]];
        struct nd_repeats_domain *d = &to->domain[i];

        nd_name_show(c->names.value[best[i]], d->name, sizeof d->name);
        d->documents = from->documents;
        d->changed = from->changed;
        d->text_bytes = from->text_bytes;
        d->cut_bytes = from->cut_bytes;
    }
    to->n_domains = n;
    to->other_domains = c->n - n + c->has_others;
}
