/* field_list.h - the fields that there are, and which one probably holds the text: for messages */
#ifndef ND_INPUT_FORMATS_FIELD_LIST_H
#define ND_INPUT_FORMATS_FIELD_LIST_H

#include <stdbool.h>

#include <neardup/types.h>

/* Start from zeroes. */
struct nd_field_list {
    char names[160]; /* "id, content", or as many names as fit, and an ellipsis */
    bool is_full;
    char text[64];      /* name of the field that is probably the text; or empty */
    uint64_t text_rank; /* its rank, the greatest so far */
    char id[64];        /* name of the field that could be the id, such as "url"; or empty */
    unsigned id_rank;   /* its rank, the least so far; 0: there is none */
};

/* Add a field and its rank: how much it looks like text; 0: not at all. */
void nd_field_list_add(struct nd_field_list *list, struct nd_view name, uint64_t rank);

/* Consider a field whose value could be an id. */
void nd_field_list_offer_id(struct nd_field_list *list, struct nd_view name);

/* Write "id, content; --text-field content probably names the text". */
void nd_field_list_show(const struct nd_field_list *list, char *out, size_t capacity);

#endif
