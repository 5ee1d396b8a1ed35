/* store_tables.h - the df tables of a store's recipe: copied into its folder, and never changed */
#ifndef ND_STORE_UPKEEP_STORE_TABLES_H
#define ND_STORE_UPKEEP_STORE_TABLES_H

#include <neardup/df.h>
#include <neardup/recipe.h>

/* The folder of the tables, in that of the store. */
#define ND_STORE_TABLES "df"

/* Tables that are open, each once.  Starts from zeroes. */
struct nd_store_tables {
    struct nd_store_table {
        char *path; /* as it was opened */
        struct nd_df *df;
        char name[40]; /* in a store: df/VERSION.df */
    } table[2 * ND_RECIPE_SIGNATURES];
    unsigned n;
};

/*
 * Open the tables that the signatures of a recipe name, and give them to the recipe, which then needs
 * them.  Paths are relative to the folder; NULL: to the working directory.  ND_EINVAL: the recipe
 * needs a table and names none, or another one than it states; what nd_df_open says; ND_ENOMEM.
 * Either way nd_store_tables_close frees what was opened.
 */
enum nd_status nd_store_tables_open(struct nd_store_tables *tables, struct nd_recipe *recipe,
                                    const char *folder, struct nd_error *err);
void nd_store_tables_close(struct nd_store_tables *tables);

/*
 * Copy the tables of a recipe into the folder of a store, synced, and have the recipe name the
 * copies.  ND_EINPUT: a table changed meanwhile; ND_EIO, ND_ENOMEM.
 */
enum nd_status nd_store_tables_copy(struct nd_store_tables *tables, struct nd_recipe *recipe,
                                    const char *folder, struct nd_error *err);
/* Remove the copies again. */
void nd_store_tables_remove(const struct nd_store_tables *tables, const char *folder);

/*
 * Let a recipe that was asked for name the tables of the store's own.  Where it names some itself,
 * they must be the same.  ND_EINVAL: one is another; as nd_store_tables_open.
 */
enum nd_status nd_store_tables_match(struct nd_recipe *asked, const struct nd_recipe *own,
                                     const char *folder, struct nd_error *err);

#endif
