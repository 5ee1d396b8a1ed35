/* figure_file.h - the file of a figure, which must not be one that the command reads */
#ifndef CLI_FIGURE_FILE_H
#define CLI_FIGURE_FILE_H

#include "report.h"
#include "results.h"

/*
 * Open the figure before anything is read, so that a wrong name is reported at once.  svg NULL: none
 * is requested, and `figure` has no file.  inputs: what is read, files or folders.  False: the reason
 * was printed.
 */
bool open_figure(struct results *figure, const char *svg, const struct settings *s,
                 const struct words *inputs);

#endif
