/* df_tables.h - the df tables that a recipe names, each opened once */
#ifndef ND_RUN_DF_TABLES_H
#define ND_RUN_DF_TABLES_H

#include <stdbool.h>

#include <neardup/feature.h>

#include "recipe/recipe_struct.h"

/* Starts from zeroes. The recipe borrows the tables; the paths belong to the recipe. */
struct nd_df_tables {
    struct nd_df *table[2 * ND_RECIPE_SIGNATURES + 1]; /* ends at the first NULL */
    const char *path[2 * ND_RECIPE_SIGNATURES];
    bool is_counted; /* the first table was counted from the inputs of this run (count_df.h) */
    uint64_t counted_inputs; /* nd_run_inputs_state at that time */
    /* Seconds of a processor that counting took; and, where a sample was counted, how many times as
     * many stored bytes the inputs have. */
    double counting_seconds, counted_scale;
};
/* Open the tables of all signatures that are not open yet, and give them to the recipe. */
enum nd_status nd_df_tables_open(struct nd_df_tables *t, struct nd_recipe *recipe,
                                 struct nd_error *err);
void nd_df_tables_close(struct nd_df_tables *t);

#endif
