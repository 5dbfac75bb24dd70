/* packet.h — bytes → packets → messages. */
#ifndef TDS_PACKET_H
#define TDS_PACKET_H

#include "base/buf.h"
#include "tds/cursor.h"
#include "tds/tds.h"

struct tds_packet {
	uint8_t type, flags;
	uint16_t length;
	struct tds_cursor body;
};
/* [MS-TDS] 2.2.3.1. On TDS_MORE nothing is consumed. limit: largest packet accepted. */
enum tds_status tds_get_packet(struct tds_cursor *in, size_t limit, struct tds_packet *ret);

/* Assembles one message from packets of any legal split. */
struct tds_message {
	uint8_t type;  /* of its first packet */
	uint8_t flags; /* of its first packet (reset bits) */
	/* in the middle of a message: false before its first packet and after its last */
	bool started;
	bool ignored; /* ended with the IGNORE bit */
	bool too_big; /* past the bound: body dropped, still read to its end */
	bool denied;  /* too_big is set for want of memory */
	struct buf body;
};
void tds_message_init(struct tds_message *m, size_t max);
void tds_message_fini(struct tds_message *m);
void tds_message_reset(struct tds_message *m);
/* Adds a packet; the first one after a complete message begins the next. TDS_OK: the message is
 * complete; TDS_MORE: further packets needed; TDS_MALFORMED: another type in the middle. */
enum tds_status tds_message_add(struct tds_message *m, const struct tds_packet *p);

#endif
