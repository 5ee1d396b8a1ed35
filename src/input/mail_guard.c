/* mail_guard.c - messages that would take GMime too far */
#include "input/mail.h"

#include <string.h>
#include <strings.h>

/*
 * GMime reads the fields of addresses wherever a header may stand: groups of addresses by
 * recursion, which ends the stack, and empty ones in quadratic time.
 */
enum { GROUPS_MAX = 1000, ADDRESSES_MAX = 20000 };

/* Of the field of addresses that the line stands in. */
struct field {
    bool is_open;
    size_t groups, addresses;
};

static bool has_addresses(const char *line, size_t len)
{
    static const char *const name[] = {"from", "sender", "reply-to", "to", "cc", "bcc"};

    for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
        size_t n = strlen(name[i]);

        if (len <= n || strncasecmp(line, name[i], n) != 0)
            continue;
        while (n < len && (line[n] == ' ' || line[n] == '\t'))
            n++;
        if (n < len && line[n] == ':')
            return true;
    }
    return false;
}

static size_t count(const char *line, size_t len, char c)
{
    size_t n = 0;

    for (const char *p = line, *end = line + len; (p = memchr(p, c, (size_t)(end - p))); p++)
        n++;
    return n;
}

static void take_line(struct field *f, const char *line, size_t len)
{
    if (*line != ' ' && *line != '\t')
        *f = (struct field){.is_open = has_addresses(line, len)};
    if (f->is_open) {
        f->groups += count(line, len, ':');
        f->addresses += count(line, len, ',');
    }
}

const char *nd_mail_too_far(struct nd_view message)
{
    struct field f = {0};

    for (size_t at = 0, len; at < message.len; at += len) {
        const char *line = message.data + at, *end = memchr(line, '\n', message.len - at);

        len = end ? (size_t)(end - line) + 1 : message.len - at;
        take_line(&f, line, len);
        if (f.groups > GROUPS_MAX)
            return "message has more than 1000 groups of addresses in a field";
        if (f.addresses > ADDRESSES_MAX)
            return "message has more than 20000 addresses in a field";
    }
    return NULL;
}
