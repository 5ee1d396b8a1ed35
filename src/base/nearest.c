/* nearest.c - the known name that a mistyped one most likely means */
#include <neardup/error.h>

#include <string.h>

enum { NAME_MAX_LEN = 63 };

static unsigned min3(unsigned a, unsigned b, unsigned c)
{
    unsigned least = a < b ? a : b;

    return least < c ? least : c;
}

/*
 * The number of edits (insert, delete, replace, swap two neighbours) from a to b, by three rows of
 * the usual table.
 */
static unsigned edit_distance(const char *a, size_t n_a, const char *b, size_t n_b)
{
    unsigned rows[3][NAME_MAX_LEN + 1];
    unsigned *before = rows[0], *last = rows[1], *row = rows[2];

    for (unsigned j = 0; j <= n_b; j++)
        last[j] = j;
    for (unsigned i = 1; i <= n_a; i++) {
        unsigned *oldest = before;

        row[0] = i;
        for (size_t j = 1; j <= n_b; j++) {
            row[j] = min3(last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                before[j - 2] + 1 < row[j])
                row[j] = before[j - 2] + 1;
        }
        before = last;
        last = row;
        row = oldest;
    }
    return last[n_b];
}

/* The shortest name that begins with it: it may be an abbreviation. */
static const char *find_longer(const char *name, size_t len, const char *const *names, size_t n)
{
    const char *found = NULL;

    for (size_t i = 0; i < n; i++)
        if (strncmp(name, names[i], len) == 0 && (!found || strlen(names[i]) < strlen(found)))
            found = names[i];
    return found;
}

const char *nd_name_nearest(const char *name, size_t len, const char *const *names, size_t n)
{
    const char *nearest = len > 1 ? find_longer(name, len, names, n) : NULL;
    unsigned least = 1 + (unsigned)(len < 9 ? len : 9) / 3; /* with more edits it is another word */

    if (nearest || len > NAME_MAX_LEN)
        return nearest;
    for (size_t i = 0; i < n; i++) {
        size_t known = strlen(names[i]);
        unsigned distance;

        if (known > NAME_MAX_LEN)
            continue;
        distance = edit_distance(name, len, names[i], known);
        if (distance < least || (distance == least && !nearest)) {
            least = distance;
            nearest = names[i];
        }
    }
    return nearest;
}
