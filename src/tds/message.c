/* message.c — packets → one message. A message past its bound is still read to its end, so that
 * it can be answered. */
#include "tds/packet.h"

#include <assert.h>

#define MESSAGE_KEEP 8192 /* bytes of buffer that an idle connection keeps */

void tds_message_init(struct tds_message *m, size_t max)
{
	*m = (struct tds_message){ 0 };
	buf_init(&m->body, max);
}

void tds_message_fini(struct tds_message *m)
{
	buf_fini(&m->body);
}

void tds_message_reset(struct tds_message *m)
{
	m->type = m->flags = 0;
	m->started = m->ignored = m->too_big = m->denied = false;
	buf_reset(&m->body, MESSAGE_KEEP);
}

static void add_body(struct tds_message *m, const struct tds_cursor *body)
{
	if (m->too_big)
		return;
	buf_put(&m->body, body->pos, tds_left(body));
	assert(m->body.len <= m->body.max);
	if (m->body.failed) {
		m->too_big = true;
		m->denied = m->body.denied;
		buf_reset(&m->body, 0);
	}
}

enum tds_status tds_message_add(struct tds_message *m, const struct tds_packet *p)
{
	if (!m->started) {
		tds_message_reset(m);
		m->started = true;
		m->type = p->type;
		m->flags = p->flags;
	} else if (p->type != m->type) {
		return TDS_MALFORMED;
	}
	assert(!m->ignored);
	add_body(m, &p->body);
	if ((p->flags & TDS_STATUS_EOM) == 0)
		return TDS_MORE;
	m->ignored = (p->flags & TDS_STATUS_IGNORE) != 0;
	m->started = false;
	return TDS_OK;
}
