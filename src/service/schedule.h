/* schedule.h — the rules of [MS-SSPSJ] for a job's fields, as a native of its procedures:
 *
 *   NATIVE schedule_check(@JobId, @Assembly, @Class, @Recurrence, @NextDueTime, @JobData,
 *   @Disabled, @DisplayName, :literal) INTO @problem, @name
 *
 * @problem is NULL, or a sentence that names the parameter and the rule [E-SCHED-03]; @name is
 * then NULL, and otherwise @DisplayName as it is to be stored. */
#ifndef SERVICE_SCHEDULE_H
#define SERVICE_SCHEDULE_H

struct catalogue_natives;
void service_schedule_register(struct catalogue_natives *all);

#endif
