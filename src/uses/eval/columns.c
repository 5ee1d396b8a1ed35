/* columns.c - which cells of a row are the two names, the label, what became of it, a value */

/*
 * Rows of pairs, clusters and classes come from many tools. A header, or the keys of an object, are
 * looked up in a table of names; without a header the first line shows what its third cell is.
 */
#include "uses/eval/columns.h"

#include <string.h>

#include "base/view.h"
#include "uses/eval/labels.h"

/* The names of columns. Of those that mean the same, the first that is there counts. */
static const struct {
    const char *name;
    enum nd_eval_form form;
    enum nd_eval_cell column;
} named[] = {
    {"a", ND_EVAL_PAIRS, ND_CELL_FIRST},           {"id1", ND_EVAL_PAIRS, ND_CELL_FIRST},
    {"id_1", ND_EVAL_PAIRS, ND_CELL_FIRST},        {"id_a", ND_EVAL_PAIRS, ND_CELL_FIRST},
    {"left", ND_EVAL_PAIRS, ND_CELL_FIRST},        {"b", ND_EVAL_PAIRS, ND_CELL_SECOND},
    {"id2", ND_EVAL_PAIRS, ND_CELL_SECOND},        {"id_2", ND_EVAL_PAIRS, ND_CELL_SECOND},
    {"id_b", ND_EVAL_PAIRS, ND_CELL_SECOND},       {"right", ND_EVAL_PAIRS, ND_CELL_SECOND},
    {"label", ND_EVAL_PAIRS, ND_CELL_THIRD},       {"grade", ND_EVAL_PAIRS, ND_CELL_THIRD},
    {"judgement", ND_EVAL_PAIRS, ND_CELL_THIRD},   {"judgment", ND_EVAL_PAIRS, ND_CELL_THIRD},
    {"match", ND_EVAL_PAIRS, ND_CELL_THIRD},       {"score", ND_EVAL_PAIRS, ND_CELL_THIRD},
    {"resemblance", ND_EVAL_PAIRS, ND_CELL_THIRD}, {"similarity", ND_EVAL_PAIRS, ND_CELL_THIRD},
    {"jaccard", ND_EVAL_PAIRS, ND_CELL_THIRD},     {"removed", ND_EVAL_MANIFEST, ND_CELL_FIRST},
    {"kept", ND_EVAL_MANIFEST, ND_CELL_SECOND},    {"id", ND_EVAL_CLUSTERS, ND_CELL_FIRST},
    {"document", ND_EVAL_CLUSTERS, ND_CELL_FIRST}, {"doc", ND_EVAL_CLUSTERS, ND_CELL_FIRST},
    {"cluster", ND_EVAL_CLUSTERS, ND_CELL_SECOND}, {"cluster_id", ND_EVAL_CLUSTERS, ND_CELL_SECOND},
    {"leader", ND_EVAL_CLUSTERS, ND_CELL_SECOND},  {"kept", ND_EVAL_CLUSTERS, ND_CELL_SECOND},
    {"group", ND_EVAL_CLUSTERS, ND_CELL_SECOND},   {"component", ND_EVAL_CLUSTERS, ND_CELL_SECOND},
    {"fate", ND_EVAL_CLUSTERS, ND_CELL_FATE},      {"id", ND_EVAL_CLASSES, ND_CELL_FIRST},
    {"document", ND_EVAL_CLASSES, ND_CELL_FIRST},  {"doc", ND_EVAL_CLASSES, ND_CELL_FIRST},
    {"class", ND_EVAL_CLASSES, ND_CELL_SECOND},    {"category", ND_EVAL_CLASSES, ND_CELL_SECOND},
    {"label", ND_EVAL_CLASSES, ND_CELL_SECOND},
};
enum { N_NAMED = sizeof named / sizeof *named };

const char *const nd_column_keys[] = {
    "a",     "id1",     "id_1",        "id_a",       "left",    "b",         "id2",
    "id_2",  "id_b",    "right",       "label",      "grade",   "judgement", "judgment",
    "match", "score",   "resemblance", "similarity", "jaccard", "id",        "document",
    "doc",   "cluster", "cluster_id",  "leader",     "kept",    "group",     "component",
    "fate",  "class",   "category"};
const size_t nd_column_n_keys = sizeof nd_column_keys / sizeof *nd_column_keys;

static void clear(struct nd_eval_columns *c, enum nd_eval_form form)
{
    c->form = form;
    c->value = SIZE_MAX;
    for (int i = 0; i < ND_CELLS; i++)
        c->at[i] = SIZE_MAX;
}

/* The first column of this form and kind that is there. */
static size_t find(const struct nd_view *name, size_t n, enum nd_eval_form form,
                   enum nd_eval_cell column)
{
    for (size_t k = 0; k < N_NAMED; k++)
        for (size_t i = 0; named[k].form == form && named[k].column == column && i < n; i++)
            if (name[i].data && nd_view_is(name[i], named[k].name))
                return i;
    return SIZE_MAX;
}

bool nd_columns_name(struct nd_eval_columns *c, const struct nd_view *name, size_t n,
                     enum nd_eval_form form)
{
    for (int f = ND_EVAL_PAIRS; f <= ND_EVAL_CLASSES; f++) {
        if (form != ND_EVAL_ANY && form != (enum nd_eval_form)f)
            continue;
        clear(c, (enum nd_eval_form)f);
        for (int i = 0; i < ND_CELLS; i++)
            c->at[i] = find(name, n, c->form, (enum nd_eval_cell)i);
        if (c->at[ND_CELL_FIRST] != SIZE_MAX && c->at[ND_CELL_SECOND] != SIZE_MAX)
            return true;
    }
    return false;
}

/* Documents can be called a and b: such a line is a header only if a third cell says so. */
static bool could_be_ids(const struct nd_view *cell, size_t n)
{
    bool is_named = false;

    for (size_t i = 2; i < n; i++) {
        if (nd_label_is_likely(cell[i]) && !nd_view_is(cell[i], "match"))
            return true;
        is_named |= find(&cell[i], 1, ND_EVAL_PAIRS, ND_CELL_THIRD) != SIZE_MAX;
    }
    return n < 2 || (cell[0].len == 1 && cell[1].len == 1 && !is_named);
}

bool nd_columns_is_header(const struct nd_view *cell, size_t n, enum nd_eval_form form,
                          struct nd_eval_columns *c)
{
    /* A forced form may have the names of another: clusters that are classes. */
    if (could_be_ids(cell, n) ||
        (!nd_columns_name(c, cell, n, form) && !nd_columns_name(c, cell, n, ND_EVAL_ANY)))
        return false;
    c->form = form != ND_EVAL_ANY ? form : c->form;
    if (c->form == ND_EVAL_PAIRS && c->at[ND_CELL_THIRD] == SIZE_MAX && n > 2)
        c->at[ND_CELL_THIRD] = 2;
    return true;
}

static bool is_fate(struct nd_view cell)
{
    return nd_view_is(cell, "kept") || nd_view_is(cell, "removed");
}

bool nd_columns_guess(struct nd_eval_columns *c, const struct nd_view *cell, size_t n,
                      enum nd_eval_form form)
{
    clear(c, form);
    if (n < 2)
        return false;
    c->at[ND_CELL_FIRST] = 0;
    c->at[ND_CELL_SECOND] = 1;
    if (form == ND_EVAL_ANY)
        c->form = n == 2 || is_fate(cell[2])    ? ND_EVAL_CLUSTERS
                  : nd_label_is_likely(cell[2]) ? ND_EVAL_PAIRS
                                                : ND_EVAL_ANY;
    if (n > 2 && c->form == ND_EVAL_PAIRS)
        c->at[ND_CELL_THIRD] = 2;
    if (n > 2 && c->form == ND_EVAL_CLUSTERS && is_fate(cell[2]))
        c->at[ND_CELL_FATE] = 2;
    return c->form != ND_EVAL_ANY;
}
