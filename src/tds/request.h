/* request.h — requests of a logged-in client: ALL_HEADERS, SQLBatch, RPC, transaction manager. */
#ifndef TDS_REQUEST_H
#define TDS_REQUEST_H

#include "base/arena.h"
#include "base/err.h"
#include "tds/cursor.h"
#include "tds/tds.h"
#include "value/value.h"

/* Reads ALL_HEADERS off the front for 7.2+ (nothing to read below). Errors 4011, 4013. */
MUST_CHECK int tds_get_headers(struct tds_cursor *c, enum tds_version v, uint64_t *ret_descriptor,
			       struct err *reterr);
/* The text of a batch as UTF-8 in the arena (headers already read). */
MUST_CHECK int tds_get_batch(struct tds_cursor *c, struct arena *a, struct str *ret, struct err *reterr);

/* How a parameter came over the wire: needed to send RETURNVALUE back in the client's own type. */
struct tds_wire_type {
	uint8_t token;    /* 0x26 … as sent */
	struct type type; /* our reading of it, with the client's length */
	uint8_t collation[5];
};
struct tds_param {
	struct str name; /* with '@' or empty */
	bool by_ref, is_default;
	struct tds_wire_type wire;
	/* text as UTF-8 in the arena; binary and plain ASCII may be slices of the message */
	struct value value;
};
struct tds_rpc {
	uint16_t proc_id; /* 0: by name */
	struct str name;
	uint16_t options;
	struct tds_param *params;
	size_t nparams;
	bool no_exec; /* separator 0xFE followed */
};
struct tds_limits {
	size_t max_params, max_value;
}; /* value too large: err 50005 */
/* Next RPC of the message: 1 one was read, 0 no more, -1 error (8003 … 8062, 50005). The
 * message's bytes may be moved together in place (PLP chunks), so each may be read once: body
 * must be writable memory. After an error the rest of the message cannot be trusted. */
MUST_CHECK int tds_get_rpc(struct tds_cursor *c, enum tds_version v, const struct tds_limits *limits,
			   struct arena *a, struct tds_rpc *ret, struct err *reterr);

enum tds_tm_type {
	TDS_TM_GET_DTC = 0,
	TDS_TM_PROPAGATE = 1,
	TDS_TM_BEGIN = 5,
	TDS_TM_PROMOTE = 6,
	TDS_TM_COMMIT = 7,
	TDS_TM_ROLLBACK = 8,
	TDS_TM_SAVE = 9
};
struct tds_tm {
	uint16_t type;
	uint8_t isolation;
	struct str name;
	bool begin_again;
	uint8_t new_isolation;
	struct str new_name;
};
MUST_CHECK int tds_get_tm(struct tds_cursor *c, struct arena *a, struct tds_tm *ret, struct err *reterr);

#endif
