/* tds_int.h — what only the files of this folder know of each other: wire types and their
 * codecs, pieces of output. */
#ifndef TDS_INT_H
#define TDS_INT_H

#include <assert.h>
#include <endian.h>
#include <string.h>

#include "tds/cursor.h"
#include "tds/out.h"
#include "tds/request.h"
#include "value/value.h"

/* ---- wire types (type_info.c) ---- */

/* What stands in TYPE_INFO after the type code. */
enum tds_meta {
	META_NONE,    /* nothing */
	META_LEN8,    /* BYTE maximum: the N types, GUID, the old char and binary */
	META_DECIMAL, /* BYTE length, precision, scale */
	META_SCALE,   /* BYTE scale */
	META_LEN16,   /* USHORT maximum; FFFF is (max) for the var types */
	META_LEN32,   /* LONG maximum */
	META_XML,     /* schema collection, or 0 */
	META_TVP,     /* a story of its own */
};
/* What stands before the bytes of a value. */
enum tds_prefix { PREFIX_NONE, PREFIX_U8, PREFIX_U16, PREFIX_U32, PREFIX_U32_NULL0, PREFIX_PLP };

/* Where we are in reading an RPC: versions and limits, and the names that an error wants. */
struct tds_read {
	enum tds_version version;
	const struct tds_limits *limits;
	struct arena *arena;
	struct err *reterr;
	int index;        /* 1-based position of the parameter */
	const char *name; /* of the parameter, NUL-terminated, may be empty */
	uint8_t token;    /* type being read, for messages */
};

/* A TYPE_INFO as read: what the client may want back, and what the value's framing needs. */
struct tds_typed {
	struct tds_wire_type wire;
	uint32_t max;   /* largest value in bytes, as stated */
	uint8_t prefix; /* enum tds_prefix */
	uint8_t size;   /* PREFIX_NONE: bytes of the value */
};

struct tds_type_row {
	uint8_t meta, prefix;
	uint8_t size;    /* bytes of a fixed type */
	uint8_t since;   /* enum tds_version that brought it */
	bool collated;   /* a collation follows the maximum (7.1+) */
	bool var;        /* FFFF as maximum means (max) */
	uint8_t type_id; /* 0 where the length decides */
	/* Decodes the bytes of a value that is not NULL. */
	int (*read)(struct tds_read *r, const struct tds_wire_type *w, struct tds_cursor b,
		    struct value *ret);
};
/* NULL: no such type code. */
const struct tds_type_row *tds_type_row(uint8_t token);
MUST_CHECK int tds_get_type_info(struct tds_read *r, struct tds_cursor *c, struct tds_typed *ret);

/* ---- values (type_read.c, plp.c) ---- */

/* Cuts the bytes of one value off, whatever its framing; *ret_null when it is NULL. */
MUST_CHECK int tds_get_framed(struct tds_read *r, struct tds_cursor *c, const struct tds_typed *t,
			      struct tds_cursor *ret, bool *ret_null);
MUST_CHECK int tds_get_value(struct tds_read *r, struct tds_cursor *c, const struct tds_typed *t,
			     struct value *ret);
/* Chunks are moved together in the message itself. */
MUST_CHECK int tds_get_plp(struct tds_read *r, struct tds_cursor *c, struct tds_cursor *ret, bool *ret_null);
/* Reads a table-valued parameter to its end. */
MUST_CHECK int tds_skip_tvp(struct tds_read *r, struct tds_cursor *c);

int tds_read_int(struct tds_read *r, const struct tds_wire_type *w, struct tds_cursor b, struct value *ret);
int tds_read_float(struct tds_read *r, const struct tds_wire_type *w, struct tds_cursor b, struct value *ret);
int tds_read_money(struct tds_read *r, const struct tds_wire_type *w, struct tds_cursor b, struct value *ret);
int tds_read_decimal(struct tds_read *r, const struct tds_wire_type *w, struct tds_cursor b,
		     struct value *ret);
int tds_read_guid(struct tds_read *r, const struct tds_wire_type *w, struct tds_cursor b, struct value *ret);
int tds_read_datetime(struct tds_read *r, const struct tds_wire_type *w, struct tds_cursor b,
		      struct value *ret);
int tds_read_moment(struct tds_read *r, const struct tds_wire_type *w, struct tds_cursor b,
		    struct value *ret);
int tds_read_char(struct tds_read *r, const struct tds_wire_type *w, struct tds_cursor b, struct value *ret);
int tds_read_nchar(struct tds_read *r, const struct tds_wire_type *w, struct tds_cursor b, struct value *ret);
int tds_read_binary(struct tds_read *r, const struct tds_wire_type *w, struct tds_cursor b,
		    struct value *ret);
int tds_read_xml(struct tds_read *r, const struct tds_wire_type *w, struct tds_cursor b, struct value *ret);
int tds_read_variant(struct tds_read *r, const struct tds_wire_type *w, struct tds_cursor b,
		     struct value *ret);

/* Each fills reterr and returns -1. */
int tds_read_ended(struct tds_read *r);                      /* 4002 */
int tds_read_bad_type(struct tds_read *r);                   /* 8009 */
int tds_read_bad_length(struct tds_read *r);                 /* 8016 */
int tds_read_bad_value(struct tds_read *r, enum type_id id); /* 8023 */
int tds_read_too_large(struct tds_read *r);                  /* 50005 */

/* ---- text (text.c): the results have a NUL behind them ---- */
/* even length */
MUST_CHECK int tds_text_from_utf16(struct tds_cursor b, struct arena *a, struct str *ret, struct err *reterr);
MUST_CHECK int tds_text_from_cp1252(struct tds_cursor b, struct arena *a, struct str *ret,
				    struct err *reterr);
bool tds_is_ascii(struct tds_cursor b);
bool tds_collation_is_utf8(const uint8_t collation[5]);

/* ---- output (out.c) ---- */

/* A length that is filled in when what it counts has been written; its bytes may lie in two
 * packets. */
struct tds_length {
	size_t at[4];
	uint64_t from;
	uint8_t width;
};
struct tds_length tds_length_begin(struct tds_out *o, uint8_t width);
/* unit 2: counts characters */
void tds_length_end(struct tds_out *o, const struct tds_length *l, unsigned unit);

/* The header of a packet [MS-TDS] 2.2.3.1; window and the order of its bytes are the encoder's. */
struct tds_packet_head {
	uint8_t type, status;
	uint16_t length, spid;
	uint8_t id;
};
static inline void tds_encode_header(const struct tds_packet_head *h, uint8_t dst[TDS_HEADER_LEN])
{
	const uint8_t header[TDS_HEADER_LEN] = {
		h->type,
		h->status,
		(uint8_t)(h->length >> 8),
		(uint8_t)h->length,
		(uint8_t)(h->spid >> 8),
		(uint8_t)h->spid,
		h->id,
		0,
	};

	memcpy(dst, header, sizeof(header));
}
/* What the current packet may still take. */
size_t tds_out_packet_room(const struct tds_out *o);
/* Packets that are made later may come next. */
bool tds_out_may_lend(const struct tds_out *o);
/* The current packet is full. n whole packets follow it that the source makes, with the headers
 * that begin with *ret; then the next one begins. False: it could not be; nothing has changed. */
MUST_CHECK bool tds_out_insert_packets(struct tds_out *o, struct output_source *src, size_t n,
				       struct tds_packet_head *ret);
/* large.c. The value in chunks of PLP, sent from where it lies. False: it is to be copied. */
MUST_CHECK bool tds_put_large(struct tds_out *o, struct str s);
/* A value of n bytes is about to be put: memory for all of it at once. */
void tds_out_expect(struct tds_out *o, size_t n);
/* The stream would become wrong: nothing more is written. */
static inline void tds_out_fail(struct tds_out *o)
{
	o->wire.bytes.failed = true;
}
/* Where n bytes may be written at once, all in the current packet; NULL: go the long way by
 * tds_put. */
static inline uint8_t *tds_out_room(struct tds_out *o, size_t n)
{
	const struct buf *b = &o->wire.bytes;

	return !b->failed && o->limit - b->len >= n ? b->data + b->len : NULL;
}
/* How many bytes were written into the room that tds_out_room gave. */
static inline void tds_out_took(struct tds_out *o, size_t n)
{
	assert(o->open && n <= o->limit - o->wire.bytes.len);
	o->wire.bytes.len += n;
	o->payload += n;
}
void tds_put_utf16(struct tds_out *o, struct str s); /* no length */

/* ---- types on their way out (type_write.c and the codecs) ---- */

enum tds_charset { CHARSET_BINARY, CHARSET_UTF16, CHARSET_1252, CHARSET_UTF8 };
enum tds_how {
	HOW_BARE, /* fixed type: bytes only */
	HOW_LEN8,
	HOW_LEN16,
	HOW_PLP,
	HOW_POINTER, /* text pointer, timestamp, LONG length */
	HOW_VARIANT,
};
static inline size_t tds_encode_le(uint8_t *dst, uint64_t v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		dst[i] = (uint8_t)(v >> 8 * i);
	return n;
}

/* Small fields that are put together: one look at the room instead of many, and each field is
 * one store. */
#define TDS_PIECE_FIELDS 40
struct tds_piece {
	uint8_t *to; /* the send buffer, or room */
	size_t n;
	uint8_t room[TDS_PIECE_FIELDS + 8];
};
static inline void tds_piece_begin(struct tds_out *o, struct tds_piece *p)
{
	uint8_t *room = tds_out_room(o, sizeof(p->room));

	assert(o->open);
	p->to = room != NULL ? room : p->room;
	p->n = 0;
}
/* Writes eight bytes, of which n count. */
static inline void tds_piece_le(struct tds_piece *p, uint64_t v, size_t n)
{
	const uint64_t le = htole64(v);

	assert(p->n <= TDS_PIECE_FIELDS);
	memcpy(p->to + p->n, &le, sizeof(le));
	p->n += n;
}
static inline void tds_piece_end(struct tds_out *o, const struct tds_piece *p)
{
	if (p->to == p->room)
		tds_put(o, p->room, p->n);
	else
		tds_out_took(o, p->n);
}

/* How a column or output value travels in this session. */
struct tds_form {
	uint8_t token, how, charset;
	bool as_text;             /* a date type for a client that does not know it */
	struct type type;         /* of the value */
	uint32_t max;             /* bytes, as TYPE_INFO states */
	const uint8_t *collation; /* NULL: the type has none */
};
enum tds_place { PLACE_COLUMN, PLACE_RETURNVALUE };
struct tds_form tds_form_of(const struct tds_out *o, const struct type *t, bool nullable,
			    enum tds_place place);
void tds_piece_type_info(struct tds_piece *p, const struct tds_form *f);
void tds_piece_user_type(struct tds_piece *p, enum tds_version v); /* always 0 */
void tds_put_value(struct tds_out *o, const struct tds_form *f, const struct value *v);
/* True if the union of v holds what a column of type id wants (NULL always does). */
bool tds_value_fits(const struct value *v, enum type_id id);

#define TDS_SMALL_MAX 17
/* Bytes of a value that is not text, binary or variant, as type t has them on the wire; 0 when
 * they do not fit. */
size_t tds_encode_small(const struct type *t, const struct value *v, uint8_t dst[TDS_SMALL_MAX]);
size_t tds_encode_number(const struct type *t, const struct value *v, uint8_t dst[TDS_SMALL_MAX]);
size_t tds_encode_time(const struct type *t, const struct value *v, uint8_t dst[TDS_SMALL_MAX]);
uint8_t tds_decimal_size(uint8_t precision); /* with the sign byte: 5, 9, 13, 17 */
uint8_t tds_time_size(uint8_t scale);        /* 3, 4, 5 */

/* Text or bytes, cut into pieces of at most TDS_PIECE bytes in the wire's character set. */
#define TDS_PIECE 8000
size_t tds_next_piece(struct str *s, enum tds_charset cs, uint8_t dst[TDS_PIECE]);
uint64_t tds_pieces_length(struct str s, enum tds_charset cs);
void tds_put_plp(struct tds_out *o, struct str s, enum tds_charset cs);
void tds_put_pointer(struct tds_out *o, struct str s, enum tds_charset cs);
/* cut at and padded to the type's length */
void tds_put_len16(struct tds_out *o, const struct tds_form *f, struct str s);
void tds_put_variant(struct tds_out *o, const struct value *v);
struct str tds_xml_text(struct str s); /* without byte order mark and XML declaration */

#endif
