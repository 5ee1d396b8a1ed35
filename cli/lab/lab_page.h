/* lab_page.h - the report of reproductions as a page for people */
#ifndef CLI_LAB_LAB_PAGE_H
#define CLI_LAB_LAB_PAGE_H

#include "lab/lab_run.h"

#include <stdio.h>

/*
 * Write the page (docs/format/lab.md): its begin, each reproduction when it has been run, and its end. It is
 * one file that loads nothing.  Who opens the file checks whether writing failed.
 */
void lab_page_begin(FILE *out);
void lab_page_put(FILE *out, const struct lab_run *run);
void lab_page_end(FILE *out);

#endif
