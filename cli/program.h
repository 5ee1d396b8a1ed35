/* program.h - where this program lies, and the Python package that was installed with it */
#ifndef CLI_PROGRAM_H
#define CLI_PROGRAM_H

#include <stdbool.h>

struct settings;

enum { PROGRAM_PATH = 4096 }; /* bytes of a path, the end included */

/* Fill in the folder of this program, without a slash at the end. False: the system does not say. */
bool program_folder(char path[PROGRAM_PATH]);

/*
 * Whether all inputs are files that the Python package reads, by their names, and at least one is
 * a table: Parquet or Arrow, or a folder of nothing else.
 */
bool reads_tables(const struct settings *s);

/*
 * Have the Python package run dedup over tables in place of this process, with the options that
 * were read here, each in its long form (python/src/neardup/_tables.py). Returns if no Python
 * package was installed with this command.
 */
void run_in_python(const struct settings *s);

#endif
