/* left_out.c - files that are not read: refused where they were named, else counted */
#include "input/input_state.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *copy_place(struct nd_input *input)
{
    const struct nd_source source = {.path = input->file.path, .entry = input->file.entry};
    char place[1024];

    nd_input_place(&source, place, sizeof place);
    return nd_arena_copy(&input->strings, place, strlen(place) + 1);
}

int nd_input_refuse_binary(struct nd_input *input, const struct nd_binary_kind *kind)
{
    struct nd_left_out *left = &input->left_out;
    struct nd_open_file *f = &input->file;

    if (!f->entries && !f->known->is_found) {
        nd_input_problem(input, ND_PROBLEM_FAILED, "%s, so it is not read as text: %s", kind->what,
                         kind->advice ? kind->advice
                                      : "leave it out, or have it read all the same with "
                                        "--binary text");
        return 0;
    }
    if (!f->entries)
        f->known->state = ND_READ_SKIPPED;
    if (left->not_text++ == 0 && !(left->first_not_text = copy_place(input)))
        return ND_ENOMEM;
    return 0;
}

/* "3 are not text", with a comma before all but the first; "1 is …". */
static void ND_PRINTF(6, 7) add_reason(char *out, size_t room, uint64_t n, const char *one,
                                       const char *many, const char *format, ...)
{
    size_t used = strlen(out);
    va_list args;

    if (!n)
        return;
    (void)snprintf(out + used, room - used, "%s%" PRIu64 " %s ", used ? ", " : "", n,
                   n == 1 ? one : many);
    used = strlen(out);
    va_start(args, format);
    (void)vsnprintf(out + used, room - used, format, args);
    va_end(args);
}

void nd_input_tell_left_out(struct nd_input *input)
{
    struct nd_left_out *left = &input->left_out;
    uint64_t n = left->not_text + left->unmatched + left->special + left->unreadable;
    char reasons[1400] = "";

    /* What is no regular file, or could not be read, has been named by itself. */
    if (left->was_told || left->not_text + left->unmatched == 0)
        return;
    left->was_told = true;
    add_reason(reasons, sizeof reasons, left->not_text, "is", "are", "not text (%s%s)",
               left->not_text > 1 ? "the first is " : "",
               left->first_not_text ? left->first_not_text : "");
    add_reason(reasons, sizeof reasons, left->unmatched, "matches", "match",
               "no pattern that was asked for");
    add_reason(reasons, sizeof reasons, left->special, "is", "are", "no regular file%s",
               left->special == 1 ? "" : "s");
    add_reason(reasons, sizeof reasons, left->unreadable, "could", "could", "not be read");
    nd_report(&input->reporter, n == left->unmatched ? ND_PROBLEM_NOTE : ND_PROBLEM_WARNING,
              "left out %" PRIu64 " file%s: %s", n, n == 1 ? "" : "s", reasons);
}
