/* wire.h — what the engine and its program procession-converter say to each other over a socket
 * of packets: one struct a packet. Both are built together; the version tells a stale one. The
 * program is inside the jail and is not trusted: the engine looks at what it says before it uses
 * it. */
#ifndef CONVERT_WIRE_H
#define CONVERT_WIRE_H

#include "convert/order.h"

#define CONVERT_WIRE_VERSION 1
#define CONVERT_SOCKET 3 /* the program's descriptor */
#define CONVERT_NAME_MAX 256
#define CONVERT_SLOTS_MAX 64

/* The first packet. */
struct convert_hello {
	uint32_t version, slots;
	bool jailed;
	char office[256]; /* LibreOffice's folder */
	/* the program's own folder; /tmp in a jail. Made by it, removed by the engine */
	char base[64];
	/* of a document */
	uint64_t tmp_size, memory, output_max, unpacked_max;
};

enum convert_request_kind { CONVERT_START, CONVERT_CANCEL };
enum convert_way { CONVERT_BY_KIT, CONVERT_BY_OFFICE };

/* To the program; CONVERT_START has the descriptors of input and output with it. */
struct convert_request {
	enum convert_request_kind kind;
	enum convert_way way;
	uint64_t id;
	uint32_t seconds;
	struct convert_order order;
	char name[CONVERT_NAME_MAX]; /* of the input, for its extension and for messages */
};

enum convert_reply_kind { CONVERT_READY, CONVERT_DONE, CONVERT_NOT_READY };

struct convert_reply {
	enum convert_reply_kind kind;
	int32_t error; /* of document/errors.def */
	uint64_t id;
	uint32_t cpu_ms, wall_ms;
	char text[512]; /* why it failed, or why the program cannot begin */
};

#endif
