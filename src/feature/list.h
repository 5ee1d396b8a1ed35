/* list.h - lists in a parameter: "title:1 date:0.5 section", entries of parts */
#ifndef ND_FEATURE_LIST_H
#define ND_FEATURE_LIST_H

#include <neardup/types.h>

#include <stdbool.h>

/* The next entry of a list, which are parted by spaces, tabs, commas or line ends; *rest goes on
 * behind it.  False: there is none. */
static inline bool nd_list_next(const char **rest, struct nd_view *entry)
{
    static const char between[] = " \t\r\n,";
    const char *p = *rest;

    for (;; p++) {
        const char *c = between;

        while (*c && *c != *p)
            c++;
        if (!*c || !*p)
            break;
    }
    entry->data = p;
    for (; *p; p++) {
        const char *c = between;

        while (*c && *c != *p)
            c++;
        if (*c)
            break;
    }
    entry->len = (size_t)(p - entry->data);
    *rest = p;
    return entry->len > 0;
}

/* Take the part before the next ':' off an entry.  False: there is none left; an entry that ends
 * in ':' has an empty part there. */
static inline bool nd_list_part(struct nd_view *entry, struct nd_view *part)
{
    size_t n = 0;

    if (!entry->data)
        return false;
    while (n < entry->len && entry->data[n] != ':')
        n++;
    *part = (struct nd_view){entry->data, n};
    if (n == entry->len)
        *entry = (struct nd_view){0};
    else
        *entry = (struct nd_view){entry->data + n + 1, entry->len - n - 1};
    return true;
}

#endif
