/* attention.c — a client may cancel at any moment (wire notes 11.1). What runs is stopped and its message ended; the acknowledgement is a message of its own. */
#include "session/session_int.h"

void attention_acknowledge(struct session *s)
{
	while (s->attentions > 0 && s->phase != PHASE_CLOSED) {
		s->attentions--;
		tds_out_begin(&s->out, TDS_MSG_RESPONSE);
		tds_put_done(&s->out, TDS_DONE, TDS_DONE_ATTN, CMD_FAILED, 0);
		tds_out_end(&s->out);
	}
	session_send(s);
}

void attention_arrived(struct session *s)
{
	if (s->attentions > 64) {
		session_abort(s, "too many attentions");
		return;
	}
	s->attentions++;
	if (s->phase != PHASE_BUSY) {
		attention_acknowledge(s);
		return;
	}
	s->cancelled = true;
	if (s->inflight)
		call_cancel(s);
	else
		request_continue(s);
}
