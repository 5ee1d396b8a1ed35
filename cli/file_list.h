/* file_list.h - the files that --files-from lists, for more than a command line holds */
#ifndef CLI_FILE_LIST_H
#define CLI_FILE_LIST_H

#include "settings.h"

/*
 * Read the lists of s->file_lists and append their paths to those of the command line. A list has a
 * path on each line; blank lines are skipped. "-" is the standard input. ND_EINVAL: a list has no
 * path; ND_EIO, ND_ENOMEM.
 */
enum nd_status file_lists_read(struct settings *s, const struct command *command,
                               struct nd_error *err);
void file_lists_free(struct file_lists *lists);

/*
 * If a message is about a listed path that does not exist, the path's place in the list, "FILE:12".
 */
bool file_lists_place(const struct settings *s, const char *message, char out[512]);

/*
 * For commands that read fingerprints and tables and stop at the first missing file: check that all
 * files exist, and that no list is the output (NULL: none). False: an error was reported.
 */
bool file_lists_fit(const struct settings *s, const char *output);

#endif
