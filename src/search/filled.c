/* SPDX-License-Identifier: MIT */
/* filled: the table, the look at what lies in and beside a directory, and a bounded count. */

#include "search/filled.h"

#include <limits.h>
#include <string.h>

#include "base/own.h"
#include "search/dir.h"
#include "search/limits.h"

/* Any one name decides. Where both are empty the name alone does: next to nobody keeps sources in
 * one, and those who do name it by its path. */
static const struct {
	const char *name;
	const char *inside; /* names, a blank after each */
	const char *beside;
} table[] = {
	{ "node_modules", "", "" },
	{ "bower_components", "", "bower.json " },
	{ ".next", "", "package.json " },
	{ ".nuxt", "", "package.json " },
	{ ".output", "nitro.json ", "" },
	{ ".svelte-kit", "", "package.json " },
	{ ".angular", "", "angular.json " },
	{ ".parcel-cache", "", "package.json " },
	{ ".turbo", "", "package.json turbo.json " },
	{ "dist", "", "package.json pyproject.toml setup.py " },
	{ "out", "_next ", "" },
	{ "coverage", "lcov-report lcov.info coverage-final.json ", "" },
	{ "build",
	  "CMakeCache.txt build.ninja meson-info asset-manifest.json bdist.linux-x86_64 "
	  "bdist.linux-aarch64 ",
	  "build.gradle build.gradle.kts settings.gradle pubspec.yaml " },
	{ "__pycache__", "", "" },
	{ ".venv", "pyvenv.cfg ", "" },
	{ "venv", "pyvenv.cfg ", "" },
	{ "env", "pyvenv.cfg ", "" },
	{ ".tox", "", "tox.ini pyproject.toml setup.cfg " },
	{ ".nox", "", "noxfile.py " },
	{ ".eggs", "", "setup.py " },
	{ ".mypy_cache", "CACHEDIR.TAG ", "" },
	{ ".pytest_cache", "CACHEDIR.TAG ", "" },
	{ ".ruff_cache", "CACHEDIR.TAG ", "" },
	{ "target", "CACHEDIR.TAG .rustc_info.json maven-status ",
	  "Cargo.toml pom.xml build.sbt " },
	{ ".gradle", "", "build.gradle build.gradle.kts settings.gradle settings.gradle.kts " },
	{ "_build", "", "mix.exs rebar.config dune-project conf.py " },
	{ "deps", "", "mix.exs " },
	{ ".elixir_ls", "", "mix.exs " },
	{ "vendor", "modules.txt autoload.php ", "" },
	{ "Pods", "Manifest.lock ", "Podfile " },
	{ "obj", "project.assets.json ", "" },
	{ ".dart_tool", "", "pubspec.yaml " },
	{ ".zig-cache", "", "build.zig " },
	{ "zig-out", "", "build.zig " },
	{ ".stack-work", "", "stack.yaml " },
	{ "dist-newstyle", "", "cabal.project " },
	{ "elm-stuff", "", "elm.json " },
	{ ".terraform", "providers modules ", "" },
};

/* Whether one of these names is in the directory, or in the one of that name in it. */
static bool has_any(int dirfd, const char *in, const char *names)
{
	char name[32];

	for (size_t n; (n = strcspn(names, " ")) > 0; names += n + 1) {
		memcpy(name, names, n);
		name[n] = '\0';
		if (dir_has(dirfd, in, name))
			return true;
	}
	return false;
}

int filled_find(int dirfd, struct str name)
{
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		if (!str_eq(name, str_of(table[i].name)))
			continue;
		const bool sure = !*table[i].inside && !*table[i].beside;
		return sure || has_any(dirfd, NULL, table[i].beside) ||
				       has_any(dirfd, name.p, table[i].inside)
			       ? (int)i
			       : -1;
	}
	return -1;
}

bool filled_above(const int *parents, size_t count, struct str path)
{
	struct str name;

	for (size_t i = 0; i < count && path.n; i++) {
		char room[NAME_MAX + 1];
		(void)str_cut(path, '/', &name, &path);
		if (name.n >= sizeof room)
			continue;
		memcpy(room, name.p, name.n);
		room[name.n] = '\0';
		if (filled_find(parents[i], (struct str){ room, name.n }) >= 0)
			return true;
	}
	return false;
}

bool filled_add(struct filled **list, int found, int dirfd, struct str name, struct str path)
{
	if (!*list)
		*list = mem_new(ARRAY_LEN(table) + 1, sizeof **list);
	if (!*list)
		return false;
	struct filled *f = &(*list)[found];
	f->path.max = SIZE_MAX;
	if (!f->dirs++ || str_cmp(path, buf_str(&f->path)) < 0) {
		buf_reset(&f->path, SIZE_MAX);
		buf_add(&f->path, path);
	}
	f->name = table[found].name;
	if (f->files <= LIMIT_FILLED_FILES &&
	    !dir_count(dirfd, name.p, LIMIT_FILLED_FILES + 1, &f->files))
		f->more = true;
	if (f->files > LIMIT_FILLED_FILES)
		f->more = true;
	return !f->path.failed;
}

void filled_end(struct filled *list)
{
	size_t n = 0;

	for (size_t i = 0; list && i < ARRAY_LEN(table); i++) {
		struct filled f = list[i];

		list[i] = (struct filled){ 0 };
		if (f.files > LIMIT_FILLED_FILES)
			f.files = LIMIT_FILLED_FILES;
		if (f.dirs)
			list[n++] = f;
	}
}

void filled_free(struct filled *list)
{
	for (struct filled *f = list; f && f->name; f++)
		buf_done(&f->path);
	mem_free(list);
}
