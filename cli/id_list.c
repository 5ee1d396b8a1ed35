/* id_list.c - a file with an id on each line */
#include "id_list.h"
#include "base/system/c_functions.h"
#include "base/system/descriptor.h"
#include "report.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool add(struct id_list *list, const char *line, size_t len)
{
    char **more = list->id;

    if ((list->n & (list->n + 1)) == 0) /* its room doubles */
        more = realloc(list->id, (2 * list->n + 2) * sizeof *more);
    if (!more)
        return false;
    list->id = more;
    list->id[list->n] = nd_text_copy_n(line, len);
    return list->id[list->n] && ++list->n;
}

static bool read_lines(struct id_list *list, FILE *stream)
{
    size_t room = 0;
    char *line = NULL;
    bool is_right = true;
    ssize_t len;

    while (is_right && (len = nd_read_line(&line, &room, '\n', stream)) >= 0) {
        while (len > 0 && (line[len - 1] == '\n' || line[len - 1] == '\r'))
            len--;
        if (len > 0)
            is_right = add(list, line, (size_t)len);
    }
    free(line);
    return is_right && !ferror(stream);
}

bool id_list_read(struct id_list *list, const char *path)
{
    bool is_input = strcmp(path, "-") == 0;
    FILE *stream = is_input ? stdin : nd_stream_open(path, "r");
    bool is_right = stream && read_lines(list, stream);

    if (!is_right)
        say("%s: %s", path, strerror(errno));
    if (stream && !is_input)
        fclose(stream);
    return is_right;
}

void id_list_release(struct id_list *list)
{
    for (size_t i = 0; i < list->n; i++)
        free(list->id[i]);
    free(list->id);
    *list = (struct id_list){.id = NULL};
}
