/* attention.c — a client may cancel at any moment (wire notes 11.1). What runs is stopped and
 * its message ended; the acknowledgement is a message of its own. */
#include "session/session_int.h"

#include <assert.h>

void session_attention_acknowledge(struct session *s)
{
	while (s->attentions > 0 && s->phase != PHASE_CLOSED) {
		assert(!s->out.open && !s->inflight);
		s->attentions--;
		tds_out_begin(&s->out, TDS_MSG_RESPONSE);
		tds_put_done(&s->out, TDS_DONE, TDS_DONE_ATTN, CMD_FAILED, 0);
		tds_out_end(&s->out);
	}
	session_send(s);
}

void session_attention_arrived(struct session *s)
{
	assert(net_loop_is_here(s->loop) && !s->sending);
	if (s->attentions > 64) {
		session_abort(s, "too many attentions");
		return;
	}
	s->attentions++;
	if (s->phase != PHASE_BUSY) {
		session_attention_acknowledge(s);
		return;
	}
	s->cancelled = true;
	if (s->inflight)
		session_call_cancel(s);
	else
		session_request_continue(s);
}
