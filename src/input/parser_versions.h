/* parser_versions.h - which versions of libraries decide what a text is */
#ifndef ND_INPUT_PARSER_VERSIONS_H
#define ND_INPUT_PARSER_VERSIONS_H

/* The HTML parser, such as "libxml2 2.9.14": the text of a page depends on it. */
const char *nd_html_parser_version(void);

#endif
