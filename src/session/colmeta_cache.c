/* colmeta_cache.c — the COLMETADATA of procedures, ready to be sent. Its bytes depend on nothing
 * but the columns, which are constant, and making them is half of what is to be done for a call
 * that finds no rows. */
#include "session/colmeta_cache.h"

#include <stdlib.h>

#include "catalogue/proc.h"
#include "tds/out.h"

#define SAME_SINCE TDS_73A /* earlier ones have no date types, or text pointers */
#define BYTES_MAX ((size_t)1 << 20)

struct colmeta_entry {
	const struct column *columns;
	size_t at, n; /* of bytes */
};

static int by_address(const void *a, const void *b)
{
	uintptr_t x = (uintptr_t)((const struct colmeta_entry *)a)->columns,
		  y = (uintptr_t)((const struct colmeta_entry *)b)->columns;

	return x < y ? -1 : x > y;
}

/* Behind the bytes of those before. */
static void make(struct colmeta_cache *h, struct colmeta_entry *ret, const struct step *st)
{
	struct tds_out o;

	tds_out_init(&o, TDS_PACKET_MAX);
	o.packet_size = TDS_PACKET_MAX;
	tds_out_begin(&o, TDS_MSG_RESPONSE);
	tds_put_colmetadata(&o, st->columns, st->ncolumns);
	tds_out_end(&o);
	*ret = (struct colmeta_entry){ st->columns, h->bytes.len, o.wire.bytes.len - TDS_HEADER_LEN };
	if (tds_out_failed(&o))
		h->bytes.failed = true;
	else
		buf_put(&h->bytes, o.wire.bytes.data + TDS_HEADER_LEN, ret->n);
	tds_out_fini(&o);
}

/* all NULL: only counts. */
static size_t each(struct colmeta_cache *h, struct colmeta_entry *all)
{
	size_t n = 0;

	for (int s = 0; s < SERVICE_COUNT; s++) {
		for (size_t i = 0; i < catalogue_service_procs[s].nprocs; i++) {
			const struct proc *p = &catalogue_service_procs[s].procs[i];

			for (size_t k = 0; k < p->nsteps; k++) {
				if (p->steps[k].columns == NULL)
					continue;
				if (all != NULL)
					make(h, &all[n], &p->steps[k]);
				n++;
			}
		}
	}
	return n;
}

int session_colmeta_cache_make(struct colmeta_cache *h, struct err *reterr)
{
	buf_init(&h->bytes, BYTES_MAX);
	h->n = each(h, NULL);
	h->all = calloc(h->n, sizeof(*h->all));
	if (h->all != NULL)
		each(h, h->all);
	if (h->all == NULL || h->bytes.failed) {
		session_colmeta_cache_fini(h);
		return err_nomem(reterr);
	}
	qsort(h->all, h->n, sizeof(*h->all), by_address);
	return 0;
}

void session_colmeta_cache_fini(struct colmeta_cache *h)
{
	free(h->all);
	buf_fini(&h->bytes);
	*h = (struct colmeta_cache){ .all = NULL };
}

struct str session_colmeta_cache_find(const struct colmeta_cache *h, const struct column *columns,
				      enum tds_version v)
{
	size_t low = 0, high = v < SAME_SINCE ? 0 : h->n;

	while (low < high) {
		const struct colmeta_entry *mid = &h->all[low + (high - low) / 2];

		if (mid->columns == columns)
			return (struct str){ (const char *)h->bytes.data + mid->at, mid->n };
		if ((uintptr_t)columns < (uintptr_t)mid->columns)
			high = (size_t)(mid - h->all);
		else
			low = (size_t)(mid - h->all) + 1;
	}
	return (struct str){ NULL, 0 };
}
