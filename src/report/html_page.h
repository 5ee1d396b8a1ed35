/* html_page.h - an HTML page in one file, which needs no network: its frame, text, tables of bars */
#ifndef ND_REPORT_HTML_PAGE_H
#define ND_REPORT_HTML_PAGE_H

#include <stdint.h>

#include <neardup/types.h>

#include "base/json_out.h"

/*
 * A page is made in a struct nd_json, of which only the text and `failed` are used: markup goes in as
 * it is (nd_html_put, nd_html_format), and everything that came from outside through nd_html_text.
 *
 *     nd_html_begin(&page, "Report", nd_web_report_css);
 *     nd_html_put(&page, "<h1>");
 *     nd_html_text(&page, id);
 *     nd_html_put(&page, "</h1>");
 *     nd_html_end(&page, nd_web_report_keys_mjs);
 *
 * Styles and scripts are files of web/, which cmake/embedded_files.cmake makes part of the library.
 * The page forbids itself to load anything, and looks like the page of the service: web/page.css
 * comes first.
 */

/* The files of web/ that pages are made of. */
extern const struct nd_view nd_web_page_css, nd_web_report_report_css, nd_web_report_keys_mjs;
extern const struct nd_view nd_web_report_judge_css, nd_web_report_judge_mjs;

/* Begin the page, up to the inside of <main>.  `style` follows web/page.css and web/report/report.css;
 * of length 0: nothing more. */
void nd_html_begin(struct nd_json *page, const char *title, struct nd_view style);
/* End the page, with a module of JavaScript; of length 0: none. */
void nd_html_end(struct nd_json *page, struct nd_view script);

/* Append markup as it stands. */
void nd_html_put(struct nd_json *page, const char *markup);
/* Append markup as printf makes it; what %s stands for is markup too. */
__attribute__((format(printf, 2, 3))) void nd_html_format(struct nd_json *page, const char *format,
                                                          ...);
/* Append text that means nothing but itself, also within a quoted attribute.  What is not valid UTF-8
 * becomes U+FFFD, and so do control characters and marks that change the direction of writing. */
void nd_html_text(struct nd_json *page, struct nd_view text);
void nd_html_words(struct nd_json *page, const char *text);
/* Append a number with a comma before each three digits: 1,234. */
void nd_html_count(struct nd_json *page, uint64_t n);
/* Append a share of 0 … 1 in percent, with one digit behind the point: 12.5%. */
void nd_html_share(struct nd_json *page, uint64_t part, uint64_t whole);

/* A row of a table of bars: its name, and how long the bar is. */
struct nd_html_bar {
    char name[40];
    uint64_t value;
};
/* Append a table in which each value stands beside a bar as long as its share of the greatest one.
 * `names` and `values` are the heads of its columns. */
void nd_html_bars(struct nd_json *page, const char *names, const char *values,
                  const struct nd_html_bar *bar, size_t n);

#endif
