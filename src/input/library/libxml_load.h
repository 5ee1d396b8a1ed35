/* libxml_load.h - libxml2, opened for the first page or mail: the functions that are used of it */
#ifndef ND_INPUT_LIBRARY_LIBXML_LOAD_H
#define ND_INPUT_LIBRARY_LIBXML_LOAD_H

#include <libxml/HTMLparser.h>
#include <libxml/parserInternals.h> /* xmlSwitchEncoding */

#define ND_LIBXML_FUNCTIONS(X)                                                                     \
    X(htmlCreateMemoryParserCtxt)                                                                  \
    X(htmlCtxtUseOptions)                                                                          \
    X(htmlFreeParserCtxt)                                                                          \
    X(htmlParseDocument)                                                                           \
    X(xmlInitParser)                                                                               \
    X(xmlStopParser)                                                                               \
    X(xmlSwitchEncoding)

/* Each has the type that the headers give it. */
struct nd_libxml {
#define ND_LIBXML_MEMBER(name) __typeof__(name) *(name);
    ND_LIBXML_FUNCTIONS(ND_LIBXML_MEMBER)
#undef ND_LIBXML_MEMBER
};

/* Filled and ready once nd_libxml_load() has answered NULL; never written after that. */
extern struct nd_libxml nd_libxml;

/* Open libxml2 the first time, from any thread.  NULL: it is open; else why it is not, for ever. */
const char *nd_libxml_load(void);

#endif
