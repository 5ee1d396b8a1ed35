/* cut.h - where one record ends and the next begins */
#ifndef ND_INPUT_CUT_H
#define ND_INPUT_CUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum nd_cut_mode {
    ND_CUT_WHOLE,      /* all bytes are one record */
    ND_CUT_LINES,      /* a line; those of white space only are passed over */
    ND_CUT_ALL_LINES,  /* a line */
    ND_CUT_ROWS,       /* a line; empty ones are passed over */
    ND_CUT_PARAGRAPHS, /* lines up to and with the blank ones that follow */
    ND_CUT_MESSAGES,   /* lines up to one of an envelope behind a blank one: mbox */
    ND_CUT_CSV         /* a row of RFC 4180, which may hold line ends within quotes */
};

enum nd_cut_answer {
    ND_CUT_RECORD,
    ND_CUT_BLANK,   /* bytes to pass over */
    ND_CUT_MORE,    /* the record goes on beyond the bytes given */
    ND_CUT_UNCLOSED /* CSV: a quote is open at the end of the bytes, which are the last or too many
                     */
};

/* What is known of the record that has begun; start from zeroes and the mode. */
struct nd_cutter {
    enum nd_cut_mode mode;
    size_t seen;    /* bytes of it already looked at; paragraphs: start of a line */
    size_t scanned; /* paragraphs: no line end before this */
    bool is_blank;  /* paragraphs: the last line was blank */
    bool has_text;  /* paragraphs: a line was not */
    int csv_state;  /* where in a field `seen` stands */
    uint64_t lines; /* line ends in the last record or blank stretch answered */
};

enum { ND_CSV_QUOTED_MAX = 1 << 26 }; /* a row with an open quote is given up beyond this */

/*
 * Look at the bytes from the start of a record: `len` of them, more than at the last call where
 * that answered ND_CUT_MORE; `at_end`: no more will come.  *record_len is set for RECORD and BLANK.
 * A record is never cut without len > 0, but for ND_CUT_WHOLE.
 */
enum nd_cut_answer nd_cut_next(struct nd_cutter *c, const char *bytes, size_t len, bool at_end,
                               size_t *record_len);

/* Forget what was seen of a record that has begun: its bytes will be given again. */
void nd_cut_restart(struct nd_cutter *c);

/* cut_csv.c */
enum nd_cut_answer nd_cut_csv(struct nd_cutter *c, const char *bytes, size_t len, bool at_end,
                              size_t *record_len);

#endif
