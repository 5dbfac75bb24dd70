/* login7_make.h — builds LOGIN7 messages as the drivers do, quirks included. */
#ifndef LOGIN7_MAKE_H
#define LOGIN7_MAKE_H

#include "tds_test.h"

struct login7_spec {
	uint32_t version, packet_size;
	uint8_t option1, option2, type_flags, option3;
	size_t fixed; /* 94 or 86 */
	const char *host, *user, *password, *app, *server, *library, *language, *database, *new_password;
	const char *sspi;     /* hex */
	const char *features; /* hex, with the FF */
};

static inline void set16(struct buf *b, size_t at, size_t v)
{
	b->data[at] = (uint8_t)v;
	b->data[at + 1] = (uint8_t)(v >> 8);
}
static inline void set32(struct buf *b, size_t at, size_t v)
{
	set16(b, at, v);
	set16(b, at + 2, v >> 16);
}

static inline void add_text(struct buf *b, size_t at, const char *s, bool secret)
{
	size_t n = s == NULL ? 0 : strlen(s);

	set16(b, at, b->len);
	set16(b, at + 2, n);
	for (size_t i = 0; i < 2 * n; i++) {
		uint8_t c = i % 2 == 0 ? (uint8_t)s[i / 2] : 0;
		buf_put_u8(b, secret ? (uint8_t)((c << 4 | c >> 4) ^ 0xA5) : c);
	}
}

static inline struct buf make_login7(const struct login7_spec *s)
{
	struct buf b;
	size_t at;

	buf_init(&b, 1 << 20);
	for (size_t i = 0; i < s->fixed; i++)
		buf_put_u8(&b, 0);
	set32(&b, 4, s->version);
	set32(&b, 8, s->packet_size);
	b.data[24] = s->option1, b.data[25] = s->option2, b.data[26] = s->type_flags, b.data[27] = s->option3;
	set32(&b, 32, 0x409);
	add_text(&b, 36, s->host, false);
	add_text(&b, 40, s->user, false);
	add_text(&b, 44, s->password, true);
	add_text(&b, 48, s->app, false);
	add_text(&b, 52, s->server, false);
	add_text(&b, 60, s->library, false);
	add_text(&b, 64, s->language, false);
	add_text(&b, 68, s->database, false);
	if (s->new_password != NULL)
		add_text(&b, 86, s->new_password, true);
	set16(&b, 78, b.len);
	if (s->sspi != NULL) {
		at = b.len;
		put_bytes(&b, s->sspi);
		set16(&b, 80, b.len - at);
	}
	if (s->features != NULL) {
		at = b.len;
		set16(&b, 56, at);
		set16(&b, 58, 4);
		put_bytes(&b, "00 00 00 00");
		set32(&b, at, b.len);
		put_bytes(&b, s->features);
	}
	set32(&b, 0, b.len);
	if (s->fixed == 86)
		set32(&b, 82, b.len); /* jTDS says it twice */
	return b;
}

#endif
