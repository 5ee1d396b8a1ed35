/* manifest.h - the first line of the manifest: what a run over files did, and to which inputs */
#ifndef ND_RUN_MANIFEST_H
#define ND_RUN_MANIFEST_H

#include <neardup/run.h>

#include "old/against_run.h"
#include "reading/reading.h"
#include "reading/request.h"
#include "reading/run_options.h"
#include "recipe/recipe_struct.h"
#include "report/output.h"

/* Write the first line: what was done, to which inputs, and with which options. */
enum nd_status nd_manifest_put_header(struct nd_output *out, const struct nd_recipe *recipe,
                                      const struct nd_run_options *options,
                                      const struct nd_run_summary *summary,
                                      const struct nd_reading *reading,
                                      const struct nd_against *against,
                                      const struct nd_run_request *request, struct nd_error *err);
/* The charset of the inputs; NULL if it is UTF-8. */
const char *nd_input_charset(const struct nd_input_options *input);

#endif
