/* audit_rows.h - rows of an audit: removed documents without a match, and clusters that are false */
#ifndef ND_USES_AUDIT_AUDIT_ROWS_H
#define ND_USES_AUDIT_AUDIT_ROWS_H

#include "uses/audit/audit_result.h"

/*
 * Write a file of rows, TSV or JSON Lines (docs/format/audit.md), which is published with the other
 * outputs.  Documents are read again for their names.  What nd_lookup_document returns; ND_EIO;
 * ND_ENOMEM.
 */
enum nd_status nd_audit_rows_unmatched(const struct nd_audit_join *j, const char *path,
                                       bool is_json, struct nd_error *err);
enum nd_status nd_audit_rows_clusters(const struct nd_audit_join *j, const char *path, bool is_json,
                                      struct nd_error *err);

#endif
