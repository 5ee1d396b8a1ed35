/* lab_verdict.h - the numbers of a series held against the paper's, and against those expected */
#ifndef CLI_LAB_LAB_VERDICT_H
#define CLI_LAB_LAB_VERDICT_H

#include "lab/lab_file.h"

#include <stdio.h>

/* Count the pairs of labels whose order the paper tells, and those in which ours agree. */
void lab_compare_order(const struct lab_series *s, const double *value, size_t *pairs,
                       size_t *agreeing);
/* Count the numbers that the paper has, and those of ours that are near. */
void lab_compare_size(const struct lab_series *s, const double *value, size_t *numbers,
                      size_t *near);
/* Return whether a number is what it was when the file was written. */
bool lab_is_expected(const struct lab_series *s, size_t i, double value);

/* Return whether the paper gives numbers to compare with. */
bool lab_has_verdict(const struct lab_series *s, const double *value);
/* Say in a line whether order and size agree. */
void lab_put_verdict(FILE *out, const struct lab_series *s, const double *value);

/* Write a number with four digits behind the point; "-": it is not known. */
enum { LAB_NUMBER_TEXT = 32 };
void lab_number_text(double value, char text[LAB_NUMBER_TEXT]);

#endif
