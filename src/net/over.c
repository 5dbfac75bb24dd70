/* over.c — connections above the maximum. They are let in as far as the login, so that the
 * client can be told why it is refused, and because it may turn out to be an administrator's,
 * for whom places are kept. Their number is bounded; when that is reached, one that has had its
 * time makes room for the next. Those of this machine have places of their own, which no
 * stranger can take. All of them live on loop 0, which accepts: nothing here needs a lock. */
#include "net/net.h"

#include <assert.h>
#include <netinet/in.h>
#include <string.h>

#include "net/net_int.h"

void net_over_init(struct net *n)
{
	list_init(&n->over[0].streams);
	list_init(&n->over[1].streams);
}

/* 127.0.0.1 and ::1; forwarders bind to one of the others. */
static bool is_this_machine(const struct sockaddr_storage *peer)
{
	static const uint8_t mapped[16] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127, 0, 0, 1 };

	if (peer->ss_family == AF_INET)
		return ((const struct sockaddr_in *)peer)->sin_addr.s_addr == htonl(INADDR_LOOPBACK);
	if (peer->ss_family == AF_INET6) {
		const struct in6_addr *a = &((const struct sockaddr_in6 *)peer)->sin6_addr;

		return IN6_IS_ADDR_LOOPBACK(a) || memcmp(a->s6_addr, mapped, sizeof(mapped)) == 0;
	}
	return false;
}

/* No longer one of those that may have to make room. */
static void leave(struct net *n, struct net_stream *s)
{
	if (list_empty(&s->over))
		return;
	assert(n->over[s->this_machine].count > 0);
	n->over[s->this_machine].count--;
	list_remove(&s->over);
}

bool net_over_room(struct net *n, const struct sockaddr_storage *peer)
{
	bool local = is_this_machine(peer);
	struct net_stream *oldest;

	assert(net_loop_is_here(&n->loops[0]));
	if (n->over[local].count < (local ? NET_REFUSALS_HERE : NET_REFUSALS))
		return true;
	oldest = CONTAINER_OF(n->over[local].streams.next, struct net_stream, over);
	if (uv_now(&n->loops[0].uv) - oldest->over_since < NET_REFUSAL_MS)
		return false;
	leave(n, oldest);
	net_stream_close(oldest, false, "makes room for another one above the maximum");
	return true;
}

void net_over_add(struct net_stream *s, const struct sockaddr_storage *peer)
{
	struct net *n = s->loop->net;

	assert(s->loop == &n->loops[0]);
	s->over_limit = true;
	s->this_machine = is_this_machine(peer);
	s->over_since = uv_now(&s->loop->uv);
	n->over[s->this_machine].count++;
	list_append(&n->over[s->this_machine].streams, &s->over);
}

void net_stream_keep(struct net_stream *s)
{
	assert(s->over_limit && !s->kept);
	leave(s->loop->net, s);
	s->kept = true;
	atomic_fetch_add(&s->loop->net->kept, 1);
}

void net_over_gone(struct net_stream *s)
{
	leave(s->loop->net, s);
	if (s->kept)
		atomic_fetch_sub(&s->loop->net->kept, 1);
}
