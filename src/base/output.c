/* output.c — see output.h. Places are kept as numbers of owned bytes and not as pointers, because
 * the buffer moves while it grows. */
#include "base/output.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define PIECES_SMALLEST ((size_t)4)

void output_init(struct output *o, size_t max)
{
	*o = (struct output){ .max = max };
	buf_init(&o->bytes, max);
}

void output_charge(struct output *o, struct budget *a)
{
	buf_charge(&o->bytes, a);
}

static uint64_t piece_length(const struct output_piece *p)
{
	return p->source != NULL ? p->source->left : p->lent.n;
}

/* Pieces from n on go; their sources are told. */
static void drop_pieces(struct output *o, size_t n)
{
	while (o->npieces > n) {
		struct output_source *src = o->pieces[--o->npieces].source;

		if (src != NULL)
			src->release(src);
	}
}

void output_fini(struct output *o)
{
	drop_pieces(o, 0);
	free(o->pieces);
	buf_fini(&o->bytes);
	*o = (struct output){ .bytes = o->bytes, .max = o->max };
	o->bytes.max = o->max;
}

void output_reset(struct output *o, size_t keep)
{
	drop_pieces(o, 0);
	buf_reset(&o->bytes, keep);
	o->bytes.max = o->max;
}

void output_move(struct output *to, struct output *from)
{
	struct budget *account = from->bytes.budget;

	*to = *from;
	output_init(from, to->max);
	output_charge(from, account);
}

uint64_t output_length(const struct output *o)
{
	uint64_t n = o->bytes.len;

	for (size_t i = 0; i < o->npieces; i++)
		n += piece_length(&o->pieces[i]);
	return n;
}

static bool reserve_pieces(struct output *o, size_t n)
{
	size_t want = o->npieces + n, cap = o->pieces_cap < PIECES_SMALLEST ? PIECES_SMALLEST : o->pieces_cap;
	struct output_piece *made;

	if (want <= o->pieces_cap)
		return true;
	while (cap < want)
		cap *= 2;
	made = reallocarray(o->pieces, cap, sizeof(*made));
	if (made == NULL)
		return false;
	o->pieces = made;
	o->pieces_cap = cap;
	return true;
}

static void add_piece(struct output *o, const struct output_piece *p)
{
	assert(o->npieces < o->pieces_cap);
	assert(o->npieces == 0 || o->pieces[o->npieces - 1].at <= p->at);
	o->pieces[o->npieces++] = *p;
}

void output_lend(struct output *o, struct str s)
{
	struct output_piece p = { .at = o->bytes.len, .lent = s };

	if (o->bytes.failed || s.n == 0)
		return;
	if (s.n > o->bytes.max - o->bytes.len) {
		o->bytes.failed = true;
	} else if (!reserve_pieces(o, 1)) {
		o->bytes.failed = o->bytes.denied = true;
	} else {
		add_piece(o, &p);
		o->bytes.max -= s.n;
	}
}

bool output_generate(struct output *o, struct output_source *src)
{
	struct output_piece p = { .at = o->bytes.len, .source = src };

	assert(src->left > 0 && src->make != NULL && src->release != NULL);
	if (o->bytes.failed || src->left > o->bytes.max - o->bytes.len || !reserve_pieces(o, 1))
		return false;
	add_piece(o, &p);
	o->bytes.max -= (size_t)src->left;
	return true;
}

void output_truncate(struct output *o, size_t nbytes, size_t npieces)
{
	assert(nbytes <= o->bytes.len && npieces <= o->npieces);
	assert(npieces == 0 || o->pieces[npieces - 1].at <= nbytes);
	assert(npieces == o->npieces || o->pieces[npieces].at >= nbytes);
	for (size_t i = npieces; i < o->npieces; i++)
		o->bytes.max += (size_t)piece_length(&o->pieces[i]);
	drop_pieces(o, npieces);
	o->bytes.len = nbytes;
}

static void swap(struct output *a, struct output *b)
{
	struct output old = *a;

	*a = *b;
	*b = old;
}

bool output_append(struct output *to, struct output *from)
{
	size_t at = to->bytes.len;

	assert(to != from && to->max == from->max && to->bytes.budget == from->bytes.budget);
	assert(!to->bytes.failed && !from->bytes.failed);
	if (at == 0 && to->npieces == 0) {
		swap(to, from);
		return true;
	}
	if (output_length(from) > to->bytes.max - at || !reserve_pieces(to, from->npieces))
		return false;
	buf_put(&to->bytes, from->bytes.data, from->bytes.len);
	if (to->bytes.failed) {
		to->bytes.failed = to->bytes.denied = false;
		return false;
	}
	for (size_t i = 0; i < from->npieces; i++) {
		from->pieces[i].at += at;
		add_piece(to, &from->pieces[i]);
		to->bytes.max -= (size_t)piece_length(&from->pieces[i]);
	}
	from->npieces = 0; /* their sources are to's now */
	output_reset(from, from->bytes.cap);
	return true;
}

bool output_at_end(const struct output *o, const struct output_at *at)
{
	assert(at->byte <= o->bytes.len && at->piece <= o->npieces);
	return at->byte == o->bytes.len && at->piece == o->npieces;
}

/* The owned bytes before the next piece that is not; empty: that one is next. */
static struct str owned_run(const struct output *o, const struct output_at *at)
{
	size_t end = at->piece < o->npieces ? o->pieces[at->piece].at : o->bytes.len;

	assert(at->byte <= end);
	if (at->byte == end)
		return (struct str){ NULL, 0 };
	return (struct str){ (const char *)o->bytes.data + at->byte, end - at->byte };
}

bool output_next(const struct output *o, struct output_at *at, struct str *ret)
{
	if (output_at_end(o, at))
		return false;
	*ret = owned_run(o, at);
	if (ret->n > 0) {
		at->byte += ret->n;
		return true;
	}
	assert(o->pieces[at->piece].source == NULL);
	*ret = o->pieces[at->piece++].lent;
	return true;
}

/* One piece, or of a generated one as much as there is room for. False: there is none. */
static bool expand_one(const struct output *o, struct output_at *at, struct output *to, size_t max_pieces)
{
	struct str owned = owned_run(o, at);
	struct output_source *src;
	uint64_t before;

	if (owned.n > 0) {
		output_lend(to, owned);
		at->byte += owned.n;
		return true;
	}
	src = o->pieces[at->piece].source;
	if (src == NULL) {
		output_lend(to, o->pieces[at->piece++].lent);
		return true;
	}
	before = src->left;
	src->make(src, to, max_pieces);
	if (src->left == 0)
		at->piece++;
	return src->left < before;
}

bool output_expand(const struct output *o, struct output_at *at, struct output *to, size_t max_pieces)
{
	assert(max_pieces >= OUTPUT_PIECES_MIN && to->npieces == 0 && to->bytes.len == 0);
	if (output_at_end(o, at))
		return false;
	while (!output_at_end(o, at) && to->npieces < max_pieces && !to->bytes.failed)
		if (!expand_one(o, at, to, max_pieces))
			break;
	assert(to->npieces > 0 || to->bytes.len > 0 || to->bytes.failed);
	assert(to->npieces <= max_pieces);
	return true;
}
