/* kill.c — see kill.h. */
#include "session/kill.h"

#include "session/audit.h"

/* Each server ends its own sessions. */
static int not_here(struct server *srv, unsigned spid, struct err *reterr)
{
	char where[300];

	if (srv->elsewhere != NULL && srv->elsewhere(srv, spid, where, sizeof(where)))
		return err_set(reterr, ERR_KILL_ELSEWHERE, (int)spid, where);
	return err_set(reterr, ERR_KILL_ABSENT, (int)spid);
}

int session_kill_number(struct server *srv, const struct log_ctx *who, uint16_t own, int64_t spid,
			struct err *reterr)
{
	if (spid < 1 || spid > SPID_LAST)
		return err_set(reterr, ERR_KILL_NUMBER, (long long)spid);
	if (spid < SPID_FIRST)
		return err_set(reterr, ERR_KILL_SYSTEM);
	if (spid == own)
		return err_set(reterr, ERR_KILL_SELF);
	if (!session_registry_kill(&srv->registry, (uint16_t)spid))
		return not_here(srv, (unsigned)spid, reterr);
	session_audit_kill(who, spid);
	return 0;
}
