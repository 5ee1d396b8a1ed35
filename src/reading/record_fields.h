/* record_fields.h - which fields of documents the records of a sketch file keep that a run makes */
#ifndef ND_READING_RECORD_FIELDS_H
#define ND_READING_RECORD_FIELDS_H

#include <stdbool.h>

#include <neardup/error.h>
#include <neardup/sketch_file.h>

/* Names, which are the record's own.  Starts from zeroes. */
struct nd_record_fields {
    char *name[ND_SKETCH_FIELDS_MAX];
    size_t n;
};
void nd_record_fields_release(struct nd_record_fields *fields);

struct nd_run_options;
/*
 * Choose the fields of the records that a run makes: those of the file that it adds to; else those
 * that its options name for records and, where it begins a file to add to, those by which it compares
 * and prefers documents, `keep` among them (NULL: none).  Without `makes_file` options name none.
 * ND_EINVAL: there are too many; ND_ENOMEM; what nd_sketch_file_open says.
 */
enum nd_status nd_record_fields_choose(struct nd_record_fields *fields,
                                       const struct nd_run_options *options, const char *keep,
                                       bool makes_file, struct nd_error *err);

#endif
