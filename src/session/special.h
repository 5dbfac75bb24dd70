/* special.h — the procedures that are part of the protocol rather than of a database: by number,
 * by name, and from EXEC in a batch. */
#ifndef SESSION_SPECIAL_H
#define SESSION_SPECIAL_H

#include "call/call.h"
#include "base/str.h"

enum special {
	SPECIAL_NONE = 0,
	SPECIAL_EXECUTESQL,
	SPECIAL_PREPARE,
	SPECIAL_EXECUTE,
	SPECIAL_PREPEXEC,
	SPECIAL_UNPREPARE,
	SPECIAL_RESET_CONNECTION,
	SPECIAL_DESCRIBE_FIRST,
	SPECIAL_DESCRIBE_UNDECLARED,
	SPECIAL_CURSOR,
	SPECIAL_CURSOROPEN,
	SPECIAL_CURSORPREPARE,
	SPECIAL_CURSOREXECUTE,
	SPECIAL_CURSORPREPEXEC,
	SPECIAL_CURSORUNPREPARE,
	SPECIAL_CURSORFETCH,
	SPECIAL_CURSOROPTION,
	SPECIAL_CURSORCLOSE,
	SPECIAL_PREPEXECRPC,
};
/* By name without schema and database, any case; by the ProcID of an RPC. */
enum special session_special_by_name(struct str name);
enum special session_special_by_id(uint16_t proc_id);
const char *session_special_name(enum special sp);
/* One that opens or has opened a cursor, or prepares one. */
bool session_special_is_cursor(enum special sp);

/* The fixed arguments, which SQL Server takes by position whatever names the client gives them. */
struct special_args {
	bool has_handle;
	int32_t handle;
	bool has_text;
	struct str text, declarations;
	size_t first_value; /* index of the first argument that is a value of the statement */
	int handle_arg;     /* index of the OUTPUT handle, or -1 */
	bool wants_columns; /* sp_prepare: the metadata, please */
	/* of a cursor: where its handle, the wishes and the number of rows stand, or -1 */
	int cursor_arg, scroll_arg, concurrency_arg, rows_arg;
};
/* 201, 214, 8114 … */
MUST_CHECK int session_special_bind(enum special sp, const struct argument *args, size_t nargs,
				    struct arena *a, struct special_args *ret, struct err *reterr);

#endif
