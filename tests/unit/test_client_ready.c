/* SPDX-License-Identifier: MIT */
/* Waiting for a sidecar: every way in which it can be missing, how long it takes, and the message.
 */

#include <arpa/inet.h>
#include <netinet/in.h>

#include "client_unit.h"

enum { WAIT_MS = 400, LONG_MS = 60000 };

static void check(const struct scratch *s, const char *code, const char *sentence, bool at_once)
{
	struct sidecar *client = open_client(s, at_once ? LONG_MS : WAIT_MS);
	struct sidecar_error error = { 0 };
	char want[PATH_MAX + 256];
	const int64_t began = io_now_ms();

	assert_int_equal(sidecar_ensure_ready(client, &error), -1);
	const int64_t took = io_now_ms() - began;
	/* "%" stands for the path of the socket. */
	const char *mark = strchrnul(sentence, '%');
	(void)snprintf(want, sizeof want, "%.*s%s%s%s", (int)(mark - sentence), sentence,
		       *mark ? s->path : "", *mark ? "/s" : "", *mark ? mark + 1 : "");
	assert_string_equal(error.code, code);
	assert_string_equal(error.message, want);
	/* Never too early; how much later depends on the machine. */
	assert_true(at_once ? took < LONG_MS : took >= WAIT_MS);

	/* A call gives the same message. */
	assert_null(sidecar_ls(client, NULL, 0, &error));
	assert_string_equal(error.code, code);
	assert_string_equal(error.message, want);
	sidecar_close(client);
}

static void a_missing_socket_is_waited_for(void **state)
{
	struct scratch s = scratch_new();

	(void)state;
	check(&s, "NOT_READY", "Timed out waiting for coding sidecar at unix:%", false);
	scratch_free(&s);
}

static void a_path_that_is_not_a_socket_fails_at_once(void **state)
{
	struct scratch s = scratch_new();

	(void)state;
	put(&s, "s", "a file");
	check(&s, "NOT_READY", "% exists, but is not a sidecar's socket", true);
	assert_int_equal(unlink(in(&s, "s")), 0);
	put_dir(&s, "s");
	check(&s, "NOT_READY", "% exists, but is not a sidecar's socket", true);
	scratch_free(&s);
}

static void a_socket_without_a_listener_is_waited_for(void **state)
{
	struct scratch s = scratch_new();

	(void)state;
	const int fd = listen_at(&s, false);
	check(&s, "NOT_READY",
	      "Timed out waiting for coding sidecar at unix:%: no server listens on the socket",
	      false);
	(void)close(fd);
	scratch_free(&s);
}

static void a_client_that_does_not_wait_is_told_at_once(void **state)
{
	struct scratch s = scratch_new();
	struct sidecar_error error;
	char path[PATH_MAX], want[PATH_MAX + 64];
	const struct sidecar_settings settings = { .socket_path = path,
						   .wait_for_ready_ms = LONG_MS,
						   .no_wait = true };

	(void)state;
	(void)snprintf(path, sizeof path, "%s/s", s.path);
	(void)snprintf(want, sizeof want, "No sidecar is listening on %s", path);
	struct sidecar *client = sidecar_open(&settings, &error);
	for (int i = 0; i < 2; i++) {
		const int64_t began = io_now_ms();
		assert_int_equal(sidecar_ensure_ready(client, &error), -1);
		assert_string_equal(error.message, want);
		assert_null(sidecar_ls(client, NULL, 0, &error));
		assert_string_equal(error.message, want);
		assert_true(io_now_ms() - began < LONG_MS);
		/* The second time there is a socket that no process listens on. */
		(void)close(i ? -1 : listen_at(&s, false));
	}
	sidecar_close(client);
	scratch_free(&s);
}

static void bad_health_is_not_ready(void **state)
{
	static const struct {
		const char *health, *code, *sentence;
		bool at_once;
	} cases[] = {
		{ "HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n", "NOT_READY",
		  "Timed out waiting for coding sidecar at unix:%: GET /health is answered with "
		  "status 500",
		  false },
		{ "HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n{\"ok\":false}", "NOT_READY",
		  "Timed out waiting for coding sidecar at unix:%: GET /health is not answered "
		  "with \"ok\":true",
		  false },
		{ "HTTP/1.1 401 No\r\nContent-Length: 0\r\n\r\n", "UNAUTHORIZED",
		  "The sidecar at unix:% does not accept this client: the token is missing or "
		  "wrong, or this user or host may not connect",
		  true },
		{ "", "NOT_READY",
		  "Timed out waiting for coding sidecar at unix:%: it accepts connections and does "
		  "not answer",
		  false },
		{ "220 mail.example ESMTP\r\n", "BAD_ANSWER",
		  "What answered is not a sidecar: The start line must name its version as "
		  "HTTP/1.1.",
		  true },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct scratch s = scratch_new();
		struct fake f = { .answer = "", .health = cases[i].health };
		fake_start(&f, &s);
		check(&s, cases[i].code, cases[i].sentence, cases[i].at_once);
		fake_stop(&f, &s);
		scratch_free(&s);
	}
}

static void tcp_works_like_a_unix_socket(void **state)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
	struct fake f = { .answer = "", .fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0) };
	socklen_t size = sizeof a;
	struct sidecar_error error;
	char want[128];

	(void)state;
	assert_int_equal(bind(f.fd, (struct sockaddr *)&a, size), 0);
	assert_int_equal(listen(f.fd, 8), 0);
	assert_int_equal(getsockname(f.fd, (struct sockaddr *)&a, &size), 0);
	assert_int_equal(pthread_create(&f.thread, NULL, fake_run, &f), 0);
	const struct sidecar_settings settings = { .host = "127.0.0.1",
						   .port = ntohs(a.sin_port),
						   .wait_for_ready_ms = WAIT_MS };
	struct sidecar *client = sidecar_open(&settings, &error);
	assert_non_null(client);
	assert_int_equal(sidecar_ensure_ready(client, &error), 0);
	f.stop = true;
	(void)pthread_join(f.thread, NULL);
	(void)close(f.fd);
	assert_int_equal(sidecar_ensure_ready(client, &error), -1);
	(void)snprintf(
		want, sizeof want,
		"Timed out waiting for coding sidecar at tcp:127.0.0.1:%d: no server listens on "
		"the port",
		settings.port);
	assert_string_equal(error.message, want);
	sidecar_close(client);
}

static void *start_late(void *arg)
{
	pid_t *pid = ((void **)arg)[1];

	(void)usleep(300 * 1000);
	*pid = start_sidecar(((void **)arg)[0]);
	return NULL;
}

static void a_sidecar_that_starts_late_is_found(void **state)
{
	struct scratch s = scratch_new();
	struct sidecar *client = open_client(&s, 60000);
	struct sidecar_error error;
	pthread_t thread;
	pid_t pid = 0;
	void *arg[] = { &s, &pid };

	(void)state;
	put_dir(&s, "ws");
	assert_int_equal(pthread_create(&thread, NULL, start_late, arg), 0);
	struct sidecar_text *names = sidecar_ls(client, NULL, 0, &error);
	(void)pthread_join(thread, NULL);
	assert_non_null(names);
	sidecar_free(names);
	assert_int_equal(sidecar_ensure_ready(client, &error), 0);
	sidecar_close(client);
	stop_sidecar(pid, SIGTERM);
	scratch_free(&s);
}

static void wrong_settings_are_refused(void **state)
{
	static const struct {
		struct sidecar_settings settings;
		const char *sentence;
	} cases[] = {
		{ { 0 }, "Give a socket path or a TCP host and port; neither is set" },
		{ { .socket_path = "/s", .host = "h", .port = 1 },
		  "Give a socket path or a TCP host and port, not both" },
		{ { .socket_path = "s" }, "The socket path must be absolute, not \"s\"" },
		{ { .host = "h" }, "The TCP port must be from 1 to 65535, not 0" },
		{ { .host = "h\r\nX: y", .port = 1 }, "The TCP host must be a name or an address" },
		{ { .socket_path = "/s", .token = "a\r\nX: y" },
		  "The token must be visible ASCII characters without blanks" },
		{ { .socket_path = "/s", .wait_for_ready_ms = -1 },
		  "The time to wait for readiness must be from 0 to 86400000 ms" },
	};
	struct sidecar_error error;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		assert_null(sidecar_open(&cases[i].settings, &error));
		assert_string_equal(error.code, "INVALID_CONFIG");
		assert_string_equal(error.message, cases[i].sentence);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_missing_socket_is_waited_for),
		cmocka_unit_test(a_path_that_is_not_a_socket_fails_at_once),
		cmocka_unit_test(a_socket_without_a_listener_is_waited_for),
		cmocka_unit_test(a_client_that_does_not_wait_is_told_at_once),
		cmocka_unit_test(bad_health_is_not_ready),
		cmocka_unit_test(a_sidecar_that_starts_late_is_found),
		cmocka_unit_test(wrong_settings_are_refused),
		cmocka_unit_test(tcp_works_like_a_unix_socket),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
