/* SPDX-License-Identifier: MIT */
/* mounts: everything read-only, some things private, some hidden, the workspace as it was. */

#include "sandbox/mounts.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/own.h"
#include "sandbox/canonical.h"

/* The kernel's interface, which C libraries began to declare at different times. */
struct attributes {
	uint64_t set, clear, propagation, userns_fd;
};

enum { TREE_CLONE = 1, MOVE_FROM_FD = 4, READ_ONLY = 1, RECURSIVE = 0x8000 };

/* A tree of mounts taken before everything is made read-only, to be put back where it was. */
struct kept {
	const char *path;
	int tree;
	bool is_dir;
	bool read_only;
};

static int take_tree(const char *name)
{
	AUTO_FD at = canonical_open(name);

	if (at < 0)
		return -1;
	return (int)syscall(SYS_open_tree, at, "",
			    TREE_CLONE | O_CLOEXEC | RECURSIVE | AT_EMPTY_PATH);
}

static int put_tree(int tree, const char *path)
{
	return (int)syscall(SYS_move_mount, tree, "", AT_FDCWD, path, MOVE_FROM_FD);
}

static int make_read_only(const char *path)
{
	const struct attributes a = { .set = READ_ONLY };

	return (int)syscall(SYS_mount_setattr, AT_FDCWD, path, RECURSIVE, &a, sizeof(a));
}

/* Make sure that there is something to mount on; it may lie in a private directory by now. */
static int make_place(const char *path, bool is_dir)
{
	char at[PATH_MAX];
	struct stat st;

	if (stat(path, &st) == 0)
		return 0;
	if (snprintf(at, sizeof(at), "%s", path) >= (int)sizeof(at)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	for (char *slash = at + 1; (slash = strchr(slash, '/')); *slash++ = '/') {
		*slash = '\0';
		if (mkdir(at, 0755) < 0 && errno != EEXIST)
			return -1;
	}
	if (is_dir)
		return mkdir(at, 0755);
	AUTO_FD fd = open(at, O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
	return fd < 0 ? -1 : 0;
}

static int keep(struct kept *k, const char *path, bool read_only)
{
	struct stat st;

	*k = (struct kept){ .path = path, .tree = take_tree(path), .read_only = read_only };
	if (k->tree < 0 || fstat(k->tree, &st) < 0)
		return -1;
	k->is_dir = S_ISDIR(st.st_mode);
	return 0;
}

static int put_back(const struct kept *k)
{
	if (put_tree(k->tree, k->path) < 0)
		return -1;
	return k->read_only ? make_read_only(k->path) : 0;
}

/* The directories above a mount in a private directory are the commands' own to rename, and the
 * mount would go along: the next command would not find its workspace. So the highest of them
 * becomes a mount of its own, which cannot be renamed and in which nothing can be changed. */
static int hold_place(const char *path)
{
	static const char *const private[] = { "/tmp/", "/dev/shm/" };
	char top[PATH_MAX];

	for (size_t i = 0; i < ARRAY_LEN(private); i++) {
		const size_t n = strlen(private[i]);
		const char *slash =
			strncmp(path, private[i], n) == 0 ? strchr(path + n, '/') : NULL;
		if (!slash)
			continue;
		(void)snprintf(top, sizeof(top), "%.*s", (int)(slash - path), path);
		if (mount(top, top, NULL, MS_BIND, NULL) < 0 || make_read_only(top) < 0)
			return -1;
	}
	return 0;
}

/* All places before anything is held or mounted: later there is no making any. */
static int put_all_back(const struct kept *kept, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (make_place(kept[i].path, kept[i].is_dir) < 0)
			return -1;
	for (size_t i = 0; i < count; i++)
		if (hold_place(kept[i].path) < 0)
			return -1;
	for (size_t i = 0; i < count; i++)
		if (put_back(&kept[i]) < 0)
			return -1;
	return 0;
}

/* Cover a file by one that nobody without capabilities can open. */
static int seal(const char *path)
{
	/* The private /tmp is the one place where a file can be made. Its name is not needed once
	 * it is mounted, and no earlier command can have guessed it. */
	char cover[] = "/tmp/.sealed-XXXXXX";
	AUTO_FD fd = mkostemp(cover, O_CLOEXEC);

	if (fd < 0)
		return -1;
	const int bad = fchmod(fd, 0) < 0 ? -1 : mount(cover, path, NULL, MS_BIND, NULL);
	return unlink(cover) < 0 ? -1 : bad;
}

/* Put something empty over a directory, something sealed over a file. What is not there needs no
 * hiding. */
static int hide(const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return 0;
	if (S_ISDIR(st.st_mode))
		return mount("none", path, "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, "mode=0755");
	return seal(path);
}

/* In a private directory there may be a command's link by such a name: nothing of ours to hide. */
static int hide_list(struct path_list list)
{
	for (size_t i = 0; i < list.count; i++) {
		AUTO_FD fd = canonical_open(list.item[i]);
		if (fd >= 0 && hide(list.item[i]) < 0)
			return -1;
	}
	return 0;
}

/* Called for everything in /etc, directories first. */
static int hide_secret(const char *path, const struct stat *st, int type, struct FTW *at)
{
	const bool dir = S_ISDIR(st->st_mode);

	(void)at;
	if (type == FTW_SL || type == FTW_NS || st->st_mode & (dir ? S_IXOTH : S_IROTH))
		return FTW_CONTINUE;
	if (hide(path) < 0)
		return FTW_STOP;
	return dir ? FTW_SKIP_SUBTREE : FTW_CONTINUE;
}

/* Password hashes, host keys and the like: what not everybody may read in /etc, strict must not
 * show, though /etc is to be read and the owner of it all may be us. */
static int hide_secrets(void)
{
	enum { DIRS = 16 }; /* open at once */

	return access("/etc", F_OK) < 0
		       ? 0
		       : nftw("/etc", hide_secret, DIRS, FTW_PHYS | FTW_ACTIONRETVAL);
}

/* /run is where other programs have their sockets; the resolver's file often lies there, too. */
static int hide_run(void)
{
	char resolver[PATH_MAX];
	struct kept k = { .tree = -1 };

	if (realpath("/etc/resolv.conf", resolver) && strncmp(resolver, "/run/", 5) == 0)
		(void)keep(&k, resolver, true);
	int bad = hide("/run");
	if (k.tree >= 0 && !bad)
		bad = make_place(resolver, k.is_dir) < 0 ? -1 : put_back(&k);
	fd_closep(&k.tree);
	struct stat run, var_run;
	if (!bad && stat("/run", &run) == 0 && stat("/var/run", &var_run) == 0 &&
	    (run.st_dev != var_run.st_dev || run.st_ino != var_run.st_ino))
		bad = hide("/var/run");
	return bad;
}

static int make_private(int scratch)
{
	if (put_tree(scratch, "/tmp") < 0)
		return -1;
	if (access("/dev/shm", F_OK) == 0 &&
	    mount("none", "/dev/shm", "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777") < 0)
		return -1;
	/* Without it commands have no terminals of their own, and none of anybody else's. */
	(void)mount("none", "/dev/pts", "devpts", MS_NOSUID | MS_NOEXEC, "ptmxmode=0666,mode=620");
	return mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL);
}

/* What is gone, or is a link by now, is left out. */
static int keep_list(struct kept *kept, size_t *count, struct path_list list, bool read_only)
{
	for (size_t i = 0; i < list.count; i++) {
		if (keep(&kept[*count], list.item[i], read_only) == 0)
			(*count)++;
		else if (errno != ENOENT && errno != ENOTDIR && errno != ELOOP)
			return -1;
	}
	return 0;
}

static int arrange(const struct sandbox_config *c, struct kept *kept, size_t *count)
{
	char cwd[PATH_MAX];
	const bool here = getcwd(cwd, sizeof(cwd)) != NULL;

	if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return -1;
	AUTO_FD scratch = take_tree(c->scratch);
	if (scratch < 0 || keep_list(kept, count, c->read, true) < 0 ||
	    keep(&kept[(*count)++], c->workspace, c->read_only) < 0 ||
	    keep_list(kept, count, c->write, false) < 0)
		return -1;
	if (make_read_only("/") < 0 || make_private(scratch) < 0 || hide_run() != 0 ||
	    put_all_back(kept, *count) < 0)
		return -1;
	/* From now on a relative name is looked for in what commands will see. */
	if (here)
		(void)chdir(cwd);
	if (hide_list(c->hide) < 0)
		return -1;
	if (c->mode == SANDBOX_STRICT && hide_secrets() != 0)
		return -1;
	/* Nobody may stand on a mount that is now covered. */
	return chdir("/");
}

int mounts_arrange(const struct sandbox_config *c, struct err *e)
{
	struct kept *kept = mem_new(c->read.count + c->write.count + 1, sizeof(*kept));
	size_t count = 0;

	if (!kept)
		return err_set(e, ERR_SPAWN_FAILED, "There is no memory for the sandbox");
	const int bad = arrange(c, kept, &count);
	if (bad)
		(void)err_errno(e, "The sandbox's mounts cannot be arranged");
	for (size_t i = 0; i < count; i++)
		fd_closep(&kept[i].tree);
	mem_free(kept);
	return bad ? -1 : 0;
}
