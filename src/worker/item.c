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

/* Who was stopped did not fail; but starting it took an attempt, and that may have been its
 * last. */
void worker_item_give_back(struct item *i, const char *why)
{
	i->give_back = true;
	i->error = DOCUMENT_CANCELLED;
	snprintf(i->text, sizeof(i->text), "%s%s", why, i->attempts == 0 ? ", and no attempt is left" : "");
}

bool worker_item_is_final(const struct item *i)
{
	return !i->lost && (i->error == DOCUMENT_OK || !document_error_retry(i->error) || i->attempts == 0);
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
