/* joint.c - records of several files put behind one another */
#include "pipeline/joint.h"

#include <stdbool.h>

static struct nd_joint end_of(struct nd_view record, struct nd_joint before)
{
    size_t at = record.len;
    struct nd_joint joint = {1, 0, before.has_return};

    while (joint.newlines < 2 && at && record.data[at - 1] == '\n') {
        joint.newlines++;
        at--;
        if (at && record.data[at - 1] == '\r') {
            joint.has_return = 1;
            at--;
        }
    }
    return joint;
}

struct nd_view nd_joint_before(struct nd_joint *joint, struct nd_view record, enum nd_unit unit,
                               enum nd_format format)
{
    static const char breaks[] = "\r\n\r\n", plain[] = "\n\n";
    bool is_parted = format == ND_FORMAT_MBOX ||
                     (format == ND_FORMAT_TEXT && unit == ND_UNIT_PARAGRAPH); /* by a blank line */
    unsigned need = is_parted ? 2 : 1;
    unsigned missing = 0;
    struct nd_joint was = *joint;

    *joint = end_of(record, was);
    if (was.has_record && was.newlines < need)
        missing = need - was.newlines;
    if (was.has_return)
        return (struct nd_view){breaks, (size_t)missing * 2};
    return (struct nd_view){plain, missing};
}
