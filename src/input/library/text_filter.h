/*
 * text_filter.h - somebody else's program that makes text of a kind of file that neardup does not
 * read: which one it is, and one run of it within its limits
 */
#ifndef ND_INPUT_LIBRARY_TEXT_FILTER_H
#define ND_INPUT_LIBRARY_TEXT_FILTER_H

#include <neardup/error.h>
#include <neardup/input.h>

#include "base/memory.h"

/*
 * Check a filter as a user writes it: "EXT,EXT:COMMAND", or the name of a ready-made one.
 * ND_EINVAL: the message says what is wrong.
 */
enum nd_status nd_filter_check(const char *filter, struct nd_error *err);

/* Read "time=60,memory=2G,output=64M"; what is not named stays as it is.  ND_EINVAL. */
enum nd_status nd_filter_limits_parse(const char *text, struct nd_filter_limits *limits,
                                      struct nd_error *err);

/*
 * The command for a file of this name, ignoring its ending of compression, which begins at `end`;
 * NULL: there is none.  Of several filters for one ending the last counts.  The command stays as
 * long as the filters do.
 */
const char *nd_filter_of_name(const struct nd_input_options *options, const char *name,
                              const char *end);

/* The command of the only filter, for files of any name; NULL: there is none, or there are several. */
const char *nd_filter_only(const struct nd_input_options *options);

/* Debian's package with the program of a ready-made command; NULL: it is the user's own command. */
const char *nd_filter_package(const char *command);

/*
 * Run a command with the document on its standard input, and append what it writes to *text.  1;
 * 0: it failed, and `reason` says why; ND_ENOMEM.  Safe from any thread.
 */
int nd_filter_run(const char *command, struct nd_view document,
                  const struct nd_filter_limits *limits, struct nd_buffer *text, char *reason,
                  size_t reason_bytes);

/* Kill all filters that are running.  Safe in a signal handler, after which the process must end. */
void nd_filter_abandon(void);

#endif
