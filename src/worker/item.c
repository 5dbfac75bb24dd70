/* item.c — an item on its way; see worker_int.h. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "worker/worker_int.h"

void worker_item_tag(const struct queue_service *s, const struct queue_key *k, char dst[TAG_MAX])
{
	snprintf(dst, TAG_MAX, "%c%llx-%x-%x", s->letter, (unsigned long long)k->job,
		 (unsigned)k->group & 0xffffu, (unsigned)k->item);
}

void worker_item_free(struct item *i)
{
	if (i->input_fd >= 0)
		close(i->input_fd);
	if (i->out != NULL && i->lost)
		document_output_keep(i->out);
	else
		document_output_close(i->out);
	free(i->input_root);
	free(i->input);
	free(i->output_root);
	free(i->output);
	free(i->settings);
	free(i);
}
