/* parser_versions.c - which versions of libraries decide what a text is */
#include "input/parser_versions.h"

#include <libxml/xmlversion.h>

const char *nd_html_parser_version(void)
{
    return "libxml2 " LIBXML_DOTTED_VERSION;
}
