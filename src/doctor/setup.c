/* SPDX-License-Identifier: MIT */
/* setup: can the configuration work here? */

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/own.h"
#include "doctor/checks.h"

enum { SHORT_TOKEN = 16 };

static void check_workspace(struct report *r, const struct config *c)
{
	struct stat st;

	if (stat(c->workspace, &st) < 0)
		report_add(r, errno == ENOENT ? FOUND_WARN : FOUND_FAIL, "workspace",
			   errno == ENOENT ? "%s is not there; the server makes it (--workspace)"
					   : "%s cannot be reached: give this user the right to",
			   c->workspace);
	else if (!S_ISDIR(st.st_mode))
		report_add(r, FOUND_FAIL, "workspace", "%s is no directory (--workspace)",
			   c->workspace);
	else if (!c->read_only && access(c->workspace, W_OK | X_OK) < 0)
		report_add(r, FOUND_FAIL, "workspace",
			   "%s cannot be written by user %u: chown it, or --read-only",
			   c->workspace, (unsigned)geteuid());
	else
		report_add(r, FOUND_OK, "workspace", "%s%s", c->workspace,
			   c->read_only ? ", read-only" : " can be written");
}

/* Does anybody listen there? */
static bool answers(const char *path)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	AUTO_FD fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || strlen(path) >= sizeof at.sun_path)
		return false;
	memcpy(at.sun_path, path, strlen(path) + 1);
	return connect(fd, (const struct sockaddr *)&at, sizeof at) == 0;
}

static void check_socket(struct report *r, const struct config *c)
{
	struct stat st;

	if (!c->socket) {
		report_add(r, FOUND_OFF, "socket", "only TCP is configured");
		return;
	}
	if (lstat(c->socket, &st) < 0) {
		report_add(r, FOUND_OK, "socket", "%s is free: no server runs there", c->socket);
		return;
	}
	if (!S_ISSOCK(st.st_mode)) {
		report_add(r, FOUND_FAIL, "socket",
			   "%s is something else than a socket: remove it, or set SOCKET_PATH",
			   c->socket);
		return;
	}
	if (!answers(c->socket))
		report_add(r, FOUND_WARN, "socket",
			   "%s is stale or not ours to connect to (owner %u, mode %04o); a server "
			   "of its owner replaces it",
			   c->socket, (unsigned)st.st_uid, (unsigned)st.st_mode & 07777);
	else if (st.st_mode & S_IWOTH)
		report_add(r, c->require_auth ? FOUND_OK : FOUND_WARN, "socket",
			   "%s lets everybody on this machine in (mode %04o): --socket-mode 0660",
			   c->socket, (unsigned)st.st_mode & 07777);
	else
		report_add(r, FOUND_OK, "socket", "%s answers (owner %u, mode %04o)", c->socket,
			   (unsigned)st.st_uid, (unsigned)st.st_mode & 07777);
}

static void check_token(struct report *r, const struct config *c)
{
	struct stat st;

	if (!c->token)
		report_add(r, FOUND_OFF, "token",
			   "none: whoever may open the socket may use it (--token-file)");
	else if (c->token_file && stat(c->token_file, &st) == 0 && (st.st_mode & S_IROTH))
		report_add(r, FOUND_WARN, "token", "%s can be read by everybody: chmod o-r %s",
			   c->token_file, c->token_file);
	else if (strlen(c->token) < SHORT_TOKEN)
		report_add(r, FOUND_WARN, "token",
			   "shorter than %d characters: it can be guessed (openssl rand -hex 32)",
			   SHORT_TOKEN);
	else
		report_add(r, FOUND_OK, "token", "set%s", c->require_auth ? ", and required" : "");
}

void check_setup(struct report *r, const struct config *c)
{
	struct err e;

	if (config_check(c, &e) == 0)
		report_add(r, FOUND_OK, "settings", "fit together");
	else
		report_add(r, FOUND_FAIL, "settings", "%s", e.msg);
	check_workspace(r, c);
	check_socket(r, c);
	check_token(r, c);
}
