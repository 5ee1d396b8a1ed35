/* sketches.h - the sketches of all documents, for the administrator */
#ifndef ND_SERVER_SKETCHES_H
#define ND_SERVER_SKETCHES_H

#include "server/state.h"

/* Make the file of the answer, x->answer.  It takes as long as sketching everything: a job does it, and
 * one at a time.  ADMINISTRATOR, BUSY (another is under way), ENDING, NO_SPACE; what the store says. */
enum nd_refusal nd_handle_sketches(struct nd_exchange *x, struct nd_workspace *w,
                                   struct nd_error *err);

#endif
