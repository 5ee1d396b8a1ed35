/* forecast.h - a file in which nd_run_plan has written what it predicts */
#ifndef ND_RUN_FORECAST_H
#define ND_RUN_FORECAST_H

#include <neardup/error.h>
#include <neardup/recipe.h>
#include <neardup/run.h>
#include <neardup/types.h>

/*
 * Read the figures (docs/format/plan.md).  *is_other: they were made for another recipe, or another
 * number of threads.  ND_EINVAL: the file is no plan; ND_EIO, ND_ENOMEM.
 */
enum nd_status nd_forecast_read(const char *path, const struct nd_recipe *recipe, unsigned threads,
                                struct nd_forecast forecast[ND_FIGURES], int *is_other,
                                struct nd_error *err);

/* Read the figures from the bytes of a plan file, behind which 64 more can be read; `path` is for
 * messages. */
enum nd_status nd_forecast_parse(const char *path, struct nd_view text, uint64_t recipe_hash,
                                 unsigned threads, struct nd_forecast forecast[ND_FIGURES],
                                 int *is_other, struct nd_error *err);

/* A hash of the whole recipe, as it stands in the file. */
enum nd_status nd_forecast_recipe(const struct nd_recipe *recipe, uint64_t *hash,
                                  struct nd_error *err);

#endif
