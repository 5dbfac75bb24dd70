/* net_int.h — what the files of this folder know about each other.
 *
 * The README says what is in which file.
 *
 * Except for the posts, the counters and the work queue, a loop and its streams are touched by
 * the loop's own thread only. */
#ifndef NET_NET_INT_H
#define NET_NET_INT_H

#include <pthread.h>
#include <stdatomic.h>

#include <openssl/ssl.h>
#include <uv.h>

#include "base/buf.h"
#include "base/lock.h"
#include "net/net.h"

#define NET_READ_SIZE ((size_t)65536) /* one read buffer per loop, for all its streams */
/* Room before the read buffer for what an owner left of the last read. */
#define NET_KEPT_SIZE ((size_t)32768)
#define NET_PLAIN_SIZE ((size_t)16384) /* the plain bytes of one TLS record */
#define NET_LOW_WATER ((size_t)256 * 1024)
#define NET_LIMIT ((size_t)65536) /* unconsumed bytes, until the owner sets another bound */
#define NET_LINGER_MS 2000u
/* a closing stream that makes progress has so many linger times */
#define NET_FLUSH_ROUNDS 15u
/* a connection above the maximum may have to make room after this time */
#define NET_REFUSAL_MS 2000u
#define NET_LISTENERS 64u
#define NET_WORKERS 2u /* threads of a crew, unless told */
#define NET_WORKERS_MAX 64u
#define NET_BUCKETS 64u /* of a lane: as many as its bitmap has bits */

struct net_listener {
	uv_poll_t poll;
	int fd;
	struct net *net;
	/* runs only after the system had no descriptor or memory for a connection */
	uv_timer_t retry;
};

struct net_loop {
	struct net *net;
	unsigned index;
	pthread_t thread;
	bool running;
	uv_loop_t uv;
	uv_async_t wake;
	uv_prepare_t prepare; /* runs what was put off before the loop sleeps */
	uv_idle_t idle;       /* active only when something put off must not wait for the next event */

	struct lock lock; /* guards posts */
	struct list posts;

	struct list streams;  /* all of them, until their memory goes */
	struct list last;     /* posts of its own thread, for the end of the round */
	struct list next;     /* posts of its own thread, for the next round */
	struct list ready;    /* streams whose input or output is to be looked at again */
	atomic_uint nstreams; /* assigned to this loop; counted by the accepting thread */
	bool stopping;        /* no new streams */
	struct net_post ping; /* net_ping's */
	atomic_bool pinged;   /* a ping was sent and is not answered yet */
	/* bytes of its streams, as they are on the wire; written by its own thread */
	atomic_ullong received, sent;
	uint8_t *read_buf;  /* NET_KEPT_SIZE + NET_READ_SIZE; owned */
	uint8_t *plain_buf; /* NET_PLAIN_SIZE; owned */
	struct buf cipher;  /* what OpenSSL wants to send, between its call and ours */
	struct buf gather;  /* small pieces that are encrypted together; empty between calls */
};

/* Only the loop's thread adds, so that no bus need be locked. */
static inline void net_loop_count(atomic_ullong *counter, uint64_t n)
{
	atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + n,
			      memory_order_relaxed);
}

/* Work that waits: work.c. */
struct net_lane_queue {
	struct {
		struct list waiting; /* struct net_work by post.link */
		unsigned count;
		unsigned running; /* of it, on threads now */
	} buckets[NET_BUCKETS];
	uint64_t filled;     /* a bit for each bucket that is not empty */
	uint64_t served;     /* a bit for each bucket that has as many threads as it may have */
	unsigned share;      /* threads that one bucket may have; 0: no bound */
	unsigned turn;       /* the bucket that is asked next */
	unsigned count, max; /* in all; 0: no bound */
};

enum net_crew_id { NET_CREW_REQUEST, NET_CREW_LOGIN, NET_CREWS };

struct net_crew {
	struct net *net;
	pthread_t threads[NET_WORKERS_MAX];
	pthread_cond_t wake;
	unsigned nthreads, idle, max;
	unsigned turn; /* counts what was taken, for the shares of two lanes */
};

struct net {
	const struct net_handler *handler;
	void *arg;
	unsigned max_connections, backlog;
	struct net_loop *loops; /* owned array */
	unsigned nloops;
	struct net_listener *listeners; /* owned array; polled by loop 0 */
	unsigned nlisteners;
	atomic_uint connections;
	atomic_uint kept; /* of them: above the maximum, and kept by their owner */
	/* above the maximum and not kept: from elsewhere, from this machine; loop 0's */
	struct {
		struct list streams; /* oldest first */
		unsigned count;
	} over[2];
	/* given up for a moment when there is no other descriptor, so that a client can be
	 * refused; -1: none */
	int spare_fd;
	char address[64];

	struct lock lock; /* guards the rest */
	pthread_cond_t changed;
	unsigned quiet_loops; /* loops that have closed all their streams */
	bool listening_ended;

	struct lock work_lock; /* guards the lanes, the crews and which work is queued */
	struct net_lane_queue lanes[NET_LANES];
	struct net_crew crews[NET_CREWS];
	bool work_ended;
};

enum net_state {
	NET_OPEN,
	NET_FLUSHING,  /* closing: pending bytes go out, input is dropped */
	NET_LINGERING, /* closing: our side is shut, waiting for the peer's end */
	NET_CLOSING,   /* handles are being closed */
};

/* Outputs that wait, in their order: output.c. */
struct net_chunk;
struct net_queue {
	struct net_chunk *first, *last; /* owned */
	uint64_t length;                /* bytes that the kernel does not have yet */
};

struct net_tls {
	SSL *ssl;                /* owned */
	struct net_tls_ctx *ctx; /* reference */
	struct net_stream *stream;
	const uint8_t *in; /* the bytes OpenSSL may read now; empty between our calls */
	size_t in_n;
	enum net_tls_mode mode;
	bool secured; /* the handshake is over */
	bool ended;   /* net_stream_end_tls: output is clear, input soon */
	bool closed;  /* the peer was told that nothing follows */
};

struct net_stream {
	uv_tcp_t tcp;
	uv_timer_t timer; /* the owner's; once closing, ours */
	uv_write_t write_req;
	uv_shutdown_t shutdown_req;
	struct net_post post; /* carries the stream from the accepting loop to its own */
	struct net_loop *loop;
	struct list link;         /* in loop->streams */
	struct list ready;        /* in loop->ready, or alone */
	void *owner;              /* NULL: nobody is told anything */
	struct net_tls *tls;      /* owned; NULL: clear */
	struct buf in;            /* bytes for the owner that it did not consume yet */
	struct buf raw;           /* TLS records that are incomplete, or wait while the owner pauses */
	struct net_queue wire;    /* bytes that the kernel did not take yet, as it is to get them */
	struct net_queue waiting; /* outputs whose pieces are made, and encrypted, when wire is empty */
	struct output batch;      /* the pieces that libuv has while writes_batch is set */
	uint64_t in_flight;       /* bytes that libuv has while writing is set */
	struct budget *budget;    /* the owner's account, for what waits to be sent; NULL: none */
	size_t limit;
	size_t flush_mark; /* pending bytes when the flush was last looked at */
	unsigned flush_rounds;
	int fd; /* until tcp has it */
	enum net_state state;
	unsigned open_handles; /* of tcp and timer, those not yet closed */
	bool writing;          /* libuv has bytes of ours */
	bool writes_batch;     /* these are a batch of the first output that waits, not wire's first chunk */
	bool paused, reading, delivering, eof, over_limit, this_machine, kept, had_tls, tls_takes_over;
	struct list over;    /* in net->over, or alone */
	uint64_t over_since; /* the loop's ms */
	char peer[56];
	char reason[100];
};

/* net.c */
int net_fail(struct err *reterr, const char *fmt, ...) PRINTF_LIKE(2, 3);

int net_open_spare(void);

/* loop.c */
MUST_CHECK int net_loop_init(struct net_loop *l, struct net *n, unsigned index, struct err *reterr);
MUST_CHECK int net_loop_start(struct net_loop *l, struct err *reterr);
void net_loop_fini(struct net_loop *l);
/* Runs fn on the loop's thread and waits for its end. Not for the loop's own thread. */
void net_loop_call(struct net_loop *l, void (*fn)(struct net_loop *l));
/* Closes all streams at once; the net's quiet_loops is raised when the last is gone. */
void net_loop_close_streams(struct net_loop *l);
void net_loop_stream_gone(struct net_loop *l);
/* Closes the loop's own handles: uv_run returns. */
void net_loop_end(struct net_loop *l);
/* Looks at the stream's buffered input, and at outputs that wait, before the loop sleeps again. */
void net_loop_defer(struct net_loop *l, struct net_stream *s);

/* listen.c */
MUST_CHECK int net_listen(struct net *n, const char *where, struct err *reterr);
MUST_CHECK int net_listeners_start(struct net *n, struct err *reterr);
void net_listeners_close(struct net_loop *l); /* on loop 0 */
void net_format_address(const struct sockaddr_storage *ss, char *dst, size_t size);

/* over.c; on loop 0 */
void net_over_init(struct net *n);
/* Is there room for one more above the maximum? */
bool net_over_room(struct net *n, const struct sockaddr_storage *peer);
void net_over_add(struct net_stream *s, const struct sockaddr_storage *peer);
void net_over_gone(struct net_stream *s);

/* work.c */
void net_work_init(struct net *n, const struct net_options *o);
void net_work_fini(struct net *n);
void net_work_end(struct net *n);

/* stream.c */
/* Takes fd; NULL and fd closed when memory is out. */
MUST_CHECK struct net_stream *net_stream_new(struct net_loop *l, int fd, const struct sockaddr_storage *peer);
void net_stream_begin(struct net_stream *s);                                      /* on its loop */
void net_stream_fail(struct net_stream *s, const char *what, const char *detail); /* closes at once */
void net_stream_peer_ended(struct net_stream *s);
void net_stream_flushed(struct net_stream *s);
void net_stream_update_reading(struct net_stream *s);

/* input.c */
void net_input_alloc(uv_handle_t *h, size_t suggested, uv_buf_t *ret);
void net_input_read(uv_stream_t *h, ssize_t n, const uv_buf_t *b);
void net_input_again(struct net_stream *s);
/* Plain bytes for the owner; called by input.c and tls.c only while delivering. */
void net_input_offer(struct net_stream *s, const uint8_t *p, size_t n);
/* From now on the unconsumed bytes are TLS records. */
void net_input_to_tls(struct net_stream *s);

/* Bytes may leave: it is open, or closes after what is pending. */
static inline bool net_stream_sends(const struct net_stream *s)
{
	return s->state == NET_OPEN || s->state == NET_FLUSHING;
}

/* output.c */
/* Bytes as they go to the kernel: what OpenSSL has made. */
void net_output_put(struct net_stream *s, const uint8_t *p, size_t n);
/* It is the stream's turn to make more of what waits. */
void net_output_again(struct net_stream *s);
/* Encrypts all that waits, since it cannot be encrypted later. */
void net_output_encrypt_all(struct net_stream *s);
void net_output_fini(struct net_stream *s);

/* tls.c */
/* Takes one record from p. Returns its length, 0 when it is not complete, -1 when the stream
 * failed. */
MUST_CHECK ssize_t net_tls_record(struct net_stream *s, const uint8_t *p, size_t n);
/* True when input goes through TLS: a WRAPPED one only after its handshake. */
bool net_tls_reads(const struct net_stream *s);
/* True when output goes through TLS. */
bool net_tls_writes(const struct net_stream *s);
void net_tls_write(struct net_stream *s, const uint8_t *p, size_t n);
/* Tells the peer, once, that nothing follows. */
void net_tls_notify_close(struct net_stream *s);
void net_tls_free(struct net_stream *s);

/* tls_ctx.c */
struct net_tls_ctx {
	atomic_uint refs;
	SSL_CTX *ssl_ctx;       /* owned */
	BIO_METHOD *bio_method; /* owned: our end of OpenSSL's reads and writes */
};
/* tls_bio.c */
BIO_METHOD *net_tls_bio_method(void);

#endif
