/* out.h — answers → tokens → packets. Bytes go straight into the send buffer, packet headers included; no length is computed in
 * advance, and failure is looked at once, at the end (out->wire.failed). */
#ifndef TDS_OUT_H
#define TDS_OUT_H

#include "base/buf.h"
#include "base/err.h"
#include "call/sink.h"
#include "tds/request.h"
#include "tds/tds.h"

struct tds_out {
	struct buf wire;     /* finished packets, and the one that is being filled */
	size_t packet_start; /* offset of the current packet's header in wire */
	size_t packet_size;
	uint16_t spid;
	uint8_t packet_id;
	uint8_t message_type;
	bool open;        /* a message has begun and not ended */
	uint64_t payload; /* bytes put into the current message, headers not counted */
	enum tds_version version;
	bool utf8; /* UTF8_SUPPORT was acknowledged */
	const char *server_name;
	/* Called when finished packets exceed flush_at bytes. wire.data[0 … wire.len) then is finished packets only: the callback copies them away
	 * or takes the whole buffer (leaving an empty one with the same max); what it leaves in wire is dropped. NULL: keep all. May block.
	 * A negative answer means that the receiver is gone: wire.failed is set for good. */
	int (*flush)(struct tds_out *o, void *arg);
	void *flush_arg;
	size_t flush_at;
	/* A value of so many bytes or more (0: none) is not copied when it is put: it comes into packets after tds_out_end, by tds_out_more or tds_out_slices. */
	size_t lends;
	bool more; /* the message has ended, but some of it is not in packets yet: the value must stay where it is */
	/* Private to out.c: */
	struct str lent; /* what is left of that value … */
	size_t chunk;    /* … and of its chunk that was begun by tds_out_slices … */
	uint8_t chunk_head[4],
		chunk_head_left; /* … whose length is written first; how many bytes of that are left */
	size_t outside; /* bytes of the current packet that were given out as a slice, so that they are not in wire */
	struct buf rest; /* what was put behind it, not in packets */
	struct tds_front {
		struct buf wire;
		size_t packet_start, limit;
	} front;    /* what comes before it, while rest is being written */
	bool apart; /* … which is now: wire and its places are those of rest */
	size_t limit; /* offset in wire up to which the current packet may be filled; memory up to there is ours */
	uint64_t flushes; /* how often bytes left (or a message ended): marks from before are void */
	unsigned holds;   /* lengths still to be filled in: nothing may leave meanwhile */
	bool gone;        /* flush said so */
};

void tds_out_init(struct tds_out *o, size_t max);
void tds_out_fini(struct tds_out *o);
/* A message begins (its first packet header is reserved) … */
void tds_out_begin(struct tds_out *o, uint8_t type);
/* … and ends: EOM. After it wire holds whole messages only, unless a value was lent: then `more` is set, and no message begins before it is all in packets. */
void tds_out_end(struct tds_out *o);
/* Puts the next piece of such a message into packets (flush may take them). False: that was the last, the message has ended. */
bool tds_out_more(struct tds_out *o);
/* The same without copying the value: gives out whole packets as slices of the value and of wire, in their order; flush is not called. Gives how many, at most max, and
 * the caller takes all of wire with them before the next call. `more` tells whether there is a next one. */
#define TDS_SLICES_MIN ((size_t)16)
size_t tds_out_slices(struct tds_out *o, struct str *slices, size_t max);
/* The finished packets of a message that goes on leave by fn, where nothing among them is still to be filled in. Gives how many bytes that were. */
size_t tds_out_shed(struct tds_out *o, void (*fn)(const uint8_t *p, size_t n, void *arg), void *arg);
/* For taking back what has not left: a mark is valid until the next flush or end. Rewinding also forgives a failure (wire.max, memory) that
 * came after the mark, so that an error can be sent instead. */
struct tds_mark {
	size_t wire_len, packet_start;
	uint64_t payload, flushes;
	uint8_t packet_id;
	bool open, failed;
};
struct tds_mark tds_out_mark(const struct tds_out *o);
bool tds_out_rewind(struct tds_out *o, const struct tds_mark *m);

/* Raw pieces of the payload (cut into packets as they come). */
void tds_put(struct tds_out *o, const void *p, size_t n);
void tds_put_u8(struct tds_out *o, uint8_t v);
void tds_put_u16(struct tds_out *o, uint16_t v);
void tds_put_u32(struct tds_out *o, uint32_t v);
void tds_put_u64(struct tds_out *o, uint64_t v);
void tds_put_b_varchar(struct tds_out *o, struct str s);  /* cut at 255 units */
void tds_put_us_varchar(struct tds_out *o, struct str s); /* cut at 65535 units */

/* Tokens. */
void tds_put_message(struct tds_out *o,
		     const struct err *e); /* ERROR or INFO by severity; class 10 goes out as 0 */
enum tds_done_kind { TDS_DONE = 0xFD, TDS_DONEPROC = 0xFE, TDS_DONEINPROC = 0xFF };
enum tds_done_status {
	TDS_DONE_MORE = 0x01,
	TDS_DONE_ERROR = 0x02,
	TDS_DONE_COUNT = 0x10,
	TDS_DONE_ATTN = 0x20,
	TDS_DONE_RPCINBATCH = 0x80,
};
void tds_put_done(struct tds_out *o, enum tds_done_kind kind, uint16_t status, uint16_t command,
		  uint64_t count);
void tds_put_envchange_text(struct tds_out *o, uint8_t type, struct str new_value, struct str old_value);
void tds_put_envchange_bytes(struct tds_out *o, uint8_t type, const void *new_value, uint8_t new_len,
			     const void *old_value, uint8_t old_len);
void tds_put_loginack(struct tds_out *o, uint32_t asked);
void tds_put_featureextack_utf8(struct tds_out *o);
void tds_put_sspi(struct tds_out *o, const void *p,
		  size_t n); /* at most 65535 bytes, else the message fails */
void tds_put_colmetadata(struct tds_out *o, const struct column *cols, size_t n);
/* Values have the columns' types (or are NULL); a value that its column cannot carry fails the message rather than confuse the client.
 * Types are brought down to what the version knows (wire notes 12.9), the same way in both. */
void tds_put_row(struct tds_out *o, const struct column *cols, const struct value *vals, size_t n);
/* The token of the type in a nullable column of TDS 7.4. */
uint8_t tds_type_token(const struct type *t);
void tds_put_returnstatus(struct tds_out *o, int32_t status);
/* value is converted to the client's type before (value/convert, CONVERT_OUTPUT). */
void tds_put_returnvalue(struct tds_out *o, uint16_t ordinal, struct str name,
			 const struct tds_wire_type *wire, const struct value *v);

#endif
