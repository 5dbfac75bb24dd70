/* folder.h — a folder with files of our own, which one process uses at a time. */
#ifndef BASE_FOLDER_H
#define BASE_FOLDER_H

#include <stdbool.h>
#include <stdio.h>

#include "base/base.h"

/* As mkdir -p; what is made is for this user only. */
MUST_CHECK bool folder_make(const char *path);

/* fopen(3) of a file in the folder. */
FILE *folder_fopen(const char *dir, const char *name, const char *mode);
MUST_CHECK bool folder_rename(const char *dir, const char *from, const char *to);

/* Descriptors that hold the lock until they are closed. */
struct folder_lock {
	int dir;  /* the folder; -1: its file system knows no locks of folders */
	int file; /* DIR/lock */
};
#define FOLDER_UNLOCKED ((struct folder_lock){ -1, -1 })

/* false with errno; EWOULDBLOCK: another process, or another lock of this one, has it. */
MUST_CHECK bool folder_lock(const char *dir, struct folder_lock *ret);
/* Also what is not locked. */
void folder_unlock(struct folder_lock *l);

#endif
