/* SPDX-License-Identifier: MIT */
/* What shows that a process is in a container, and what does not. */

#include "scratch.h"

#include "base/own.h"
#include "sandbox/sandbox.h"

#define FIRST "pid:[4026531836]"
#define OWN   "pid:[4026532671]"
#define EXT4  "27 1 254:0 / / rw,relatime - ext4 /dev/vda rw\n"
#define LAYER "412 380 0:53 / / rw,relatime master:9 - overlay overlay rw,lowerdir=/a\n"
#define OTHER "30 27 0:25 / /mnt rw - overlay overlay rw\n"

static const struct {
	const char *what;
	const char *mark; /* a file that is there */
	const char *cgroup, *mounts, *pid;
	const char *variable;
	bool found;
} cases[] = {
	{ "a bare host", NULL, "0::/user.slice/user-1000.slice\n", EXT4, FIRST, NULL, false },
	{ "nothing can be read", NULL, NULL, NULL, NULL, NULL, false },
	{ "Docker", ".dockerenv", "0::/\n", LAYER, OWN, NULL, true },
	{ "Docker, processes of the host", ".dockerenv", "0::/\n", LAYER, FIRST, NULL, true },
	{ "Podman", "run/.containerenv", "0::/\n", LAYER, OWN, NULL, true },
	{ "LXC with systemd", "run/systemd/container", "0::/\n", EXT4, OWN, NULL, true },
	{ "nspawn", "run/host/container-manager", "0::/\n", EXT4, OWN, NULL, true },
	{ "containerd in Kubernetes", NULL, "0::/\n", LAYER, OWN, NULL, true },
	{ "the same with groups of the host", NULL, "11:cpu:/kubepods/burstable/pod1/2\n", EXT4,
	  FIRST, NULL, true },
	{ "Docker by its group", NULL, "0::/system.slice/docker-0a1b.scope\n", EXT4, FIRST, NULL,
	  true },
	{ "rootless Podman by its group", NULL, "0::/user.slice/libpod-0a1b.scope/container\n",
	  EXT4, FIRST, NULL, true },
	{ "a service beside Docker", NULL, "0::/system.slice/docker.service\n", EXT4, FIRST, NULL,
	  false },
	{ "a variable alone", NULL, "0::/user.slice\n", EXT4, FIRST, "KUBERNETES_SERVICE_HOST",
	  false },
	{ "another one", NULL, "0::/user.slice\n", EXT4, FIRST, "container", false },
	{ "a variable where nothing can be read", NULL, NULL, NULL, NULL, "container", false },
	{ "a variable and a PID namespace", NULL, "0::/\n", EXT4, OWN, "KUBERNETES_SERVICE_HOST",
	  true },
	{ "a PID namespace alone", NULL, "0::/\n", EXT4, OWN, NULL, false },
	{ "layers alone, as on a live system", NULL, "0::/\n", LAYER, FIRST, NULL, false },
	{ "layers somewhere else", NULL, "0::/\n", EXT4 OTHER, OWN, NULL, false },
	{ "layers under another root", NULL, "0::/\n", LAYER EXT4, OWN, NULL, false },
	{ "layers on top", NULL, "0::/\n", EXT4 LAYER, OWN, NULL, true },
	{ "lines that are cut", NULL, "0::", "27 1 0:1 / / rw", OWN, NULL, false },
};

static void make_file(const struct scratch *s, const char *name, const char *text)
{
	if (name && text)
		put(s, name, text);
}

static void only_the_kernel_and_the_runtime_are_believed(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct scratch s = scratch_new();
		put_dir(&s, "run");
		put_dir(&s, "run/systemd");
		put_dir(&s, "run/host");
		put_dir(&s, "proc");
		put_dir(&s, "proc/self");
		put_dir(&s, "proc/self/ns");
		make_file(&s, cases[i].mark, "");
		make_file(&s, "proc/self/cgroup", cases[i].cgroup);
		make_file(&s, "proc/self/mountinfo", cases[i].mounts);
		if (cases[i].pid)
			assert_int_equal(symlink(cases[i].pid, in(&s, "proc/self/ns/pid")), 0);
		(void)unsetenv("KUBERNETES_SERVICE_HOST");
		(void)unsetenv("container");
		if (cases[i].variable)
			assert_int_equal(setenv(cases[i].variable, "1", 1), 0);
		if (!container_evidence(s.path) == cases[i].found)
			fail_msg("%s: %s", cases[i].what, cases[i].found ? "missed" : "believed");
		scratch_free(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_the_kernel_and_the_runtime_are_believed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
