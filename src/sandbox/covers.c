/* SPDX-License-Identifier: MIT */
/* covers: hold each file, compare by device and inode. */

#include "sandbox/covers.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/message.h"
#include "base/own.h"
#include "sandbox/canonical.h"
#include "sandbox/limits.h"

struct cover {
	const char *name; /* as the operator wrote it */
	int file;	  /* what it led to when it was covered: O_PATH, or -1 */
	struct stat st;	  /* of that */
};

struct covers {
	struct buf text;  /* `home` and the names, each with its NUL */
	const char *home; /* or NULL */
	struct cover *named;
	size_t count;
	int before[LIMIT_COVERED_BEFORE]; /* files that have lost their name; -1: none */
	size_t next;			  /* the oldest of them */
};

struct covers *covers_new(struct path_list names, const char *home)
{
	struct covers *c = mem_new(1, sizeof *c);

	if (!c)
		return NULL;
	for (size_t i = 0; i < LIMIT_COVERED_BEFORE; i++)
		c->before[i] = -1;
	c->text.max = SIZE_MAX / 2;
	strings_add(&c->text, str_of(home));
	for (size_t i = 0; i < names.count; i++)
		strings_add(&c->text, str_of(names.item[i]));
	c->named = mem_new(names.count + 1, sizeof *c->named);
	if (c->text.failed || !c->named) {
		covers_free(c);
		return NULL;
	}
	c->home = home ? c->text.p : NULL;
	const char *next = c->text.p + strlen(c->text.p) + 1;
	for (; c->count < names.count; next += strlen(next) + 1)
		c->named[c->count++] = (struct cover){ .name = next, .file = -1 };
	return c;
}

void covers_free(struct covers *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->count; i++)
		fd_closep(&c->named[i].file);
	for (size_t i = 0; i < LIMIT_COVERED_BEFORE; i++)
		fd_closep(&c->before[i]);
	mem_free(c->named);
	buf_done(&c->text);
	mem_free(c);
}

/* Does it lead to another file than the one that is held? */
static bool has_changed(const struct cover *one)
{
	struct stat st;

	return stat(one->name, &st) == 0 &&
	       (one->file < 0 || st.st_dev != one->st.st_dev || st.st_ino != one->st.st_ino);
}

bool covers_have_changed(const struct covers *c)
{
	for (size_t i = 0; i < c->count; i++)
		if (has_changed(&c->named[i]))
			return true;
	return false;
}

/* Hold what the name leads to now; but if that is out of `home`, only what it led to before. */
static void look_again(struct covers *c, struct cover *one)
{
	char name[PATH_MAX];
	AUTO_FD file = open(one->name, O_PATH | O_CLOEXEC);

	if (file < 0 || fstat(file, &one->st) < 0)
		return;
	if (one->file >= 0 && !canonical_name(one->name, c->home, name))
		return;
	if (one->file >= 0) {
		fd_closep(&c->before[c->next]);
		c->before[c->next] = one->file;
		c->next = (c->next + 1) % LIMIT_COVERED_BEFORE;
	}
	one->file = TAKE(file, -1);
}

/* The name that a file has now. */
static bool name_of(int file, char name[PATH_MAX])
{
	char self[32];

	(void)snprintf(self, sizeof self, "/proc/self/fd/%d", file);
	return canonical_name(self, NULL, name);
}

uint32_t covers_list(struct covers *c, struct buf *names)
{
	uint32_t count = 0;
	struct stat st;
	char name[PATH_MAX];

	for (size_t i = 0; i < c->count; i++) {
		struct cover *one = &c->named[i];
		if (has_changed(one))
			look_again(c, one);
		/* By the second way if there is no /proc. */
		if (!name_of(one->file, name) && !canonical_name(one->name, c->home, name))
			continue;
		strings_add(names, str_of(name));
		count++;
	}
	for (size_t i = 0; i < LIMIT_COVERED_BEFORE; i++) {
		/* What is deleted shall not take up space because it is held. */
		if (fstat(c->before[i], &st) == 0 && st.st_nlink == 0)
			fd_closep(&c->before[i]);
		if (!name_of(c->before[i], name))
			continue;
		strings_add(names, str_of(name));
		count++;
	}
	return count;
}
