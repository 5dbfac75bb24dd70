/* wire.c — see wire.h. TDS 7.4, packets of 32,000 bytes so that most requests are one packet. */
#include "wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PACKET 32000
#define COLLATION "\x09\x04\xD0\x00\x34"

/* ---- building ---- */

void message_put(struct message *m, const void *p, size_t n)
{
	if (m->len + n > m->cap) {
		m->cap = (m->len + n) * 2 + 256;
		m->data = realloc(m->data, m->cap);
		if (m->data == NULL) {
			fprintf(stderr, "load: out of memory\n");
			exit(1);
		}
	}
	if (n > 0)
		memcpy(m->data + m->len, p, n);
	m->len += n;
}

static void put_le(struct message *m, uint64_t v, size_t n)
{
	uint8_t b[8];

	for (size_t i = 0; i < n; i++)
		b[i] = (uint8_t)(v >> 8 * i);
	message_put(m, b, n);
}

static void put_utf16(struct message *m, const char *s)
{
	for (; *s != '\0'; s++)
		put_le(m, (uint8_t)*s, 2);
}

void message_free(struct message *m)
{
	free(m->data);
	*m = (struct message){ 0 };
}

/* The body is cut into packets in place: room for the headers is made from the end. */
static void frame(struct message *m, uint8_t type)
{
	size_t body = m->len, per = PACKET - 8, n = body == 0 ? 1 : (body + per - 1) / per;
	uint8_t *out = malloc(body + n * 8);

	if (out == NULL)
		exit(1);
	for (size_t i = 0; i < n; i++) {
		size_t at = i * per, k = body - at < per ? body - at : per;
		uint8_t head[8] = { type, i + 1 == n, (uint8_t)((k + 8) >> 8), (uint8_t)(k + 8),
				    0,    0,          (uint8_t)(i + 1),        0 };

		memcpy(out + at + i * 8, head, 8);
		memcpy(out + at + i * 8 + 8, m->data + at, k);
	}
	free(m->data);
	m->data = out;
	m->len = m->cap = body + n * 8;
}

void message_prelogin(struct message *m)
{
	static const uint8_t body[] = { 0, 0, 11, 0, 6, 1, 0, 17, 0, 1, 0xFF, 16, 0, 0, 0, 0, 0, 2 };

	m->len = 0;
	message_put(m, body, sizeof(body));
	frame(m, 0x12);
}

void message_login(struct message *m, const char *user, const char *password, const char *database,
		   const char *app)
{
	const char *texts[] = { "bench", user, password, app, "localhost", "", "bench", "", database };
	uint8_t fixed[94] = { 0 };
	size_t at = sizeof(fixed);

	m->len = 0;
	fixed[4] = 4, fixed[7] = 0x74;
	fixed[8] = (uint8_t)PACKET, fixed[9] = PACKET >> 8;
	fixed[24] = 0xE0, fixed[25] = 3;
	for (size_t i = 0; i < 9; i++) {
		size_t n = strlen(texts[i]), off = 36 + i * 4;
		fixed[off] = (uint8_t)at, fixed[off + 1] = (uint8_t)(at >> 8), fixed[off + 2] = (uint8_t)n;
		at += 2 * n;
	}
	fixed[0] = (uint8_t)at, fixed[1] = (uint8_t)(at >> 8);
	message_put(m, fixed, sizeof(fixed));
	for (size_t i = 0; i < 9; i++) {
		size_t from = m->len;
		put_utf16(m, texts[i]);
		for (size_t k = from; i == 2 && k < m->len; k++)
			m->data[k] = (uint8_t)((m->data[k] << 4 | m->data[k] >> 4) ^ 0xA5);
	}
	frame(m, 0x10);
}

static void headers(struct message *m)
{
	static const uint8_t all[22] = { 22, 0, 0, 0, 18, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0 };

	m->len = 0;
	message_put(m, all, sizeof(all));
}

void message_batch(struct message *m, const char *text)
{
	headers(m);
	put_utf16(m, text);
	frame(m, 0x01);
}

void message_rpc(struct message *m, const char *name)
{
	headers(m);
	put_le(m, strlen(name), 2);
	put_utf16(m, name);
	put_le(m, 0, 2);
}

static void param(struct message *m, const char *name, uint8_t status, const void *type, size_t n)
{
	put_le(m, strlen(name), 1);
	put_utf16(m, name);
	put_le(m, status, 1);
	message_put(m, type, n);
}

/* Offsets are those of the framed message as long as it is one packet. */
static size_t offset(const struct message *m)
{
	return m->len + 8;
}

size_t message_int(struct message *m, const char *p, int32_t v)
{
	param(m, p, 0, "\x26\x04\x04", 3);
	put_le(m, (uint32_t)v, 4);
	return offset(m) - 4;
}

size_t message_bigint(struct message *m, const char *p, int64_t v)
{
	param(m, p, 0, "\x26\x08\x08", 3);
	put_le(m, (uint64_t)v, 8);
	return offset(m) - 8;
}

size_t message_bit(struct message *m, const char *p, bool v)
{
	param(m, p, 0, "\x68\x01\x01", 3);
	put_le(m, v, 1);
	return offset(m) - 1;
}

size_t message_varchar(struct message *m, const char *p, const char *v)
{
	param(m, p, 0, "\xA7\x40\x1F" COLLATION, 8);
	put_le(m, strlen(v), 2);
	message_put(m, v, strlen(v));
	return offset(m) - strlen(v);
}

size_t message_nvarchar(struct message *m, const char *p, const char *v)
{
	size_t n = 2 * strlen(v);

	if (n <= 8000) {
		param(m, p, 0, "\xE7\x40\x1F" COLLATION, 8);
		put_le(m, n, 2);
		put_utf16(m, v);
		return offset(m) - n;
	}
	param(m, p, 0, "\xE7\xFF\xFF" COLLATION, 8);
	put_le(m, n, 8);
	put_le(m, n, 4);
	put_utf16(m, v);
	put_le(m, 0, 4);
	return offset(m) - n - 4;
}

size_t message_guid(struct message *m, const char *p, const uint8_t guid[16])
{
	param(m, p, 0, "\x24\x10\x10", 3);
	message_put(m, guid, 16);
	return offset(m) - 16;
}

size_t message_datetime(struct message *m, const char *p, int32_t days, uint32_t ticks)
{
	param(m, p, 0, "\x6F\x08\x08", 3);
	put_le(m, (uint32_t)days, 4);
	put_le(m, ticks, 4);
	return offset(m) - 8;
}

size_t message_binary(struct message *m, const char *p, const void *v, size_t n)
{
	param(m, p, 0, "\xA5\xFF\xFF", 3);
	put_le(m, n, 8);
	if (n > 0)
		put_le(m, n, 4);
	message_put(m, v, n);
	put_le(m, 0, 4);
	return offset(m) - n - 4;
}

void message_output_int(struct message *m, const char *p)
{
	param(m, p, 1, "\x26\x04\x00", 3);
}

void message_output_bit(struct message *m, const char *p)
{
	param(m, p, 1, "\x68\x01\x00", 3);
}

void message_output_binary(struct message *m, const char *p)
{
	param(m, p, 1, "\xA5\xFF\xFF", 3);
	put_le(m, UINT64_MAX, 8);
}

void message_end(struct message *m)
{
	frame(m, 0x03);
}

/* ---- reading ---- */

size_t answer_length(const uint8_t *p, size_t n, size_t *at)
{
	while (n - *at >= 8) {
		size_t k = (size_t)p[*at + 2] << 8 | p[*at + 3];

		if (k < 8 || n - *at < k)
			return 0;
		*at += k;
		if ((p[*at - k + 1] & 1) != 0)
			return *at;
	}
	return 0;
}

struct reader {
	const uint8_t *p, *end;
	bool bad;
};

static uint64_t get(struct reader *r, size_t n)
{
	uint64_t v = 0;

	if (r->bad || (size_t)(r->end - r->p) < n) {
		r->bad = true;
		return 0;
	}
	for (size_t i = 0; i < n; i++)
		v |= (uint64_t)r->p[i] << 8 * i;
	r->p += n;
	return v;
}

static void skip(struct reader *r, size_t n)
{
	if (r->bad || (size_t)(r->end - r->p) < n)
		r->bad = true;
	else
		r->p += n;
}

enum { LEN_FIXED, LEN_BYTE, LEN_SHORT, LEN_PLP, LEN_POINTER };
struct wire_type {
	uint8_t code, how;
	size_t fixed;
};

static struct wire_type read_type(struct reader *r)
{
	struct wire_type t = { .code = (uint8_t)get(r, 1) };

	switch (t.code) {
	case 0x30:
	case 0x32: t.fixed = 1; break;
	case 0x34: t.fixed = 2; break;
	case 0x38:
	case 0x3B:
	case 0x3A:
	case 0x7A: t.fixed = 4; break;
	case 0x7F:
	case 0x3E:
	case 0x3D:
	case 0x3C: t.fixed = 8; break;
	case 0x26:
	case 0x68:
	case 0x6D:
	case 0x6E:
	case 0x6F:
	case 0x24:
		t.how = LEN_BYTE;
		skip(r, 1);
		break;
	case 0x6A:
	case 0x6C:
		t.how = LEN_BYTE;
		skip(r, 3);
		break;
	case 0x28: t.how = LEN_BYTE; break;
	case 0x29:
	case 0x2A:
	case 0x2B:
		t.how = LEN_BYTE;
		skip(r, 1);
		break;
	case 0xA7:
	case 0xAF:
	case 0xE7:
	case 0xEF:
		t.how = get(r, 2) == 0xFFFF ? LEN_PLP : LEN_SHORT;
		skip(r, 5);
		break;
	case 0xA5:
	case 0xAD: t.how = get(r, 2) == 0xFFFF ? LEN_PLP : LEN_SHORT; break;
	case 0xF1:
		t.how = LEN_PLP;
		skip(r, 1);
		break;
	case 0x23:
	case 0x63:
		t.how = LEN_POINTER;
		skip(r, 9);
		break;
	case 0x22:
		t.how = LEN_POINTER;
		skip(r, 4);
		break;
	default: r->bad = true;
	}
	return t;
}

static void skip_value(struct reader *r, const struct wire_type *t)
{
	uint64_t n;

	switch (t->how) {
	case LEN_FIXED: skip(r, t->fixed); break;
	case LEN_BYTE: skip(r, get(r, 1)); break;
	case LEN_SHORT:
		n = get(r, 2);
		skip(r, n == 0xFFFF ? 0 : n);
		break;
	case LEN_POINTER:
		if (get(r, 1) != 0) {
			skip(r, 24);
			skip(r, get(r, 4));
		}
		break;
	case LEN_PLP:
		if (get(r, 8) == UINT64_MAX)
			break;
		while (!r->bad && (n = get(r, 4)) != 0)
			skip(r, n);
		break;
	}
}

#define COLUMNS_MAX 64
struct columns {
	struct wire_type types[COLUMNS_MAX];
	size_t n;
};

static void read_columns(struct reader *r, struct columns *c)
{
	c->n = get(r, 2);
	if (c->n > COLUMNS_MAX)
		r->bad = true;
	for (size_t i = 0; i < c->n && !r->bad; i++) {
		skip(r, 6);
		c->types[i] = read_type(r);
		if (c->types[i].how == LEN_POINTER)
			for (uint64_t parts = get(r, 1); parts > 0 && !r->bad; parts--)
				skip(r, 2 * get(r, 2));
		skip(r, 2 * get(r, 1));
	}
}

static void read_error(struct reader *r, struct answer *a)
{
	size_t n = get(r, 2), units;
	struct reader t = *r;

	skip(r, n);
	a->error = true;
	a->number = (int32_t)get(&t, 4);
	skip(&t, 2);
	units = get(&t, 2);
	for (size_t i = 0; i < units && i + 1 < sizeof(a->text); i++) {
		uint64_t c = get(&t, 2);
		a->text[i] = c < 127 ? (char)c : '?';
		a->text[i + 1] = '\0';
	}
}

static void read_returnvalue(struct reader *r, struct answer *a)
{
	struct wire_type t;

	skip(r, 2);
	skip(r, 2 * get(r, 1));
	skip(r, 7);
	t = read_type(r);
	if (t.code == 0x26 && !r->bad && r->p < r->end && *r->p == 4) {
		skip(r, 1);
		a->last_int = (int32_t)get(r, 4);
		a->has_int = true;
		return;
	}
	skip_value(r, &t);
}

static size_t join(const uint8_t *p, size_t n, uint8_t *scratch)
{
	size_t at = 0, len = 0;

	while (at < n) {
		size_t k = (size_t)p[at + 2] << 8 | p[at + 3];
		memcpy(scratch + len, p + at + 8, k - 8);
		len += k - 8;
		at += k;
	}
	return len;
}

bool answer_read(const uint8_t *p, size_t n, uint8_t *scratch, struct answer *ret)
{
	struct reader r = { scratch, scratch + join(p, n, scratch), false };
	struct columns c = { .n = 0 };
	struct answer a = { 0 };

	while (!r.bad && r.p < r.end) {
		uint8_t token = (uint8_t)get(&r, 1);

		switch (token) {
		case 0x81: read_columns(&r, &c); break;
		case 0xD1:
			a.rows++;
			for (size_t i = 0; i < c.n; i++)
				skip_value(&r, &c.types[i]);
			break;
		case 0x79: a.status = (int32_t)get(&r, 4); break;
		case 0xAC: read_returnvalue(&r, &a); break;
		case 0xAA: read_error(&r, &a); break;
		case 0xAB:
		case 0xE3:
		case 0xAD: skip(&r, get(&r, 2)); break;
		case 0xFD:
		case 0xFE:
		case 0xFF:
			if ((get(&r, 2) & 2) != 0)
				a.error = true;
			skip(&r, 10);
			break;
		default: r.bad = true;
		}
	}
	*ret = a;
	return !r.bad;
}
