/* machine.h — how much memory there is for this process. */
#ifndef DAEMON_MACHINE_H
#define DAEMON_MACHINE_H

#include "base/base.h"

/* Bytes: the machine's, or less where its control group (a container, MemoryMax of systemd) has
 * less. */
uint64_t daemon_machine_memory(void);

#endif
