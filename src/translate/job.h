/* job.h — the Settings of a translation job: from which language to which. [MS-TSSPROC] leaves
 * their meaning to the client; ours is
 *   <settings>
 *     <SourceLanguage>en</SourceLanguage><TargetLanguage>es</TargetLanguage>
 *   </settings>
 * with any root, also as attributes of it. OutputSaveBehavior is the supervisor's
 * (document/behaviour.h). */
#ifndef TRANSLATE_JOB_H
#define TRANSLATE_JOB_H

#include "base/str.h"
#include "translate/failure.h"
#include "translate/languages.h"

struct translate_job {
	char from[TRANSLATE_TAG_MAX], to[TRANSLATE_TAG_MAX];
};

/* What is not understood is refused, so that no wish is passed over in silence. */
MUST_CHECK int translate_job_read(struct str settings, struct translate_job *ret,
				  struct translate_failure *f);

#endif
