/* config_file.c - options from a file, one a line, before those of the command line */
#include "config_file.h"
#include "base/system/c_functions.h"
#include "base/system/descriptor.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SPACE " \t\r\n"

static bool reserve(struct config_file *config)
{
    const size_t room = 2 * config->room + 8;
    struct config_option *option;

    if (config->n < config->room)
        return true;
    option = realloc(config->option, room * sizeof *option);
    if (!option)
        return false;
    config->option = option;
    config->room = room;
    return true;
}

/* Add "name value" or "name = value" as --name=value.  False: out of memory. */
static bool add_option(struct config_file *config, char *text, size_t number)
{
    char *name = text + strspn(text, SPACE), *value, *end;
    size_t len = strcspn(name, "=" SPACE);

    if (!*name || *name == '#')
        return true;
    value = name + len + strspn(name + len, SPACE);
    if (*value == '=')
        value += 1 + strspn(value + 1, SPACE);
    for (end = value + strlen(value); end > value && strchr(SPACE, end[-1]); end--)
        ;
    if (!reserve(config))
        return false;
    if (nd_print_new(&config->option[config->n].argument, "--%.*s%s%.*s", (int)len, name,
                     end > value ? "=" : "", (int)(end - value), value) < 0)
        return false;
    config->option[config->n++].line = number;
    return true;
}

enum nd_status config_file_read(struct config_file *config, const char *path, struct nd_error *err)
{
    FILE *file = nd_stream_open(path, "r");
    enum nd_status status = ND_OK;
    char *line = NULL;
    size_t room = 0, number = 0;

    if (!file)
        return nd_fail(err, ND_EIO, "%s: cannot be opened: %s", path, strerror(errno));
    while (status == ND_OK && nd_read_line(&line, &room, '\n', file) >= 0)
        if (!add_option(config, line, ++number))
            status = nd_fail(err, ND_ENOMEM, "out of memory");
    if (status == ND_OK && ferror(file))
        status = nd_fail(err, ND_EIO, "%s: cannot be read: %s", path, strerror(errno));
    free(line);
    fclose(file);
    return status;
}

void config_file_release(struct config_file *config)
{
    for (size_t i = 0; i < config->n; i++)
        free(config->option[i].argument);
    free(config->option);
    *config = (struct config_file){.n = 0};
}
