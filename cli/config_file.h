/* config_file.h - options from a file, one a line, before those of the command line */
#ifndef CLI_CONFIG_FILE_H
#define CLI_CONFIG_FILE_H

#include <stddef.h>

#include <neardup/error.h>

/* The options of a file.  Starts from zeroes. */
struct config_file {
    struct config_option {
        char *argument; /* "--name" or "--name=value" */
        size_t line;    /* from 1 */
    } * option;
    size_t n, room;
};

/*
 * Read a file whose lines are "name", "name value" or "name = value", without the two hyphens; blank
 * lines and those that begin with # are skipped.  ND_EIO, ND_ENOMEM.
 */
enum nd_status config_file_read(struct config_file *config, const char *path, struct nd_error *err);
void config_file_release(struct config_file *config);

#endif
