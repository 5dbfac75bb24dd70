/* profile.c — what LibreOffice is told before it starts. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "convert/nursery_int.h"

#define ITEM(path, name, value) \
	"<item oor:path=\"/org.openoffice." path "\"><prop oor:name=\"" name \
	"\" oor:op=\"fuse\"><value>" value "</value></prop></item>\n"

static const char text[] = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
			   "<oor:items xmlns:oor=\"http://openoffice.org/2001/registry\" "
			   "xmlns:xs=\"http://www.w3.org/2001/XMLSchema\" "
			   "xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\">\n"
	/* Without it LibreOffice tests its graphics at every start, three quarters of the time
	 * of a short document. */
	ITEM("Setup/Product", "ooSetupLastVersion", "99.9")
		ITEM("Setup/Office", "ooSetupInstCompleted", "true")
	/* Macros are not run, and nothing is fetched because a document says so. */
	ITEM("Office.Common/Security/Scripting", "DisableMacrosExecution", "true")
		ITEM("Office.Common/Security/Scripting", "MacroSecurityLevel", "3")
			ITEM("Office.Common/Security/Scripting", "BlockUntrustedRefererLinks", "true")
				ITEM("Office.Common/Security/Scripting", "DisableActiveContent", "true")
					ITEM("Office.Writer/Content/Update", "Link", "0")
	/* Nobody is there to be asked about a document that was lost. */
	ITEM("Office.Common/Save/Document", "AutoSave", "false")
		ITEM("Office.Recovery/RecoveryInfo", "Enabled", "false")
	/* What is written says nothing about who wrote it. */
	ITEM("Office.Common/Save/Document", "UseUserData", "false");

int convert_write_profile(const char *path, const char *language)
{
	int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600), n;

	if (fd < 0)
		return -1;
	n = dprintf(fd, "%s", text);
	/* What the load option Language= says to LibreOfficeKit: the paper of text and HTML. */
	if (n > 0 && language[0] != '\0')
		n = dprintf(fd,
			    ITEM("Setup/L10N", "ooSetupSystemLocale", "%s")
				    ITEM("Office.Linguistic/General", "DefaultLocale", "%s"),
			    language, language);
	if (n > 0)
		n = dprintf(fd, "</oor:items>\n");
	close(fd);
	return n > 0 ? 0 : -1;
}
