/* SPDX-License-Identifier: MIT */
/*
 * changes: the routes of what calls have changed, and of taking it back.
 */
#ifndef API_CHANGES_H
#define API_CHANGES_H

#include "api/exchange.h"

/* GET /changes?since=N&limit=M; /changes/<id>?offset=N&limit=M; /changes/<id>/diff, as text. */
void changes_list(struct exchange *x, const struct http_request *r, struct str rest);
void changes_show(struct exchange *x, const struct http_request *r, struct str id);
void changes_diff(struct exchange *x, const struct http_request *r, struct str id);

/* POST /changes/<id>/undo, and /changes/undo, whose body says which. 409 for a conflict. */
void changes_undo(struct exchange *x, const struct http_request *r, struct str id);
void changes_undo_many(struct exchange *x, const struct http_request *r, struct str rest);

#endif
