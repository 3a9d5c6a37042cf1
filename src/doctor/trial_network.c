/* SPDX-License-Identifier: MIT */
/* trial_network: a command calls a server of ours, which must not hear from it. */

#include "doctor/trial_network.h"

#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/io.h"
#include "base/own.h"

/* Listens on loopback; the port, or -1. */
static int listen_somewhere(int *fd)
{
	struct sockaddr_in at = { .sin_family = AF_INET };
	socklen_t n = sizeof at;

	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	*fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (*fd < 0 || bind(*fd, (const struct sockaddr *)&at, sizeof at) < 0 ||
	    listen(*fd, 8) < 0 || getsockname(*fd, (struct sockaddr *)&at, &n) < 0)
		return -1;
	return ntohs(at.sin_port);
}

/* The process behind a Unix socket, or 0. */
static pid_t listener_of(const char *address)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	AUTO_FD fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	const char *path = strncmp(address, "unix:", 5) == 0 ? address + 5 : "";
	struct ucred who;
	socklen_t n = sizeof who;

	if (fd < 0 || !*path || strlen(path) >= sizeof at.sun_path)
		return 0;
	memcpy(at.sun_path, path, strlen(path) + 1);
	return connect(fd, (const struct sockaddr *)&at, sizeof at) == 0 &&
			       getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &n) == 0
		       ? who.pid
		       : 0;
}

/* Only if a command without the guard could reach us does its failing to say anything. */
static bool shares_network(const char *address)
{
	char path[64], ours[64] = "", theirs[64] = "";

	(void)snprintf(path, sizeof path, "/proc/%ld/ns/net", (long)listener_of(address));
	return readlink("/proc/self/ns/net", ours, sizeof ours - 1) > 0 &&
	       readlink(path, theirs, sizeof theirs - 1) > 0 && strcmp(ours, theirs) == 0;
}

enum verdict prove_network(struct proof *p)
{
	AUTO_FD fd = -1;
	char self[PATH_MAX] = "", command[PATH_MAX + 512];
	struct sidecar_error error;
	struct sidecar_exit end;

	if (!p->no_network)
		return prove_say(p, FOUND_OFF,
				 "not in force: commands may have a network (--network none)");
	if (!shares_network(sidecar_address(p->sidecar)))
		return prove_not_tried(p, "the server has another network than this program, or is "
					  "not ours to look at");
	const int port = listen_somewhere(&fd);
	if (port < 0 || readlink("/proc/self/exe", self, sizeof self - 1) < 0)
		return prove_not_tried(p, "cannot listen on 127.0.0.1");
	/* Ourselves, or bash where this program cannot be run: 126 or 127 when neither can. */
	(void)snprintf(command, sizeof command,
		       "'%s' health -q --wait 1 --timeout 1 --url http://127.0.0.1:%d; n=$?\n"
		       "[ $n -lt 126 ] && exit $n\n"
		       "bash -c ': <> /dev/tcp/127.0.0.1/%d'; n=$?\n"
		       "[ $n -lt 126 ] && exit %d; exit $n",
		       self, port, port, EXIT_UNREACHABLE);
	if (sidecar_run_bash(p->sidecar, command, NULL, &end, &error) < 0)
		return prove_no_commands(p, &error);
	if (io_wait(fd, POLLIN, io_now_ms()) == 1)
		return prove_say(p, FOUND_FAIL, "a command CONNECTED to a server on this machine");
	if (end.code != EXIT_UNREACHABLE)
		return prove_not_tried(p, "neither %.200s nor bash runs in there (%d)", self,
				       end.code);
	return prove_say(p, FOUND_OK, "a command could not connect to a server on this machine");
}
