/* field_list.c - the fields that there are, and which one probably holds the text: for messages */
#include "input/formats/field_list.h"

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

/* The rank among names of ids, from 1, whatever their case, "_" and "-"; 0: none of them. */
static unsigned id_rank(struct nd_view name)
{
    static const char *const names[] = {"id",   "docid", "documentid", "recordid", "pageid",
                                        "guid", "uuid",  "uid",        "url",      "uri",
                                        "doi",  "key",   "path",       "filename"};
    char plain[16];
    size_t n = 0;

    for (size_t i = 0; i < name.len; i++) {
        char c = name.data[i];

        if (c == '_' || c == '-')
            continue;
        if (n + 1 == sizeof plain)
            return 0;
        plain[n++] = c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
    }
    plain[n] = '\0';
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], plain) == 0)
            return i + 1;
    return 0;
}

void nd_field_list_offer_id(struct nd_field_list *list, struct nd_view name)
{
    unsigned rank = id_rank(name);

    if (!rank || (list->id_rank && list->id_rank <= rank))
        return;
    list->id_rank = rank;
    (void)snprintf(list->id, sizeof list->id, "%.*s", (int)name.len, name.data);
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
