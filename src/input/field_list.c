/* field_list.c - the fields that there are, and which one probably holds the text: for messages */
#include "input/field_list.h"

#include <stdio.h>
#include <string.h>

enum { NAME_SHOWN = 60 };
static const char MORE[] = ", \xE2\x80\xA6"; /* an ellipsis */

/* The length of a prefix that ends between characters. */
static size_t cut_between_characters(struct nd_view v, size_t most)
{
    if (v.len <= most)
        return v.len;
    while (most > 0 && ((unsigned char)v.data[most] & 0xC0) == 0x80)
        most--;
    return most;
}

void nd_field_list_add(struct nd_field_list *list, struct nd_view name, uint64_t rank)
{
    size_t used = strlen(list->names), shown = cut_between_characters(name, NAME_SHOWN);

    if (rank > list->text_rank && name.len == shown) {
        list->text_rank = rank;
        (void)snprintf(list->text, sizeof list->text, "%.*s", (int)shown, name.data);
    }
    if (list->is_full)
        return;
    list->is_full = used + 2 + shown + sizeof MORE > sizeof list->names;
    (void)snprintf(list->names + used, sizeof list->names - used, "%s%.*s",
                   list->is_full ? MORE
                   : used        ? ", "
                                 : "",
                   list->is_full ? 0 : (int)shown, name.data);
}

void nd_field_list_show(const struct nd_field_list *list, char *out, size_t capacity)
{
    (void)snprintf(out, capacity, "%s; --text-field %s%snames the text",
                   list->names[0] ? list->names : "no field", list->text,
                   list->text[0] ? " probably " : "");
}
