/* jobs.h — the XML documents of the two job databases, [MS-WORDSSP2] 2.2.6.4 and [MS-TSSPROC]
 * 2.2.6.4, as natives of their procedures:
 *
 *   NATIVE word_group(@JobXml)              reads and checks a databaseJobAdd document; it is
 *                                           kept for the rest of the call
 *   EACH   group_items() AS ($id, $in, $out)
 *   NATIVE word_batch(@BatchXml)            reads and checks a databaseBatchUpdate document
 *   EACH   batch_start() AS ($job, $group, $id, $wsi)
 *                                           the last mention of each item [E-WORD-22]
 *   EACH   batch_failed() AS ($job, $group, $id, $error)
 *   EACH   batch_groups() AS ($job, $group)
 *                                           groups with an item that one of the two changed, in
 *                                           order [E-WORD-23]
 *
 * translation_group and translation_batch are the same for the other database. */
#ifndef SERVICE_JOBS_H
#define SERVICE_JOBS_H

struct catalogue_natives;
void service_jobs_register(struct catalogue_natives *all);

#endif
