/* annotation.h - what is written beside a document: whether it is a duplicate, of what, how near */
#ifndef ND_REPORT_ANNOTATION_H
#define ND_REPORT_ANNOTATION_H

#include <stdbool.h>

#include <neardup/dedup.h>
#include <neardup/input.h>

#include "evidence/rows.h"
#include "reading/names.h"
#include "recipe/recipe_struct.h"

/*
 * The annotations of `filter` and `dedup` (docs/format/outputs.md). The same value has the same
 * name in a JSON object, in a header field of mail, and in columns of CSV and TSV.
 */

/* The measures of what the texts of two documents have in common. */
struct nd_measures {
    bool is_verified; /* the texts were compared, so the resemblance is known */
    double resemblance;
    const struct nd_overlap *overlap; /* NULL: unknown */
    bool shows_containment;           /* containments of it and of the other, if one decided */
    unsigned distance;                /* above ND_DISTANCE_MAX: none */
    const struct nd_method *method;   /* the recipe's signatures, which were compared; NULL: none */
    const struct nd_agreement *agreement;
};

/* The annotation of a record by dedup. */
struct nd_annotation {
    bool is_duplicate;
    const char *unread; /* why the record is bad; NULL: it is a document */
    struct nd_name cluster, duplicate_of;
    uint32_t copies; /* documents of its cluster, itself included; 0: not kept, or no clusters */
    enum nd_identical identical;
    const char *decided_by; /* the measure that reached the threshold; NULL: none, or unknown */
    struct nd_measures measures;
    unsigned n_signatures; /* of the recipe, which decide the columns of a table */
};

/*
 * Write the measures as members of the object that is open in *out. `other` is the key for what the
 * signatures of the other document have.
 */
void nd_measures_json(struct nd_json *out, const struct nd_measures *m, const char *other);
/* Write the measures as parameters of a header field, each after a semicolon. */
void nd_measures_mail(struct nd_json *out, const struct nd_measures *m);

/* Append a parameter of a header field whose value is a name, on a line of its own. */
void nd_mail_name(struct nd_json *out, const char *parameter, struct nd_view name,
                  const char *line_end);
/*
 * Append a message with a header field added at its top, which `write` appends. A message without a
 * header is copied unchanged.
 */
void nd_mail_annotate(struct nd_json *out, struct nd_view message,
                      void (*write)(struct nd_json *out, const void *context, const char *line_end),
                      const void *context);

/*
 * The annotation that follows from a decision. `via` is NULL except for components. The names are
 * borrowed.
 */
struct nd_annotation nd_annotation_of(const struct nd_recipe *recipe,
                                      const struct nd_decision *decision,
                                      const struct nd_name *kept, const struct nd_row_via *via);
/* The annotation of a kept document, whose cluster has its own name and so many documents; 0: the
 * run makes no clusters. */
struct nd_annotation nd_annotation_of_kept(const struct nd_recipe *recipe,
                                           const struct nd_name *name, uint32_t copies);
/* The annotation of a bad record. */
struct nd_annotation nd_annotation_of_bad(const struct nd_bad_record *bad);

/*
 * Whether bad records of a format are passed on with an annotation. They are for mail, because no
 * message may be lost.
 */
bool nd_annotation_fits_bad(enum nd_format format);
/*
 * Check that annotations can be written into the records of this source, and beside those of the
 * first source, which *first is set to. ND_EINPUT: they cannot.
 */
enum nd_status nd_annotation_check(const struct nd_source *source, const struct nd_source **first,
                                   struct nd_error *err);
/*
 * Append the record with its annotation to *out. A record of an unsupported format is copied
 * unchanged.
 */
void nd_annotation_put(struct nd_json *out, enum nd_format format, struct nd_view record,
                       const struct nd_annotation *a);
/*
 * Append the header of CSV or TSV with the columns of annotations. False: it already has one of
 * them.
 */
bool nd_annotation_header(struct nd_json *out, enum nd_format format, struct nd_view header,
                          const struct nd_method *method);

#endif
