/* SPDX-License-Identifier: MIT */
/* ui: `sidecar ui`, a loopback port on which a browser can see a sidecar. */

#include "watch/watch.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/io.h"
#include "base/jw.h"
#include "base/own.h"
#include "config/registry.h"
#include "net/listen.h"
#include "watch/proxy.h"
#include "watch/running.h"

struct ui_args {
	int64_t pid;
	bool no_open;
};

static const struct option ui_options[] = {
	{ "pid", 'p', OPTION_NUMBER, offsetof(struct ui_args, pid), "PID",
	  "the sidecar of this process (\"sidecar ps\" lists them)" },
	{ "no-open", 0, OPTION_SWITCH, offsetof(struct ui_args, no_open), NULL,
	  "only print the address" },
	OPTION_END,
};

/* Every user can read what stands on a command line: the address stands in a page that leads to it.
 */
static int write_page(const char *url, struct registry_entry *ret, struct err *e)
{
	char name[32], text[256];

	(void)snprintf(name, sizeof name, "ui-%d.html", (int)getpid());
	(void)snprintf(text, sizeof text,
		       "<!DOCTYPE html>\n<meta http-equiv=\"refresh\" content=\"0;url=%s\">\n",
		       url);
	return registry_keep(name, str_of(text), ret, e);
}

/* Let the desktop, if there is one, open the address. */
static void open_browser(const struct cli *c, const char *url, struct registry_entry *page)
{
	const char *x11 = getenv("DISPLAY"), *wayland = getenv("WAYLAND_DISPLAY");
	char program[] = "xdg-open";
	char *const argv[] = { program, page->path, NULL };
	posix_spawn_file_actions_t actions;
	pid_t pid;
	struct err e;

	if (!(x11 && *x11) && !(wayland && *wayland))
		return;
	if (write_page(url, page, &e) < 0) {
		cli_say(c, "no browser is opened: %s", e.msg);
		return;
	}
	if (posix_spawn_file_actions_init(&actions) != 0)
		return;
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		(void)posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_RDWR, 0);
	(void)posix_spawnp(&pid, program, &actions, NULL, argv, environ);
	(void)posix_spawn_file_actions_destroy(&actions);
}

static void say_address(const struct cli *c, const char *url)
{
	AUTO_BUF out = { .max = 1024 };
	struct jw w = jw_to(&out);

	if (c->json) {
		jw_object(&w, NULL);
		jw_str(&w, "url", str_of(url));
		jw_end(&w);
	} else {
		buf_add(&out, str_of(url));
	}
	cli_print_line(&out);
	cli_say(c, "who knows this address can watch, stop calls and undo changes; Ctrl-C ends it");
}

static void serve(struct proxy *p, int listener, int signals)
{
	struct pollfd fds[] = { { .fd = listener, .events = POLLIN },
				{ .fd = signals, .events = POLLIN } };

	while (poll(fds, ARRAY_LEN(fds), -1) >= 0 && !fds[1].revents) {
		const int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
		if (fd >= 0)
			proxy_take(p, fd);
		else
			io_sleep_ms(1); /* it has gone, or there are no descriptors */
	}
}

/* Ctrl-C and the like, to be read from a descriptor; children need not be waited for. */
static int open_signals(void)
{
	sigset_t set;

	(void)signal(SIGPIPE, SIG_IGN);
	(void)signal(SIGCHLD, SIG_IGN);
	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGINT);
	(void)sigaddset(&set, SIGTERM);
	(void)sigaddset(&set, SIGHUP);
	(void)sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC);
}

static int ui_run(struct cli *c, const void *args)
{
	const struct ui_args *a = args;
	struct proxy *proxy = arena_array(&c->memory, 1, sizeof *proxy);
	struct subject target;
	struct listener listener;
	int64_t port = 0;
	char url[128];
	struct registry_entry page = { .lock = -1 };
	struct err e;

	const int status = running_choose(c, a->pid, &target);
	if (status != EXIT_OK)
		return status;
	if (!subject_get(&target, "/health", NULL, &c->memory, &e)) {
		cli_say(c, "%s", e.msg);
		return cli_status(err_name(e.code));
	}
	if (listen_tcp("127.0.0.1", &port, &listener, &e) < 0) {
		cli_say(c, "%s", e.msg);
		return EXIT_FAILED;
	}
	if (!proxy)
		return EXIT_FAILED;
	proxy_init(proxy, &target, port);
	(void)snprintf(url, sizeof url, "http://127.0.0.1:%lld/ui#%s", (long long)port,
		       proxy->secret);
	if (!a->no_open)
		open_browser(c, url, &page);
	AUTO_FD signals = open_signals();
	say_address(c, url);
	serve(proxy, listener.fd, signals);
	listener_done(&listener);
	registry_leave(&page);
	/* Threads still use what belongs to this one. */
	_exit(EXIT_OK);
}

const struct verb verb_ui = {
	.name = "ui",
	.about = "show a running sidecar in the browser",
	.operands = "",
	.examples = "  sidecar ui\n"
		    "  sidecar ui --pid 4711 --no-open\n"
		    "  sidecar ui --socket /run/sidecar/sidecar.sock\n",
	.options = ui_options,
	.args_size = sizeof(struct ui_args),
	.flags = VERB_FINDS | VERB_PRINTS,
	.run = ui_run,
};
