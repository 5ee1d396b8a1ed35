/* quoted.c - how many documents match something of each group of prototypes */
#include "evidence/quoted.h"

#include <stdlib.h>

#include "evidence/name.h"

void nd_quoted_release(struct nd_quoted *q)
{
    nd_groups_release(&q->groups);
    free(q->item);
}

bool nd_quoted_add(struct nd_quoted *q, struct nd_view name, uint64_t n, uint32_t *group)
{
    uint32_t number;

    if (!name.data)
        name = (struct nd_view){"", 0};
    if (!nd_groups_number(&q->groups, name, &number) || !ND_RESERVE(q->item, &q->capacity, number))
        return false;
    if (number > q->n)
        q->item[q->n++] = (struct nd_quoted_group){.prototypes = 0};
    *group = number - 1;
    q->item[*group].prototypes += n;
    return true;
}

void nd_quoted_count(struct nd_quoted *q, uint32_t group, uint64_t document)
{
    struct nd_quoted_group *g = &q->item[group];

    g->documents += g->last != document + 1;
    g->last = document + 1;
}

/* Check whether the table has a place for the group: fewer groups are quoted more, or as much and
 * stand before it. */
static bool is_listed(const struct nd_quoted *q, size_t group)
{
    size_t before = 0;

    for (size_t i = 0; i < q->n && before < ND_RUN_QUOTED; i++)
        before += q->item[i].documents > q->item[group].documents ||
                  (i < group && q->item[i].documents == q->item[group].documents);
    return before < ND_RUN_QUOTED;
}

void nd_quoted_summarise(const struct nd_quoted *q, struct nd_run_summary *summary)
{
    summary->n_quoted = 0;
    for (size_t i = 0; i < q->n; i++) {
        struct nd_run_quoted *to = &summary->quoted[summary->n_quoted];

        if (summary->n_quoted == ND_RUN_QUOTED || (q->n > ND_RUN_QUOTED && !is_listed(q, i))) {
            summary->other_quoted++;
            continue;
        }
        nd_name_show(q->groups.value[i], to->name, sizeof to->name);
        to->prototypes = q->item[i].prototypes;
        to->documents = q->item[i].documents;
        summary->n_quoted++;
    }
}
