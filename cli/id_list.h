/* id_list.h - a file with an id on each line */
#ifndef CLI_ID_LIST_H
#define CLI_ID_LIST_H

#include <stdbool.h>
#include <stddef.h>

/* Ids without their line ends; blank lines do not count.  Starts from zeroes. */
struct id_list {
    char **id;
    size_t n;
};

/* Read a file; "-": the standard input.  False: an error was reported. */
bool id_list_read(struct id_list *list, const char *path);
void id_list_release(struct id_list *list);

#endif
