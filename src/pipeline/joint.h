/* joint.h - records of several files put behind one another */
#ifndef ND_PIPELINE_JOINT_H
#define ND_PIPELINE_JOINT_H

#include <neardup/error.h>
#include <neardup/input.h>
#include <neardup/types.h>

/*
 * What must stand between two records: nothing where the first ends in a newline, else one; between
 * paragraphs, and between messages, a blank line, so that they stay two.  Starts from zeroes.
 */
struct nd_joint {
    unsigned char has_record; /* one has been written */
    unsigned char newlines;   /* at its end, at most 2 */
    unsigned char has_return; /* lines end in CR LF */
};

/* The bytes to write before the next record; note it as written. */
struct nd_view nd_joint_before(struct nd_joint *joint, struct nd_view record, enum nd_unit unit,
                               enum nd_format format);

#endif
