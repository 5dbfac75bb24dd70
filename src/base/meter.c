/* meter.c — see meter.h. */
#include "base/meter.h"

#define STEPS_BETWEEN_QUESTIONS 262144u /* a fraction of a millisecond */

bool meter_ask(struct meter *m)
{
	if (!m->gave_up && m->stop != NULL && !m->stop(m->arg)) {
		m->left = STEPS_BETWEEN_QUESTIONS;
		return true;
	}
	m->gave_up = true;
	m->left = 0;
	return false;
}
