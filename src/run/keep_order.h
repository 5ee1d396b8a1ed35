/* keep_order.h - which documents are preferred, before the keep policy counts */
#ifndef ND_RUN_KEEP_ORDER_H
#define ND_RUN_KEEP_ORDER_H

#include "recipe/keep_order.h"

struct nd_run;
struct nd_document;
/* The index of the document's value in the list of preferences; after all of them if it is not
 * listed; 0 where there is no list. */
uint32_t nd_preference(const struct nd_run *run, const struct nd_document *document);

#endif
