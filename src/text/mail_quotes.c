/*
 * mail_quotes.c - the lines of a mail that its writer did not write, left out of a text
 *
 * docs/format/mail-quotes.md defines the rule; the steps below have its numbers.
 */
#include "text/mail_quotes.h"

#include <stdlib.h>
#include <string.h>

#include "base/view.h"

enum {
    INITIALS = 4,      /* capital letters before the > of a quoted line */
    ATTRIBUTION = 3,   /* lines */
    BEFORE_FIELDS = 3, /* lines of a paragraph before its first header field that go with it */
    ENDING = 15,       /* lines at the end of a text where signatures and footers are */
    RULE = 20,         /* equal characters that begin a rule */
    LEAST_WORDS = 10,  /* with fewer left, the whole text stays */
};

enum { QUOTED = 1, OUT = 2 };

/* Words of the rule, in small letters, each list ended by NULL. */
static const char *const verbs[] = {"wrote",     "writes",   "said",     "says",     "écrit",
                                    "escribió",  "escreveu", "schrieb",  "schreibt", "scritto",
                                    "skrev",     "scrisse",  "schreef",  "napisał",  "napisal",
                                    "kirjoitti", "написал",  "написала", "пишет",    NULL};
static const char *const openers[] = {"on", "at", "in", "am",  "le",      "el",
                                      "il", "op", "em", "den", "quoting", NULL};
static const char *const subjects[] = {"subject", "betreff",   "objet",   "asunto",
                                       "oggetto", "onderwerp", "assunto", NULL};
static const char *const parties[] = {"from", "to", "von", "an",  "de",
                                      "para", "da", "van", "aan", NULL};
static const char *const earlier[] = {
    "original message",          "original appointment",   "forwarded by",
    "forwarded message",         "begin forwarded",        "ursprüngliche nachricht",
    "weitergeleitete nachricht", "message d'origine",      "message transféré",
    "mensaje original",          "mensaje reenviado",      "messaggio originale",
    "messaggio inoltrato",       "oorspronkelijk bericht", "doorgestuurd bericht",
    "mensagem original",         "mensagem encaminhada",   NULL};
static const char *const footers[] = {"mailing list", "unsubscribe",  "/listinfo", "majordomo@",
                                      "listserv@",    "sponsored by", NULL};

/* A text on its way. */
struct mail {
    const char *text;
    const size_t *from;
    unsigned char *flags;
    size_t n; /* lines */
};

/* ---- Lines and words ------------------------------------------------------------------------- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static char small(char c)
{
    return (char)(c >= 'A' && c <= 'Z' ? c + 32 : c);
}

/* Line i without its end, and without blanks around it. */
static struct nd_view line_of(const struct mail *m, size_t i)
{
    const char *data = m->text + m->from[i], *end = m->text + m->from[i + 1];

    if (end > data && end[-1] == '\n')
        end--;
    while (data < end && is_blank(*data))
        data++;
    while (data < end && is_blank(end[-1]))
        end--;
    return (struct nd_view){data, (size_t)(end - data)};
}

static bool is_out(const struct mail *m, size_t i)
{
    return m->flags[i] != 0;
}

static bool is_empty(const struct mail *m, size_t i)
{
    return line_of(m, i).len == 0;
}

/* Whether a line has text of the writer, as far as is known by now. */
static bool is_own(const struct mail *m, size_t i)
{
    return !is_out(m, i) && !is_empty(m, i);
}

static void leave_out(struct mail *m, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        m->flags[i] |= OUT;
}

/* Whether the text begins with the word, in small or capital letters of ASCII. */
static bool begins_with(struct nd_view text, const char *word)
{
    size_t i = 0;

    while (i < text.len && word[i] && small(text.data[i]) == word[i])
        i++;
    return !word[i];
}

static bool is_one_of(struct nd_view text, const char *const *words)
{
    for (; *words; words++)
        if (strlen(*words) == text.len && begins_with(text, *words))
            return true;
    return false;
}

static bool begins_with_one_of(struct nd_view text, const char *const *words)
{
    for (; *words; words++)
        if (begins_with(text, *words))
            return true;
    return false;
}

static bool has_one_of(struct nd_view text, const char *const *words)
{
    for (; text.len; text.data++, text.len--)
        if (begins_with_one_of(text, words))
            return true;
    return false;
}

/* Take the bytes up to the first of `ends` off the text. */
static struct nd_view take(struct nd_view *text, const char *ends)
{
    size_t n = 0;
    struct nd_view head;

    while (n < text->len && !(text->data[n] && strchr(ends, text->data[n])))
        n++;
    head = (struct nd_view){text->data, n};
    n += n < text->len;
    *text = (struct nd_view){text->data + n, text->len - n};
    return head;
}

/* ---- 1 and 2: quoted lines and their attributions ---------------------------------------------- */

static bool is_quoted(const struct mail *m, size_t i)
{
    const struct nd_view raw = {m->text + m->from[i], m->from[i + 1] - m->from[i]};
    struct nd_view line = line_of(m, i);
    size_t n = 0;

    if (raw.len >= 6 && memcmp(raw.data, ">From ", 6) == 0)
        return false;
    while (n < line.len && n < INITIALS && line.data[n] >= 'A' && line.data[n] <= 'Z')
        n++;
    return n < line.len && line.data[n] == '>';
}

static void find_quoted(struct mail *m)
{
    for (size_t i = 0; i < m->n; i++)
        m->flags[i] = is_quoted(m, i) ? QUOTED : 0;
}

static bool begins_attribution(struct nd_view line)
{
    return is_one_of(take(&line, " \t,"), openers);
}

static bool ends_attribution(struct nd_view line)
{
    struct nd_view rest = line;
    bool has_verb = false;

    while (rest.len && (is_blank(rest.data[rest.len - 1]) || rest.data[rest.len - 1] == ':'))
        rest.len--;
    has_verb = begins_with(rest, "quoting") && (rest.len == 7 || is_blank(rest.data[7]));
    while (rest.len && !has_verb)
        has_verb = is_one_of(take(&rest, " \t"), verbs);
    return has_verb && (line.data[line.len - 1] == ':' || begins_attribution(line));
}

/* The attribution above line i, with which quoted lines begin. */
static void find_attribution(struct mail *m, size_t i)
{
    size_t last, first;

    if (i > 0 && is_empty(m, i - 1))
        i--;
    if (i == 0 || !is_own(m, i - 1) || !ends_attribution(line_of(m, i - 1)))
        return;
    last = first = i - 1;
    for (size_t k = last, n = 0; n < ATTRIBUTION && is_own(m, k); k--, n++) {
        if (begins_attribution(line_of(m, k))) {
            first = k;
            break;
        }
        if (k == 0)
            break;
    }
    leave_out(m, first, last + 1);
}

static void find_attributions(struct mail *m)
{
    for (size_t i = 0; i < m->n; i++)
        if ((m->flags[i] & QUOTED) && (i == 0 || !(m->flags[i - 1] & QUOTED)))
            find_attribution(m, i);
}

/* ---- 3: what PGP adds -------------------------------------------------------------------------- */

static void find_armour(struct mail *m)
{
    bool in_signature = false, in_head = false;

    for (size_t i = 0; i < m->n; i++) {
        struct nd_view line = line_of(m, i);

        if (!in_signature && !in_head) {
            in_signature = nd_view_is(line, "-----BEGIN PGP SIGNATURE-----");
            in_head = nd_view_is(line, "-----BEGIN PGP SIGNED MESSAGE-----");
        }
        in_head = in_head && line.len;
        if (in_signature || in_head)
            leave_out(m, i, i + 1);
        if (in_signature && nd_view_is(line, "-----END PGP SIGNATURE-----"))
            in_signature = false;
    }
}

/* ---- 4: an earlier message below that of the writer --------------------------------------------- */

static bool has_year(struct nd_view line)
{
    size_t digits = 0;

    for (size_t i = 0; i < line.len && digits < 4; i++)
        digits = line.data[i] >= '0' && line.data[i] <= '9' ? digits + 1 : 0;
    return digits == 4;
}

/* "-----Original Message-----", "---- Forwarded by …", and an attribution with a year, of a message
 * whose lines are not marked as quoted. */
static bool begins_earlier(struct nd_view line)
{
    if (line.data[line.len - 1] == ':' && begins_attribution(line) && ends_attribution(line) &&
        has_year(line))
        return true;
    if (begins_with(line, "begin forwarded message:") && line.len == 24)
        return true;
    if (!begins_with(line, "---") && !begins_with(line, "___"))
        return false;
    while (line.len && strchr("-_ \t", *line.data) && *line.data) {
        line.data++;
        line.len--;
    }
    return begins_with_one_of(line, earlier);
}

/* The name of a header field: up to the first colon, without the blanks around it. */
static struct nd_view field_name(struct nd_view line)
{
    struct nd_view name = take(&line, ":");

    if (name.data + name.len == line.data) /* no colon was taken */
        return (struct nd_view){name.data, 0};
    while (name.len && is_blank(name.data[name.len - 1]))
        name.len--;
    return name;
}

/*
 * The line of the paragraph from … to - 1 with which an earlier message begins: a line that says
 * so, or the header fields of a message.  `to`: there is none.
 */
static size_t find_in_paragraph(const struct mail *m, size_t from, size_t to)
{
    bool has_subject = false, has_party = false;
    size_t first = to, begin;

    for (size_t i = from; i < to; i++) {
        struct nd_view line = line_of(m, i), name = field_name(line);
        bool is_subject = is_one_of(name, subjects), is_party = is_one_of(name, parties);

        if (begins_earlier(line)) {
            if (!has_subject || !has_party)
                return i;
            break;
        }
        if (first == to && (is_subject || is_party || (name.len == 2 && begins_with(name, "cc"))))
            first = i;
        has_subject = has_subject || is_subject;
        has_party = has_party || is_party;
    }
    if (!has_subject || !has_party)
        return to;
    begin = first - from <= BEFORE_FIELDS ? from : first;
    return begin;
}

static void find_earlier(struct mail *m)
{
    for (size_t i = 0, to; i < m->n; i = to) {
        size_t begin;

        for (to = i; to < m->n && is_own(m, to); to++)
            continue;
        begin = find_in_paragraph(m, i, to);
        if (begin < to) {
            leave_out(m, begin, m->n);
            return;
        }
        to += to == i;
    }
}

/* ---- 5 and 6: the signature, and the footer of a list -------------------------------------------- */

static size_t count_own(const struct mail *m)
{
    size_t n = 0;

    for (size_t i = 0; i < m->n; i++)
        n += is_own(m, i);
    return n;
}

static void find_signature(struct mail *m)
{
    size_t behind = count_own(m);

    for (size_t i = 0; i < m->n; i++) {
        struct nd_view line = line_of(m, i);

        if (!is_own(m, i))
            continue;
        behind--;
        if (!nd_view_is(line, "--") && !nd_view_is(line, "- --"))
            continue;
        if (behind <= ENDING) {
            leave_out(m, i, m->n);
            return;
        }
        leave_out(m, i, i + 1);
        while (i + 1 < m->n && is_own(m, i + 1)) {
            leave_out(m, i + 1, i + 2);
            behind--;
            i++;
        }
    }
}

static bool is_rule(struct nd_view line)
{
    size_t n = 0;

    if (line.len < RULE || !*line.data || !strchr("_-=*~#", *line.data))
        return false;
    while (n < RULE && line.data[n] == *line.data)
        n++;
    return n == RULE;
}

/* The lines of the ending that speak of a list, and all from the first rule above the last one. */
static void find_footer(struct mail *m)
{
    size_t n = count_own(m), skipped = n > ENDING ? n - ENDING : 0, rule = m->n, last = m->n;

    for (size_t i = 0; i < m->n; i++) {
        if (!is_own(m, i))
            continue;
        if (skipped) {
            skipped--;
            continue;
        }
        if (rule == m->n && is_rule(line_of(m, i)))
            rule = i;
        if (has_one_of(line_of(m, i), footers)) {
            leave_out(m, i, i + 1);
            last = i;
        }
    }
    if (last < m->n && rule < last)
        leave_out(m, rule, m->n);
}

/* ---- 7: enough is left --------------------------------------------------------------------------- */

/* Words of a line: runs of letters, digits and characters beyond ASCII, of which those of three
 * and four bytes count once more. */
static size_t count_words(struct nd_view line)
{
    size_t n = 0;
    bool in_word = false;

    for (size_t i = 0; i < line.len; i++) {
        unsigned char c = (unsigned char)line.data[i];
        bool is_inner = c >= 0x80 || (c >= '0' && c <= '9') || is_letter((char)c);

        n += is_inner && !in_word ? 1 : 0;
        n += c >= 0xE0 ? 1 : 0;
        in_word = is_inner;
    }
    return n;
}

/* Whether something is left out, and enough is left beyond the first line, which may be the subject. */
static bool is_shorter(const struct mail *m)
{
    size_t words = 0;
    bool is_first = true, any = false;

    for (size_t i = 0; i < m->n; i++) {
        struct nd_view line = line_of(m, i);

        any = any || is_out(m, i);
        if (line.len && !is_first && !is_out(m, i))
            words += count_words(line);
        is_first = is_first && !line.len;
    }
    return any && words >= LEAST_WORDS;
}

/* ---- All of it ----------------------------------------------------------------------------------- */

/* Find where lines begin; the flags are not set yet. */
static bool find_lines(struct nd_mail_quotes *q, struct nd_view text, size_t *n)
{
    size_t at = 0;

    for (*n = 0; at < text.len; ++*n) {
        const char *end = memchr(text.data + at, '\n', text.len - at);

        if (!ND_RESERVE(q->from, &q->from_capacity, *n + 2))
            return false;
        q->from[*n] = at;
        at = end ? (size_t)(end - text.data) + 1 : text.len;
    }
    if (!ND_RESERVE(q->from, &q->from_capacity, *n + 1) ||
        !ND_RESERVE(q->flags, &q->flags_capacity, *n + 1))
        return false;
    q->from[*n] = at;
    return true;
}

/* Decide which lines are left out.  1: some are; 0: none; -1: out of memory. */
static int find(struct nd_mail_quotes *q, struct nd_view text, struct mail *m)
{
    size_t n;

    if (!find_lines(q, text, &n))
        return -1;
    *m = (struct mail){text.data, q->from, q->flags, n};
    find_quoted(m);
    find_attributions(m);
    find_armour(m);
    find_earlier(m);
    find_signature(m);
    find_footer(m);
    return is_shorter(m);
}

static bool write_own(struct nd_mail_quotes *q, struct nd_view *text, bool with_blanks)
{
    struct mail m;
    int found = find(q, *text, &m);
    char *own;
    size_t len = 0;

    if (found <= 0)
        return found == 0;
    q->own.len = 0;
    if (!nd_buffer_append(&q->own, text->data, text->len))
        return false;
    own = q->own.data;
    for (size_t i = 0; i < m.n; i++) {
        size_t bytes = m.from[i + 1] - m.from[i];

        if (!is_out(&m, i)) {
            memcpy(own + len, text->data + m.from[i], bytes);
            len += bytes;
        } else if (with_blanks) {
            bool has_end = text->data[m.from[i + 1] - 1] == '\n';

            memset(own + len, ' ', has_end ? bytes - 1 : bytes);
            len += bytes;
        }
    }
    memset(own + len, 0, ND_BUFFER_PADDING);
    q->own.len = len;
    *text = (struct nd_view){own, len};
    return true;
}

bool nd_mail_quotes_drop(struct nd_mail_quotes *quotes, struct nd_view *text)
{
    return write_own(quotes, text, false);
}

bool nd_mail_quotes_blank(struct nd_mail_quotes *quotes, struct nd_view *text)
{
    return write_own(quotes, text, true);
}

void nd_mail_quotes_release(struct nd_mail_quotes *quotes)
{
    free(quotes->from);
    free(quotes->flags);
    nd_buffer_release(&quotes->own);
    *quotes = (struct nd_mail_quotes){0};
}
