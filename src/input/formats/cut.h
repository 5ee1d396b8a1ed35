/* cut.h - where one record ends and the next begins */
#ifndef ND_INPUT_FORMATS_CUT_H
#define ND_INPUT_FORMATS_CUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <neardup/types.h>

enum nd_cut_answer {
    ND_CUT_RECORD,
    ND_CUT_BLANK, /* bytes to skip */
    ND_CUT_MORE,  /* the record continues after the given bytes */
    /* CSV: a quote is open at the end of the bytes, which are the last or too many. */
    ND_CUT_UNCLOSED
};

struct nd_cutter;

/*
 * A way to cut a stream into records.  A format names one in its row (formats.h), most often one of
 * those below.  A format whose records are groups of lines, but of its own kind, defines one beside
 * its row, with nd_cut_groups as `next`:
 *
 *     static const struct nd_cut cut_entries = {
 *         .next = nd_cut_groups, .begins = begins_entry, .line_ends = 1, .can_skip = true};
 */
struct nd_cut {
    /*
     * Find the end of the record that the bytes begin with: `len` of them, more than at the last
     * call if that answered ND_CUT_MORE.  `at_end`: no more will come.  *record_len is set for
     * RECORD and BLANK.  The bytes begin behind a byte order mark.  They are decompressed, and
     * UTF-8 if they were UTF-16; otherwise they are as the file has them, in whatever charset.  The
     * answer must not depend on how many bytes are given at a time.  len is 0 only for
     * nd_cut_whole.
     */
    enum nd_cut_answer (*next)(struct nd_cutter *c, const char *bytes, size_t len, bool at_end,
                               size_t *record_len);

    /* For nd_cut_groups: whether this line begins a record, if the one before it has text.
     * `after_blank`: the line above it is blank. */
    bool (*begins)(const char *line, size_t len, bool after_blank);

    /* How many line ends must stand between two records if they are written one behind the other:
     * 2 if a blank line separates them.  Missing ones are written (nd_separator_before). */
    unsigned line_ends;

    /* For groups whose first one may lack the line that `begins` it: the line to write in front of
     * such a record behind another one, or the two would be read as one.  It has two line ends
     * before it and one behind it: [0] LF, [1] CR LF.  NULL: there is none. */
    const char *first_line[2];

    /* After a record that is longer than what can be read, go on with the next line.  False: the
     * rest of the file is lost. */
    bool can_skip;

    /* The bytes between two records, in place of line ends.  NULL: nothing else. */
    const char *between;

    /* A record is named by the number of its first byte, from 1, and not by that of a line.  Too
     * long a record is passed over by its stated length (nd_cutter.ends). */
    bool counts_bytes;

    /* The line ends that are missing between two records are CR LF. */
    bool is_crlf;

    /* The length of the first part of a record, which is compressed by itself where records are
     * written.  NULL: all are one stream. */
    size_t (*part)(struct nd_view record);
};

extern const struct nd_cut nd_cut_whole;      /* all bytes are one record */
extern const struct nd_cut nd_cut_lines;      /* a line; lines of white space are skipped */
extern const struct nd_cut nd_cut_all_lines;  /* a line */
extern const struct nd_cut nd_cut_rows;       /* a line; empty ones are skipped */
extern const struct nd_cut nd_cut_paragraphs; /* lines including the blank ones after them */
extern const struct nd_cut nd_cut_csv;        /* a row of RFC 4180, with line ends within quotes */

/* A record is a group of lines, and ends where the next one `begins`.  Blank lines belong to the
 * record before them, those at the very start to the first one. */
enum nd_cut_answer nd_cut_groups(struct nd_cutter *c, const char *bytes, size_t len, bool at_end,
                                 size_t *record_len);

/* End an item of a feed, or a stretch that stands between items; the first stretch is the feed's head,
 * unless an item comes first.  Returns the answer. */
enum nd_cut_answer nd_cut_end_stretch(struct nd_cutter *c, enum nd_cut_answer answer,
                                      const char *bytes, size_t len, size_t *record_len);

/* The state of the record that has begun; starts from zeroes and the mode. */
struct nd_cutter {
    const struct nd_cut *cut;
    const struct nd_tags *tags; /* stories: what begins one besides the built-in tags, or NULL */
    size_t seen;                /* bytes of it already looked at; groups: start of a line */
    size_t scanned;             /* groups: no line end before this */
    bool is_blank;              /* groups: the last line was blank */
    bool has_text;              /* groups: a line was not */
    int csv_state;              /* state of the CSV field at `seen` */
    uint64_t lines; /* line ends in the last record or blank stretch; counts_bytes: its bytes */

    unsigned depth;      /* feeds: how many elements of the item's name, or brackets, are open */
    unsigned char stage; /* JSON feeds: before their items, within them or behind */

    /* Web archives: what the records of a group are about, places in it: fields of the record that
     * has a body, or of the first one before that is found. */
    struct nd_cut_place {
        size_t at, len;
    } uri, id, concurrent;
    bool has_main, has_request, begins_with_info;
    uint64_t ends;       /* where what has begun ends, as far as its head says */
    uint64_t pass;       /* bytes that follow and are no record's */
    bool has_info;       /* feeds: what stands before the items has been found */
    uint64_t info_bytes; /* of the records so far that say how the archive was made */
    bool is_info; /* the last blank stretch is one, or what stands before the items of a feed */
    /* In the last blank stretch: records left out because they are not text, or have no body. */
    unsigned not_text, no_body;
};

enum {
    ND_CSV_QUOTED_MAX = 1 << 26, /* a row with an open quote is given up beyond this */
    ND_CUT_INFO_MAX = 1 << 20    /* info_bytes beyond which these join the record behind them */
};

static inline enum nd_cut_answer nd_cut_next(struct nd_cutter *c, const char *bytes, size_t len,
                                             bool at_end, size_t *record_len)
{
    return c->cut->next(c, bytes, len, at_end, record_len);
}

/* Forget the state of a record that has begun: its bytes will be given again. */
static inline void nd_cut_restart(struct nd_cutter *c)
{
    *c = (struct nd_cutter){.cut = c->cut,
                            .tags = c->tags,
                            .pass = c->pass,
                            .has_info = c->has_info,
                            .info_bytes = c->info_bytes,
                            .stage = c->stage};
}

#endif
