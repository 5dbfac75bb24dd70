/* protocol.c — see protocol.h. Of RESP only what FCALL and its answers need: strings, numbers,
 * arrays, nil, errors. */
#include "protocol.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct protocol protocol_tds = { true, answer_length, answer_read };

/* ---- RESP ---- */

void resp_begin(struct message *m, unsigned n)
{
	char head[24];

	m->len = 0;
	message_put(m, head, (size_t)snprintf(head, sizeof(head), "*%u\r\n", n));
}

size_t resp_string(struct message *m, const void *p, size_t n)
{
	char head[32];

	message_put(m, head, (size_t)snprintf(head, sizeof(head), "$%zu\r\n", n));
	message_put(m, p, n);
	message_put(m, "\r\n", 2);
	return m->len - n - 2;
}

struct line {
	char kind;
	const char *text;
	size_t len;
	long number;
};

/* The line at *at; false when it has not arrived as a whole. */
static bool read_line(const uint8_t *p, size_t n, size_t *at, struct line *ret)
{
	const uint8_t *end = *at < n ? memchr(p + *at, '\n', n - *at) : NULL;

	if (end == NULL)
		return false;
	ret->kind = (char)p[*at];
	ret->text = (const char *)p + *at + 1;
	ret->len = (size_t)(end - (p + *at)) - 1;
	ret->number = strtol(ret->text, NULL, 10);
	*at = (size_t)(end - p) + 1;
	return true;
}

/* Walks one value, nested ones included. */
static bool walk(const uint8_t *p, size_t n, size_t *at, struct answer *a)
{
	struct line l;
	long values = 1;

	for (; values > 0; values--) {
		if (!read_line(p, n, at, &l))
			return false;
		if (l.kind == '*' && l.number > 0)
			values += l.number;
		if (l.kind == ':') {
			a->last_int = (int32_t)l.number;
			a->has_int = true;
		}
		if (l.kind == '-') {
			a->error = true;
			snprintf(a->text, sizeof(a->text), "%.*s", (int)(l.len < 150 ? l.len : 150), l.text);
		}
		if (l.kind == '$' && l.number >= 0) {
			if (n - *at < (size_t)l.number + 2)
				return false;
			*at += (size_t)l.number + 2;
			a->rows++;
		}
	}
	return true;
}

static size_t resp_length(const uint8_t *p, size_t n, size_t *mark)
{
	struct answer ignored = { 0 };
	size_t at = 0;

	(void)mark;
	return walk(p, n, &at, &ignored) ? at : 0;
}

static bool resp_read(const uint8_t *p, size_t n, uint8_t *scratch, struct answer *ret)
{
	size_t at = 0;

	(void)scratch;
	*ret = (struct answer){ 0 };
	return walk(p, n, &at, ret) && at == n;
}

const struct protocol protocol_resp = { false, resp_length, resp_read };

/* ---- echo ---- */

void echo_request(struct message *m, size_t n, size_t n_answer)
{
	uint32_t head[2] = { (uint32_t)n, (uint32_t)n_answer };
	static const uint8_t fill[256];

	m->len = 0;
	message_put(m, head, sizeof(head));
	while (m->len < n)
		message_put(m, fill, n - m->len < sizeof(fill) ? n - m->len : sizeof(fill));
}

/* The answer begins with its own length. */
static size_t echo_length(const uint8_t *p, size_t n, size_t *mark)
{
	uint32_t len;

	(void)mark;
	if (n < sizeof(len))
		return 0;
	memcpy(&len, p, sizeof(len));
	return n >= len ? len : 0;
}

static bool echo_read(const uint8_t *p, size_t n, uint8_t *scratch, struct answer *ret)
{
	(void)p, (void)scratch;
	*ret = (struct answer){ .rows = 1 };
	return n >= 8;
}

const struct protocol protocol_echo = { false, echo_length, echo_read };
