/* SPDX-License-Identifier: MIT */
/* types: the table of file types. */

#include "search/types.h"

#include "base/own.h"

struct file_type {
	const char *names;
	const char *extensions; /* without the dot */
	const char *files;	/* whole names */
};

/* Lists separated by blanks. */
static const struct file_type types[] = {
	{ "asm", "asm s S", "" },
	{ "c", "c h", "" },
	{ "cpp cxx c++", "cpp cc cxx hpp hh hxx h inl ipp tpp", "" },
	{ "cs csharp", "cs csx", "" },
	{ "css", "css scss sass less", "" },
	{ "clojure", "clj cljs cljc edn", "" },
	{ "cmake", "cmake", "CMakeLists.txt" },
	{ "config", "cfg conf config ini", "" },
	{ "csv", "csv tsv", "" },
	{ "dart", "dart", "" },
	{ "docker", "dockerfile", "Dockerfile Containerfile" },
	{ "elixir", "ex exs eex heex", "" },
	{ "erlang", "erl hrl", "" },
	{ "fish", "fish", "" },
	{ "go", "go", "go.mod" },
	{ "graphql", "graphql graphqls", "" },
	{ "haskell hs", "hs lhs", "" },
	{ "html", "html htm xhtml", "" },
	{ "java", "java jsp", "" },
	{ "js javascript", "js jsx mjs cjs vue", "" },
	{ "json", "json jsonl jsonc", "" },
	{ "kotlin", "kt kts", "" },
	{ "lisp", "lisp el lsp", "" },
	{ "log", "log", "" },
	{ "lua", "lua", "" },
	{ "make", "mk mak", "Makefile makefile GNUmakefile Kbuild" },
	{ "md markdown", "md markdown mdx", "" },
	{ "meson", "", "meson.build meson_options.txt meson.options" },
	{ "nix", "nix", "" },
	{ "ocaml", "ml mli", "" },
	{ "perl", "pl pm t", "" },
	{ "php", "php phtml", "" },
	{ "proto protobuf", "proto", "" },
	{ "ps powershell", "ps1 psm1 psd1", "" },
	{ "py python", "py pyi pyw", "" },
	{ "r", "r R Rmd", "" },
	{ "rst", "rst", "" },
	{ "ruby rb", "rb gemspec", "Gemfile Rakefile" },
	{ "rust rs", "rs", "" },
	{ "scala", "scala sbt", "" },
	{ "sh bash shell", "sh bash zsh ksh bats", ".bashrc .profile .zshrc" },
	{ "sql", "sql", "" },
	{ "svelte", "svelte", "" },
	{ "swift", "swift", "" },
	{ "tex", "tex sty cls bib", "" },
	{ "tf terraform", "tf tfvars hcl", "" },
	{ "toml", "toml", "Cargo.lock" },
	{ "ts typescript", "ts tsx mts cts", "" },
	{ "txt text", "txt", "" },
	{ "vue", "vue", "" },
	{ "xml", "xml xsd xsl xslt svg", "" },
	{ "yaml yml", "yaml yml", "" },
	{ "zig", "zig", "" },
};

static bool has_word(const char *list, struct str word, bool nocase)
{
	struct str rest = str_of(list), one;

	while (rest.n) {
		str_cut(rest, ' ', &one, &rest);
		if (nocase ? str_eq_nocase(one, word) : str_eq(one, word))
			return true;
	}
	return false;
}

const struct file_type *type_by_name(struct str name)
{
	for (size_t i = 0; i < ARRAY_LEN(types); i++)
		if (has_word(types[i].names, name, true))
			return &types[i];
	return NULL;
}

bool type_has(const struct file_type *type, struct str name)
{
	const char *dot = memrchr(name.p, '.', name.n);

	if (dot && has_word(type->extensions, str_from(name, (size_t)(dot + 1 - name.p)), false))
		return true;
	return has_word(type->files, name, false);
}
