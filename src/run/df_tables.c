/* df_tables.c - the df tables that a recipe names, each opened once */
#include "run/df_tables.h"

#include <string.h>

#include "recipe/recipe_struct.h"

/*
 * Signatures that name the same file share the table. NULL with err->status ND_OK: no path is
 * given.
 */
static const struct nd_df *open_table(struct nd_df_tables *t, const char *path,
                                      struct nd_error *err)
{
    unsigned n = 0;

    err->status = ND_OK;
    if (!*path)
        return NULL;
    for (; t->table[n]; n++)
        if (strcmp(t->path[n], path) == 0)
            return t->table[n];
    t->path[n] = path;
    t->table[n] = nd_df_open(path, err);
    return t->table[n];
}

static enum nd_status use_tables(struct nd_df_tables *t, struct nd_recipe_signature *s,
                                 struct nd_error *err)
{
    const struct nd_df *table = open_table(t, s->df, err);

    if (err->status != ND_OK || nd_signature_use_df(s, table, err) != ND_OK)
        return err->status;
    table = open_table(t, s->template_df, err);
    if (err->status != ND_OK)
        return err->status;
    return nd_signature_use_template(s, table, err);
}

enum nd_status nd_df_tables_open(struct nd_df_tables *t, struct nd_recipe *recipe,
                                 struct nd_error *err)
{
    struct nd_method *m = &recipe->method;
    struct nd_error reason;

    for (unsigned i = 0; i < m->n_signatures; i++) {
        enum nd_status status = use_tables(t, &m->signature[i], &reason);

        if (status != ND_OK)
            return nd_fail(err, status, "%s", reason.message);
    }
    return ND_OK;
}

void nd_df_tables_close(struct nd_df_tables *t)
{
    for (unsigned i = 0; t->table[i]; i++)
        nd_df_close(t->table[i]);
    *t = (struct nd_df_tables){.is_counted = false};
}
