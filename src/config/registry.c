/* SPDX-License-Identifier: MIT */
/* registry: a directory that is checked, files with a lock, sockets that answer. */

#include "config/registry.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/address.h"
#include "base/io.h"
#include "base/json.h"
#include "base/own.h"
#include "base/sha256.h"
#include "net/dial.h"
#include "net/limits.h"

/* Where the directory is, whether it exists or not: the i-th place to look at, from 0. False: there
 * are no more. Agents start servers without the variable: a process that has its usual value looks
 * where those are as well. */
static bool place_at(size_t i, char path[REGISTRY_PATH])
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");
	char usual[32];
	int n = 0;

	(void)snprintf(usual, sizeof usual, "/run/user/%u", (unsigned)geteuid());
	const bool own = runtime && *runtime == '/' && strcmp(runtime, usual) != 0;
	if (i == 0)
		n = snprintf(path, REGISTRY_PATH, "%s/sidecar", own ? runtime : usual);
	else if (i == 1 && !own && geteuid() == 0)
		n = snprintf(path, REGISTRY_PATH, "/run/sidecar");
	else if (!own && i == 1 + (geteuid() == 0))
		n = snprintf(path, REGISTRY_PATH, "/tmp/sidecar-%u", (unsigned)geteuid());
	else
		return false;
	if (n >= REGISTRY_PATH)
		path[0] = '\0';
	return true;
}

/* Open a place that is safe to use; -1 with errno. Root's may be entered by others, because the
 * sockets of servers lie there, too; what is entered is for the owner alone in any case. */
static int open_place(const char *path)
{
	AUTO_FD fd = *path ? open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -1;
	const bool shared = strcmp(path, "/run/sidecar") == 0;
	if (st.st_uid != geteuid() || (shared && st.st_mode & (S_IWGRP | S_IWOTH))) {
		errno = EPERM;
		return -1;
	}
	if (!shared && (st.st_mode & 0777) != 0700 && fchmod(fd, 0700) < 0)
		return -1;
	return TAKE(fd, -1);
}

/* The same, after it was made if it is missing. */
static int make_and_open(const char *path)
{
	const mode_t mode = strcmp(path, "/run/sidecar") == 0 ? 0755 : 0700;

	return *path && (mkdir(path, mode) == 0 || errno == EEXIST) ? open_place(path) : -1;
}

/* The place of this process; it is made if it is missing. Without the variable it is the first that
 * can be used of those that do not end with a login. */
static int make_place(char path[REGISTRY_PATH], struct err *e)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");
	const bool has_runtime = runtime && *runtime == '/';
	int error = ENOENT;
	char first[REGISTRY_PATH] = "";

	for (size_t i = !has_runtime; place_at(i, path); i++) {
		const int fd = make_and_open(path);
		if (fd >= 0)
			return fd;
		if (!*first) {
			error = *path ? errno : ENAMETOOLONG;
			(void)snprintf(first, sizeof first, "%s", path);
		}
		if (has_runtime)
			break;
	}
	errno = error;
	if (error == EPERM || error == ENOTDIR || error == ELOOP)
		return err_set(e, ERR_PERMISSION_DENIED,
			       "%s is not a directory of this user alone: remove it", first);
	return err_errno(e, "Cannot use the directory %s", *first ? first : "of running sidecars");
}

int registry_keep(const char *name, struct str text, struct registry_entry *ret, struct err *e)
{
	struct registry_entry entry = { .lock = -1 };
	char dir[REGISTRY_PATH], made[REGISTRY_PATH];

	AUTO_FD place = make_place(dir, e);
	if (place < 0)
		return -1;
	(void)snprintf(made, sizeof made, ".%s", name);
	if (snprintf(entry.path, sizeof entry.path, "%s/%s", dir, name) >= REGISTRY_PATH)
		return err_set(e, ERR_INVALID_PATH, "%s is too long", dir);
	(void)unlinkat(place, made, 0);
	AUTO_FD fd = openat(place, made, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0 || io_write_all(fd, text, IO_FOREVER) < 0 ||
	    renameat(place, made, place, name) < 0) {
		(void)err_errno(e, "Cannot write %s", entry.path);
		(void)unlinkat(place, made, 0);
		return -1;
	}
	entry.lock = TAKE(fd, -1);
	*ret = entry;
	return 0;
}

int registry_open_turns(void)
{
	char dir[REGISTRY_PATH];

	for (size_t i = 0; place_at(i, dir); i++) {
		AUTO_FD place = make_and_open(dir);
		AUTO_FD fd =
			place < 0 ? -1
				  : openat(place, "turns",
					   O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC,
					   0600);
		/* What removes old files from /tmp leaves those that are locked. */
		if (fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) == 0)
			return TAKE(fd, -1);
	}
	return -1;
}

/* Who looks at all of them removes what the dead have left. */
static void tidy(void)
{
	AUTO_ARENA ignored = { .max = LIMIT_ANSWER };

	(void)registry_list(&ignored);
}

int registry_enter(struct str object, struct registry_entry *ret, struct err *e)
{
	char name[32];

	tidy();
	(void)snprintf(name, sizeof name, "serve-%d.json", (int)getpid());
	return registry_keep(name, object, ret, e);
}

/* The name of the file with the token of the server there; false: that is not an address. Another
 * user may listen at another address of the same port, so the name has both. */
static bool token_name(const char *host, int64_t port, char name[REGISTRY_PATH])
{
	struct sockaddr_storage address;
	char ip[INET6_ADDRSTRLEN];

	if (address_parse(host, port, &address) == 0)
		return false;
	const void *at = address.ss_family == AF_INET6
				 ? (const void *)&((struct sockaddr_in6 *)&address)->sin6_addr
				 : &((struct sockaddr_in *)&address)->sin_addr;
	if (!inet_ntop(address.ss_family, at, ip, sizeof ip))
		return false;
	(void)snprintf(name, REGISTRY_PATH, "tcp-%s-%d.token", ip, (int)port);
	return true;
}

int registry_make_token(const char *host, int64_t port, char token[REGISTRY_TOKEN + 1],
			struct registry_entry *ret, struct err *e)
{
	char name[REGISTRY_PATH];
	unsigned char random[REGISTRY_TOKEN / 2];

	if (!token_name(host, port, name))
		return err_set(e, ERR_INVALID_ARGUMENTS, "%s is not an address", host);
	io_random(random, sizeof random);
	for (size_t i = 0; i < sizeof random; i++)
		(void)snprintf(token + 2 * i, 3, "%02x", random[i]);
	return registry_keep(name, (struct str){ token, REGISTRY_TOKEN }, ret, e);
}

void registry_leave(struct registry_entry *entry)
{
	if (!*entry->path)
		return;
	(void)unlink(entry->path);
	fd_closep(&entry->lock);
	entry->path[0] = '\0';
}

int registry_socket(struct str workspace, char out[REGISTRY_PATH], struct err *e)
{
	const char *slash = memrchr(workspace.p, '/', workspace.n);
	const struct str last =
		slash ? str_from(workspace, (size_t)(slash - workspace.p) + 1) : workspace;
	uint8_t hash[SHA256_SIZE];
	char dir[REGISTRY_PATH], hex[SHA256_TEXT];

	AUTO_FD place = make_place(dir, e);
	if (place < 0)
		return -1;
	sha256_of(workspace, hash);
	/* The hash tells workspaces of one name apart. */
	if (snprintf(out, REGISTRY_PATH, "%s/%.*s-%.8s.sock", dir, STR_FMT(str_upto(last, 24)),
		     sha256_text(hash, hex).p) >= REGISTRY_PATH)
		return err_set(e, ERR_INVALID_PATH, "%s is too long for a socket", dir);
	return 0;
}

int registry_listen(struct listener *ret, struct err *e)
{
	struct listener l;
	char dir[REGISTRY_PATH], made[REGISTRY_PATH + 32], path[sizeof l.path];

	tidy();
	AUTO_FD place = make_place(dir, e);
	if (place < 0)
		return -1;
	(void)snprintf(made, sizeof made, "%s/.mcp-%d.sock", dir, (int)getpid());
	if (snprintf(path, sizeof path, "%s/mcp-%d.sock", dir, (int)getpid()) >= (int)sizeof path)
		return err_set(e, ERR_INVALID_PATH, "%s is too long for a socket", dir);
	if (listen_unix(made, 0600, &l, e) < 0)
		return -1;
	if (rename(made, path) < 0) {
		(void)err_errno(e, "Cannot make %s", path);
		listener_done(&l);
		return -1;
	}
	memcpy(l.path, path, sizeof path);
	*ret = l;
	return 0;
}

bool registry_shows(struct str path)
{
	static const struct str routes[] = { STR("/health"), STR("/events"), STR("/calls"),
					     STR("/changes"), STR("/ui") };

	for (size_t i = 0; i < ARRAY_LEN(routes); i++)
		if (str_starts(path, routes[i]) &&
		    (path.n == routes[i].n || path.p[routes[i].n] == '/'))
			return true;
	return false;
}

/* The number in a name such as "serve-41.json"; 0: it is not of that form. */
static pid_t pid_in(const char *name, struct str prefix, struct str suffix)
{
	struct str rest = str_of(name);
	int64_t pid;

	if (!str_starts(rest, prefix) || !str_ends(rest, suffix) || rest.n <= prefix.n + suffix.n)
		return 0;
	rest = str_from(str_upto(rest, rest.n - suffix.n), prefix.n);
	return str_int(rest, &pid) && pid > 0 && pid <= INT32_MAX ? (pid_t)pid : 0;
}

static bool is_token(const char *name)
{
	return str_starts(str_of(name), STR("tcp-")) && str_ends(str_of(name), STR(".token"));
}

/* Remove what a process that has ended has left, unless another has taken its name meanwhile. */
static void remove_dead(int place, const char *name, const struct stat *left)
{
	struct stat st;

	if (fstatat(place, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && st.st_ino == left->st_ino &&
	    st.st_dev == left->st_dev)
		(void)unlinkat(place, name, 0);
}

/* What a process that runs has entered; empty if it has ended. */
static struct str read_entry(int place, const char *name, struct arena *a)
{
	AUTO_FD fd = openat(place, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_uid != geteuid())
		return STR("");
	const bool dead = flock(fd, LOCK_SH | LOCK_NB) == 0;
	if (dead)
		remove_dead(place, name, &st);
	if (dead || errno != EWOULDBLOCK)
		return STR("");
	/* Not on the stack: the thread that connects for a command has a small one. */
	const size_t most = LIMIT_REGISTRY_ENTRY;
	const size_t size = (uint64_t)st.st_size < most ? (size_t)st.st_size : most;
	char *text = arena_alloc(a, size + 1);
	const ssize_t n = text ? io_read_full(fd, text, size) : -1;
	return n > 0 ? (struct str){ text, (size_t)n } : STR("");
}

bool registry_find_token(const char *host, int64_t port, char token[REGISTRY_TOKEN + 1])
{
	char dir[REGISTRY_PATH], name[REGISTRY_PATH];
	AUTO_ARENA a = { .max = 2 * LIMIT_REGISTRY_ENTRY };

	for (size_t i = 0; token_name(host, port, name) && place_at(i, dir); i++) {
		AUTO_FD place = open_place(dir);
		const struct str text = place < 0 ? STR("") : read_entry(place, name, &a);
		if (text.n != REGISTRY_TOKEN)
			continue;
		memcpy(token, text.p, REGISTRY_TOKEN);
		token[REGISTRY_TOKEN] = '\0';
		return true;
	}
	return false;
}

/* The path of a socket that answers; empty if none listens there any more. */
static struct str try_socket(int place, const char *dir, const char *name, struct arena *a)
{
	char path[REGISTRY_PATH + NAME_MAX];
	enum dial_failure failure = DIAL_REFUSED;
	struct stat st;
	struct err e;

	if (snprintf(path, sizeof path, "%s/%s", dir, name) >= DIAL_PATH_SIZE ||
	    fstatat(place, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISSOCK(st.st_mode) ||
	    st.st_uid != geteuid())
		return STR("");
	AUTO_FD fd = dial(&(struct dial_target){ .path = path }, NULL, io_now_ms() + LIMIT_STALE_MS,
			  &failure, &e);
	if (fd < 0 && failure == DIAL_ABSENT)
		remove_dead(place, name, &st);
	return fd < 0 ? STR("") : arena_dup(a, str_of(path));
}

/* Add the sidecars that are entered in one place: servers, and MCP servers if those are asked for. */
static void list_place(const char *dir, bool mcp, struct arena *a, struct registry_found **list)
{
	AUTO_FD place = open_place(dir);
	DIR *d = place < 0 ? NULL : fdopendir(dup(place));

	for (const struct dirent *at; d && (at = readdir(d));) {
		struct registry_found found = { .next = *list };
		if ((found.pid = pid_in(at->d_name, STR("serve-"), STR(".json"))))
			found.object = read_entry(place, at->d_name, a);
		else if (pid_in(at->d_name, STR("ui-"), STR(".html")) || is_token(at->d_name))
			(void)read_entry(place, at->d_name, a);
		else if (mcp && (found.pid = pid_in(at->d_name, STR("mcp-"), STR(".sock"))))
			found.socket = try_socket(place, dir, at->d_name, a);
		struct registry_found *kept =
			found.object.n || found.socket.n ? arena_alloc(a, sizeof *kept) : NULL;
		if (!kept)
			continue;
		*kept = found;
		*list = kept;
	}
	if (d)
		(void)closedir(d);
}

static struct registry_found *list(bool mcp, struct arena *a)
{
	struct registry_found *found = NULL;
	char dir[REGISTRY_PATH];

	for (size_t i = 0; place_at(i, dir); i++)
		list_place(dir, mcp, a, &found);
	return found;
}

struct registry_found *registry_list(struct arena *a)
{
	return list(true, a);
}

static bool has_port(struct str object, int64_t port, struct arena *a)
{
	const struct json *entry, *p = NULL;
	struct err e;

	if (json_parse(object, a, &entry, &e) == 0)
		p = json_items(entry, STR("ports"));
	while (p && !(p->type == JSON_NUMBER && p->whole && p->integer == port))
		p = p->next;
	return p;
}

bool registry_serves(int64_t port)
{
	AUTO_ARENA a = { .max = LIMIT_ANSWER };
	const struct registry_found *f = list(false, &a);

	while (f && !has_port(f->object, port, &a))
		f = f->next;
	return f;
}
