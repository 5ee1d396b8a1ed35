/* json_fields.h - which fields an object has, and which one probably holds the text */
#ifndef ND_INPUT_JSON_FIELDS_H
#define ND_INPUT_JSON_FIELDS_H

#include "input/field_list.h"
#include "input/jsonl_simdjson.h"

/* The fields of one object that nd_json_walk has accepted; those of nested objects are paths. */
void nd_json_list_fields(struct nd_json_indexer *indexer, const char *text, size_t len,
                         struct nd_field_list *list);

#endif
