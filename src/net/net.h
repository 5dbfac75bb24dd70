/* net.h — listeners, loop threads, timers, TLS. Moves bytes, understands none of them. A stream
 * belongs to one loop; all its functions are called on that loop's thread, except net_loop_post. */
#ifndef NET_NET_H
#define NET_NET_H

#include "base/err.h"
#include "base/list.h"
#include "base/output.h"
#include "base/str.h"

struct net; /* the loops and listeners */
struct net_loop;
struct net_stream;
struct net_tls_ctx; /* certificate and rules, for many streams; counted */

/* Told by the owner of streams (the session). */
struct net_handler {
	/* A new connection, on its loop's thread. Returns the owner (NULL: close at once). */
	void *(*opened)(struct net_stream *s, void *arg);
	/* Bytes arrived (decrypted when TLS is on). Returns how many were consumed; the rest is
	 * offered again: at once while something was consumed (so that one message may be taken
	 * a call), else with what follows. If the reader can do nothing until something else
	 * happens it calls net_stream_pause first. More than `limit` unconsumed bytes
	 * (net_stream_set_limit) end the stream; while it is paused none are added but those of
	 * the read at hand. When the peer ends its side, what was not consumed is dropped, what
	 * is pending still goes out, and closed() follows. */
	size_t (*data)(void *owner, const uint8_t *p, size_t n);
	/* The TLS handshake that net_stream_start_tls began is complete. */
	void (*secured)(void *owner);
	/* Handshake bytes to send while they must be wrapped (wrap != NULL in start_tls): one
	 * whole flight at a time. The owner frames them and sends the packets. */
	void (*handshake_out)(void *owner, const uint8_t *p, size_t n);
	/* Some of what was pending has been handed to the kernel, and less than the low-water
	 * mark (256 KiB) is left; also when nothing is left. */
	void (*drained)(void *owner);
	/* The timer set by net_stream_set_timer fired. */
	void (*timeout)(void *owner);
	/* The stream is gone (peer closed, error, or net_stream_close); last call for this
	 * owner. reason is a short text for the log. */
	void (*closed)(void *owner, const char *reason);
};

/* Connections above the maximum that may be open to be told so; and as many more from this
 * machine. They have to be counted where descriptors are. */
#define NET_REFUSALS 64u
#define NET_REFUSALS_HERE 16u

struct net_options {
	const char *const *listen; /* "host:port", "[::1]:port", NULL-terminated; port 0: any */
	unsigned loops;            /* I/O threads */
	/* beyond: opened() still runs with net_stream_over_limit() true, so that the client can
	 * be told */
	unsigned max_connections;
	unsigned backlog;
	unsigned request_threads, login_threads; /* threads for work; 0: two of each */
	unsigned login_queue; /* logins that may wait in each of their lanes; 0: no bound */
	const struct net_handler *handler;
	void *arg;
};

MUST_CHECK int net_start(const struct net_options *o, struct net **ret, struct err *reterr);
/* The first bound address as text, "127.0.0.1:14330". */
const char *net_address(const struct net *n);
void net_stop_listening(struct net *n);
/* Closes all streams, ends the loops, joins the threads. Work that was submitted and items that
 * were posted before still run; the threads that post (executors) must have stopped. Not for a
 * loop's thread. */
void net_stop(struct net *n);
unsigned net_connections(const struct net *n);
/* Bytes on the wire since the start. Thread-safe. */
void net_traffic(const struct net *n, uint64_t *ret_received, uint64_t *ret_sent);
/* Asks every loop for a sign of life. Each answers when it comes to its posts; one that was
 * asked and has not answered is not asked again. Not for several threads at once. */
void net_ping(struct net *n);
/* Whether every loop has answered since it was asked. */
bool net_answered(const struct net *n);
/* Runs fn on every open stream's owner, on its loop's thread (drain: sessions that are idle
 * close). */
void net_each(struct net *n, void (*fn)(void *owner));

/* Runs item->fn on the loop's thread soon. Thread-safe, no allocation: the item is the caller's
 * until fn is called. Several posts wake the loop once. */
struct net_post {
	struct list link;
	void (*fn)(struct net_post *item);
};
void net_loop_post(struct net_loop *l, struct net_post *item);
/* Runs item->fn when all events at hand have been handled, before the loop sleeps. On the loop's
 * thread. */
void net_loop_last(struct net_loop *l, struct net_post *item);

/* This is the loop's thread. For assertions: streams and sessions are touched on no other. */
bool net_loop_is_here(const struct net_loop *l);
/* It has one stream at most, and does not accept: nobody else waits while its thread does
 * something. */
bool net_loop_is_alone(const struct net_loop *l);

struct net_loop *net_stream_loop(struct net_stream *s);
const char *net_stream_peer(const struct net_stream *s); /* "127.0.0.1:50000" */
bool net_stream_over_limit(const struct net_stream *s);
/* It is above the maximum, and stays nevertheless: others do not have to make room for it, nor
 * it for others. */
void net_stream_keep(struct net_stream *s);
void net_stream_set_limit(struct net_stream *s, size_t max_unconsumed);
/* What waits to be sent is counted there; it outlives closed(). */
void net_stream_set_budget(struct net_stream *s, struct budget *b);
/* Sends all of o (encrypted when TLS is on), as fast as the peer takes it. o is empty afterwards.
 * Lent and generated pieces are used when their turn comes: their memory must stay until their
 * sources are released, at the latest before closed(). drained() follows, when the last of them has
 * been. */
void net_stream_send(struct net_stream *s, struct output *o);
/* Bytes not yet taken by the kernel, with those that are still to be made. */
size_t net_stream_pending(const struct net_stream *s);
/* stop reading: back-pressure on the client */
void net_stream_pause(struct net_stream *s);
/* and offer again what was not consumed: soon, from the loop, never inside this call */
void net_stream_resume(struct net_stream *s);
/* One-shot timer; 0 cancels. Each stream has one. Cheap: may be set for every request. */
void net_stream_set_timer(struct net_stream *s, uint64_t ms);
/* Closes: at once, or after pending bytes have gone and the peer has had a moment to read them
 * (at most 2 s; a peer that takes none for 2 s, or not all in 30 s, is given up). closed()
 * follows later, and is all that follows. What is written after it is dropped. */
void net_stream_close(struct net_stream *s, bool gracefully, const char *reason);

/* TLS. mode WRAPPED: records of the handshake come from net_stream_tls_feed and go to
 * handshake_out, at most TLS 1.2, no tickets; after secured() the socket carries raw TLS
 * records. mode DIRECT: TLS 1.2 or 1.3 from the first byte, ALPN tds/8.0 (selected when offered,
 * other names only: refused). */
enum net_tls_mode { NET_TLS_WRAPPED, NET_TLS_DIRECT };
MUST_CHECK int net_stream_start_tls(struct net_stream *s, struct net_tls_ctx *ctx, enum net_tls_mode mode,
				    struct err *reterr);
/* WRAPPED handshake: TLS bytes found inside packets. False: the handshake failed (the stream
 * will close with the reason). */
bool net_stream_tls_feed(struct net_stream *s, const uint8_t *p, size_t n);
/* Call it in data() with the first packet of LOGIN7, or pause there: a clear byte before it is
 * an error. Login-only encryption: reads exactly the TLS records that come before the first
 * clear byte (0x17 record or 0x15 alert vs. a TDS packet), never past them. After
 * net_stream_end_tls what is written goes in clear, records that still arrive (pytds sends all
 * LOGIN7 packets in TLS) are still decrypted until the first clear byte. No close_notify. */
void net_stream_end_tls(struct net_stream *s);
bool net_stream_is_tls(const struct net_stream *s);
const char *net_stream_tls_version(const struct net_stream *s); /* "TLSv1.3" or NULL */
/* Channel binding of RFC 5929 with its prefix, "tls-unique:…" (up to TLS 1.2) or
 * "tls-server-end-point:…"; from secured() until net_stream_end_tls. Gives its length; 0: there
 * is none, or dst is too small (96 bytes are enough). */
enum net_tls_binding { NET_TLS_UNIQUE, NET_TLS_END_POINT };
size_t net_stream_tls_binding(const struct net_stream *s, enum net_tls_binding kind, uint8_t *dst,
			      size_t size);

/* Suites in OpenSSL's notation. NULL for all of it, or a NULL text: TLS 1.2 and OpenSSL's own
 * suites. */
enum net_tls_version { NET_TLS_1_0, NET_TLS_1_1, NET_TLS_1_2, NET_TLS_1_3 };
struct net_tls_rules {
	enum net_tls_version min_version;
	const char *ciphers;      /* up to TLS 1.2 */
	const char *ciphersuites; /* TLS 1.3 */
};
/* A suite that does not exist, or versions and suites that do not fit together, are errors. */
MUST_CHECK int net_tls_ctx_new(const char *cert_file, const char *key_file, const struct net_tls_rules *rules,
			       struct net_tls_ctx **ret, struct err *reterr);
/* From when to when the certificate is valid, in seconds since 1970. */
void net_tls_ctx_validity(const struct net_tls_ctx *c, int64_t *ret_from, int64_t *ret_until);
struct net_tls_ctx *net_tls_ctx_ref(struct net_tls_ctx *c);
void net_tls_ctx_unref(struct net_tls_ctx *c);
/* Writes a self-signed pair (RSA 2048, SAN: localhost, 127.0.0.1, ::1, the host name) with mode
 * 0600 for the key. Leaves existing files alone. */
MUST_CHECK int net_tls_make_certificate(const char *cert_file, const char *key_file, struct err *reterr);

/* Threads for work that blocks or takes long; done runs on the loop's thread. Requests have
 * threads of their own, so that neither they nor logins can keep the other waiting; the two
 * lanes of logins share theirs, and those of clients that were let in before have three turns of
 * four. */
enum net_lane { NET_LANE_REQUEST, NET_LANE_KNOWN, NET_LANE_STRANGER, NET_LANES };
struct net_work {
	void (*run)(struct net_work *w);
	void (*done)(struct net_work *w);
	struct net_loop *loop;
	enum net_lane lane;
	/* whose it is: keys take turns, and who has the most in a full lane loses the youngest
	 * of it. Choose it such that clients cannot */
	uint64_t key;
	bool dropped; /* in done: the lane was full, run was not called */
	bool queued;  /* net's: it waits in its lane */
	struct net_post post;
};
/* The work is net's until done is called, which may be before this returns to another thread
 * than the loop's. */
void net_work_submit(struct net *n, struct net_work *w);
/* True: it had not begun, and is the caller's again; done is not called. False: it runs or has
 * run, and done comes. On the loop's thread. */
MUST_CHECK bool net_work_cancel(struct net *n, struct net_work *w);
unsigned net_work_waiting(struct net *n, enum net_lane lane);

#endif
