/* out.h — answers → tokens → packets. Bytes go straight into the output that is sent, packet
 * headers included. No length is computed in advance, and failure is looked at once, at the end
 * (tds_out_failed). */
#ifndef TDS_OUT_H
#define TDS_OUT_H

#include "base/err.h"
#include "base/output.h"
#include "call/sink.h"
#include "tds/request.h"
#include "tds/tds.h"

struct tds_out {
	/* Finished packets, and at its end the one that is being filled. Between messages it can be
	 * sent as it is. */
	struct output wire;

	/* What the client and the server agreed upon. */
	enum tds_version version;
	bool utf8; /* UTF8_SUPPORT was acknowledged */
	uint16_t spid;
	size_t packet_size;
	const char *server_name;

	/* Where packets go while the message is still being written. NULL: nowhere, all are kept.
	 * It is called whenever at least flush_at bytes are finished, takes them out of the output
	 * that it is given, and may block. What it leaves there is dropped. A negative answer means
	 * that the receiver is gone: the message has failed for good. */
	int (*flush)(struct output *finished, void *arg);
	void *flush_arg;
	size_t flush_at;

	/* Values of at least so many bytes are sent from where they lie. 0: all are copied. */
	size_t lends;
	/* So many of them have not been sent yet: they must stay where they are. */
	unsigned lent;

	/* The message that is being written. The rest is out.c's. */
	bool open;
	uint8_t message_type, packet_id;
	uint64_t payload;    /* its bytes so far, packet headers not counted */
	size_t packet_start; /* where the header of the current packet is, in the owned bytes */
	size_t limit;        /* up to here the current packet may be filled, and memory is ours */
	unsigned holds;      /* lengths that are still to be filled in: nothing may leave meanwhile */
	uint64_t departures; /* how often something left or a message ended: older marks are void */
	bool gone;           /* flush said that the receiver is */
};

void tds_out_init(struct tds_out *o, size_t max);
/* Nothing that was lent may be on its way elsewhere. */
void tds_out_fini(struct tds_out *o);
/* The message cannot be sent: a bound was passed, memory ended, or a value does not fit its
 * type. */
static inline bool tds_out_failed(const struct tds_out *o)
{
	return o->wire.bytes.failed;
}
/* A message begins: the header of its first packet is reserved. */
void tds_out_begin(struct tds_out *o, uint8_t type);
/* It ends: its last packet says so (EOM), and wire holds whole messages only. */
void tds_out_end(struct tds_out *o);
/* Moves the finished packets of a message that goes on to `to`, which is empty and has the bound
 * and the account of wire. False: there are none, or none that may leave. */
bool tds_out_take_finished(struct tds_out *o, struct output *to);
/* For taking back what has not left: a mark is valid until something leaves or the message ends.
 * Rewinding also forgives a failure (wire.max, memory) that came after the mark, so that an error
 * can be sent instead. */
struct tds_mark {
	size_t nbytes, npieces; /* of wire */
	size_t packet_start;
	uint64_t payload, departures;
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
/* ERROR or INFO by severity; class 10 goes out as 0 */
void tds_put_message(struct tds_out *o, const struct err *e);
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
/* at most 65535 bytes, else the message fails */
void tds_put_sspi(struct tds_out *o, const void *p, size_t n);
void tds_put_colmetadata(struct tds_out *o, const struct column *cols, size_t n);
/* token_colinfo.c: of n columns of a cursor, the last of which is hidden; and the COLMETADATA of a
 * fetch whose client knows the columns. */
void tds_put_colinfo(struct tds_out *o, size_t n);
void tds_put_no_colmetadata(struct tds_out *o);
/* Values have the columns' types (or are NULL); a value that its column cannot carry fails the
 * message rather than confuse the client. Types are brought down to what the version knows (wire
 * notes 12.9), the same way in both. */
void tds_put_row(struct tds_out *o, const struct column *cols, const struct value *vals, size_t n);
/* The token of the type in a nullable column of TDS 7.4. */
uint8_t tds_type_token(const struct type *t);
void tds_put_returnstatus(struct tds_out *o, int32_t status);
/* value is converted to the client's type before (value/convert, CONVERT_OUTPUT). */
void tds_put_returnvalue(struct tds_out *o, uint16_t ordinal, struct str name,
			 const struct tds_wire_type *wire, const struct value *v);

#endif
