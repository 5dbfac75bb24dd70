/* job_class.c — see job_class.h. */
#include "schedule/job_class.h"

#define PROJECT "Microsoft.Office.Project.Server.Administration"
#define OFFICE "Microsoft.Office.Server"
#define SIGNED ", Version=12.0.0.0, Culture=neutral, PublicKeyToken=71e9bce111e9429c"
#define PROJECT_CLASS(name) name, PROJECT SIGNED, PROJECT "." name
#define OFFICE_CLASS(space, name) name, OFFICE SIGNED, OFFICE "." space "." name

const struct job_class schedule_classes[] = {
	{ PROJECT_CLASS("PWASSPSubmitSiteCreationTimerJob"), JOB_DATA_NONE, true, NULL },
	{ PROJECT_CLASS("PWASSPSubmitServerScheduledTimerJob"), JOB_DATA_NONE, true, NULL },
	{ OFFICE_CLASS("UserProfiles", "UserProfileChangeJob"), JOB_DATA_NONE, false, "update-colleagues" },
	{ OFFICE_CLASS("UserProfiles", "UserProfileChangeCleanupJob"), JOB_DATA_NONE, false,
	  "delete-change-events" },
	{ OFFICE_CLASS("UserProfiles", "UserProfileImportJob"), JOB_DATA_INCREMENTAL, false, NULL },
	{ OFFICE_CLASS("UserProfiles", "UserProfileGradualUpgradeChangeJob"), JOB_DATA_UPGRADE, false,
	  "sync-changes" },
	{ OFFICE_CLASS("UserProfiles", "DLImportJob"), JOB_DATA_NONE, false, "import-distribution-lists" },
	{ OFFICE_CLASS("Audience", "AudienceCompilationJob"), JOB_DATA_NONE, false, "compile-audiences" },
};
const size_t schedule_classes_count = ARRAY_LEN(schedule_classes);

static struct str without_trailing_blanks(struct str s)
{
	while (s.n > 0 && s.p[s.n - 1] == ' ')
		s.n--;
	return s;
}

const struct job_class *schedule_class_find(struct str assembly, struct str class)
{
	for (size_t i = 0; i < schedule_classes_count; i++)
		if (str_eq(without_trailing_blanks(assembly), str_of(schedule_classes[i].assembly)) &&
		    str_eq(without_trailing_blanks(class), str_of(schedule_classes[i].class)))
			return &schedule_classes[i];
	return NULL;
}

const struct job_class *schedule_class_by_name(struct str name)
{
	for (size_t i = 0; i < schedule_classes_count; i++)
		if (str_eq_nocase(name, str_of(schedule_classes[i].name)) ||
		    str_eq_nocase(name, str_of(schedule_classes[i].class)))
			return &schedule_classes[i];
	return NULL;
}

const char *schedule_class_action(const struct job_class *c, struct str data)
{
	if (c->ignored || c->data != JOB_DATA_INCREMENTAL)
		return c->action;
	if (str_eq(data, STR("IsIncremental#False")))
		return "full-import";
	return str_eq(data, STR("IsIncremental#True")) ? "incremental-import" : NULL;
}

const char *schedule_class_check_data(const struct job_class *c, struct str data)
{
	switch (c->data) {
	case JOB_DATA_INCREMENTAL:
		return schedule_class_action(c, data) != NULL
			       ? NULL
			       : "this class needs the job data IsIncremental#True or IsIncremental#False";
	case JOB_DATA_UPGRADE: return NULL;
	case JOB_DATA_NONE: break;
	}
	return data.n == 0 ? NULL : "this class takes no job data";
}
