/* walk_paths.h - from the paths as given to the files that will be read */
#ifndef ND_INPUT_STREAMS_WALK_PATHS_H
#define ND_INPUT_STREAMS_WALK_PATHS_H

#include <stdbool.h>

#include <neardup/input.h>

#include "base/memory.h"

/* The files to read, which do not move once all are listed; the paths stand in the arena. */
struct nd_path_list {
    struct nd_input_file *file;
    size_t count, capacity;
    uint64_t bytes;      /* sum of the sizes */
    int is_size_known;   /* all are regular files */
    const char *missing; /* the first path as given where no file could be found; NULL: none */
    int why_missing;     /* errno */

    /* Files below directories, and in archives, that are left out, by the reason. */
    uint64_t not_text, unmatched, special, unreadable;
    const char *first_not_text;
    const char *not_text_filter; /* the ready-made filter for the first that has one; NULL: none */
    bool was_told;

    /* Records of web archives that are left out. */
    uint64_t web_not_text, web_no_body;
};

/* Whether a file below a directory, or in an archive, is asked for by the options' patterns. */
bool nd_path_is_wanted(const struct nd_input_options *options, const char *below);

/* Tell the user; `format` begins with the file's name. */
struct nd_problem_handler {
    void (*report)(void *context, const struct nd_problem *problem);
    void *context;
};
void nd_report(const struct nd_problem_handler *r, enum nd_problem_kind kind, const char *format,
               ...) ND_PRINTF(3, 4);

/*
 * Files and "-" are taken as they are, even absent ones (opening them will say so); directories
 * give the regular files below them, in the byte order of their paths, that match one of the globs
 * (none: all).  A glob without '/' is matched with the file's name, one with it with the path below
 * the directory; the others are counted.  A directory is read once for each path given: a second
 * way to it, which a loop of symbolic links is, gives a warning.
 */
enum nd_status nd_paths_expand(const char *const *given, size_t n_given,
                               const struct nd_input_options *options,
                               const struct nd_problem_handler *on_problem,
                               struct nd_arena *strings, struct nd_path_list *list);

#endif
