/* html_page.c - an HTML page in one file, which needs no network: its frame, text, tables of bars */
#include "report/html_page.h"

#include "base/utf8.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void nd_html_put(struct nd_json *page, const char *markup)
{
    nd_json_bytes(page, markup, strlen(markup));
}

void nd_html_format(struct nd_json *page, const char *format, ...)
{
    char room[512];
    va_list list;
    int len;

    va_start(list, format);
    len = vsnprintf(room, sizeof room, format, list);
    va_end(list);
    if (len < 0 || (size_t)len >= sizeof room)
        page->failed = true;
    else
        nd_json_bytes(page, room, (size_t)len);
}

/* Whether a character would do something else than be seen. */
static bool is_unseen(uint32_t c)
{
    return (c < 0x20 && c != '\n' && c != '\t') || (c >= 0x7F && c < 0xA0) || c == 0x061C ||
           c == 0x200E || c == 0x200F || (c >= 0x202A && c <= 0x202E) ||
           (c >= 0x2066 && c <= 0x2069);
}

/* The markup that stands for a character; NULL: itself. */
static const char *reference(uint32_t c)
{
    switch (c) {
    case '&': return "&amp;";
    case '<': return "&lt;";
    case '>': return "&gt;";
    case '"': return "&quot;";
    case '\'': return "&#39;";
    default: return is_unseen(c) ? "\xEF\xBF\xBD" : NULL;
    }
}

void nd_html_text(struct nd_json *page, struct nd_view text)
{
    const uint8_t *p = (const uint8_t *)text.data;
    size_t done = 0;

    for (size_t at = 0; at < text.len;) {
        int len = nd_utf8_sequence(p + at, text.len - at);
        size_t used = (size_t)(len < 0 ? -len : len);
        const char *instead =
            len < 0 ? "\xEF\xBF\xBD" : reference(nd_utf8_decode(text.data + at, &used));

        if (instead) {
            nd_json_bytes(page, text.data + done, at - done);
            nd_html_put(page, instead);
            done = at + used;
        }
        at += used;
    }
    if (done < text.len)
        nd_json_bytes(page, text.data + done, text.len - done);
}

void nd_html_words(struct nd_json *page, const char *text)
{
    nd_html_text(page, (struct nd_view){text, strlen(text)});
}

void nd_html_count(struct nd_json *page, uint64_t n)
{
    if (n >= 1000) {
        nd_html_count(page, n / 1000);
        nd_html_format(page, ",%03u", (unsigned)(n % 1000));
    } else {
        nd_html_format(page, "%u", (unsigned)n);
    }
}

void nd_html_share(struct nd_json *page, uint64_t part, uint64_t whole)
{
    nd_html_format(page, "%.1f%%", whole ? 100.0 * (double)part / (double)whole : 0.0);
}

void nd_html_bars(struct nd_json *page, const char *names, const char *values,
                  const struct nd_html_bar *bar, size_t n)
{
    uint64_t most = 1;

    for (size_t i = 0; i < n; i++)
        most = bar[i].value > most ? bar[i].value : most;
    nd_html_put(page, "<table class=\"bars\"><thead><tr><th scope=\"col\">");
    nd_html_words(page, names);
    nd_html_put(page, "</th><td></td><th scope=\"col\">");
    nd_html_words(page, values);
    nd_html_put(page, "</th></tr></thead><tbody>\n");
    for (size_t i = 0; i < n; i++) {
        const double width = 100.0 * (double)bar[i].value / (double)most;

        nd_html_put(page, "<tr><th scope=\"row\">");
        nd_html_words(page, bar[i].name);
        nd_html_put(page, "</th><td><svg aria-hidden=\"true\">");
        if (bar[i].value) /* the smallest can be seen, too */
            nd_html_format(page, "<rect width=\"%.2f%%\" height=\"100%%\"/>",
                           width < .4 ? .4 : width);
        nd_html_put(page, "</svg></td><td>");
        nd_html_count(page, bar[i].value);
        nd_html_put(page, "</td></tr>\n");
    }
    nd_html_put(page, "</tbody></table>\n");
}

static void put_view(struct nd_json *page, struct nd_view bytes)
{
    nd_json_bytes(page, bytes.data, bytes.len);
}

void nd_html_begin(struct nd_json *page, const char *title, struct nd_view style)
{
    nd_html_put(page, "<!doctype html>\n<html lang=\"en\" class=\"report\">\n<head>\n"
                      "<meta charset=\"utf-8\">\n"
                      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                      "style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n"
                      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                      "<meta name=\"color-scheme\" content=\"light dark\">\n<title>");
    nd_html_words(page, title);
    nd_html_put(page, "</title>\n<style>\n");
    put_view(page, nd_web_page_css);
    put_view(page, nd_web_report_report_css);
    if (style.len)
        put_view(page, style);
    nd_html_put(page, "</style>\n</head>\n<body>\n"
                      "<a class=\"skip\" href=\"#main\">Skip to the content</a>\n"
                      "<main id=\"main\" tabindex=\"-1\">\n");
}

void nd_html_end(struct nd_json *page, struct nd_view script)
{
    nd_html_put(page, "</main>\n");
    if (script.len) {
        nd_html_put(page, "<script type=\"module\">\n");
        put_view(page, script);
        nd_html_put(page, "</script>\n");
    }
    nd_html_put(page, "</body>\n</html>\n");
}
