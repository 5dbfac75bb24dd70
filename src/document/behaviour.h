/* behaviour.h — the one setting of a job that concerns its files and not its engine: what
 * happens to an output that is there already. */
#ifndef DOCUMENT_BEHAVIOUR_H
#define DOCUMENT_BEHAVIOUR_H

#include "base/base.h"

/* True when Settings has OutputSaveBehavior AlwaysOverwrite or AppendIfPossible (a folder keeps
 * no versions to append to): as an element with this text or as an attribute, at any depth.
 * Absent, NeverOverwrite, a document type or no XML: false. */
bool document_settings_replace(const char *settings, size_t n);

#endif
