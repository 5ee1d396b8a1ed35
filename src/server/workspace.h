/* workspace.h - what a thread needs to answer: a session of the store, and memory to parse with */
#ifndef ND_SERVER_WORKSPACE_H
#define ND_SERVER_WORKSPACE_H

#include <neardup/error.h>
#include <neardup/input.h>

#include "base/memory.h"
#include "input/formats/charset.h"
#include "input/formats/jsonl_simdjson.h"
#include "server/wire/target.h"
#include "store/store.h"

struct nd_workspace {
    struct nd_session *session;
    struct nd_json_indexer *json;
    struct nd_parser *parser; /* of texts and pages */
    struct nd_parser
        *fields;           /* of records with fields that the recipe reads; NULL: it reads none */
    struct nd_arena arena; /* of the document at hand */
    struct nd_charset charset;
    struct nd_label_list labels; /* of the document at hand */
    struct nd_workspace *next;
};

/* Workspaces of a server: whoever answers borrows one. */
struct nd_workspaces;
/* NULL: ND_ENOMEM. */
struct nd_workspaces *nd_workspaces_new(struct nd_store *store, size_t n, struct nd_error *err);
void nd_workspaces_free(struct nd_workspaces *all);
/* One that nobody has.  NULL: out of memory, which only happens to more borrowers than n. */
struct nd_workspace *nd_workspace_borrow(struct nd_workspaces *all);
void nd_workspace_return(struct nd_workspaces *all, struct nd_workspace *workspace);

#endif
