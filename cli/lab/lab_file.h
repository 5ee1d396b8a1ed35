/* lab_file.h - a reproduction of a paper's result, as its file describes it (docs/format/lab.md) */
#ifndef CLI_LAB_FILE_H
#define CLI_LAB_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include <neardup/error.h>

/* The most of each in one file. */
enum { LAB_PARTS = 48, LAB_REMARKS = 12, LAB_NUMBERS = 32 };

/* A file that the reproduction has with it, or a step, which makes one: what it writes. */
struct lab_part {
    char *name;
    char *run;  /* the arguments of a command of neardup; NULL: it is a file … */
    char *text; /* … of these lines */
};

/* Numbers of the paper beside ours. */
struct lab_series {
    char *name, *about;
    char *tables; /* names of parts */
    char *value;  /* an expression over the columns of a row */
    char *where[4];
    size_t n_where;
    char *label[LAB_NUMBERS];
    double paper[LAB_NUMBERS], expect[LAB_NUMBERS]; /* NAN: not known */
    size_t n_labels, n_paper, n_expect;
    double within; /* of what is expected */
    double near;   /* of the paper's, as a share of it */
};

struct lab {
    char *name; /* of the file, without its folder and .ini */
    char *title, *paper, *corpus, *package;
    char *remark[LAB_REMARKS], *cannot[LAB_REMARKS];
    size_t n_remarks, n_cannot;
    struct lab_part part[LAB_PARTS];
    size_t n_parts;
    struct lab_series series[LAB_PARTS];
    size_t n_series;
};

/* Read the file, or the shipped reproduction of this name. ND_EINVAL: file, line and reason. NULL:
 * failed. To be freed. */
struct lab *lab_read(const char *name, struct nd_error *err);
/* Read a text that is called by this name. */
struct lab *lab_parse(const char *name, const char *text, struct nd_error *err);
void lab_free(struct lab *lab);

/* The i-th shipped reproduction, in alphabetical order; NULL: there are no more. */
const char *lab_name(size_t i);

#endif
