/* SPDX-License-Identifier: MIT */
/* loopback: read the words of curl, wget and http.server. */

#include "policy/shell_command.h"

#include "base/own.h"
#include "policy/shell.h"

/* How a program reads its options. Those that are not listed take no value: if one does, its value
 * is taken for a URL, and the command is refused. */
struct fetcher {
	const char *name;
	const char *values; /* letters of options that take a value */
	const char *longs;  /* names of long ones */
	const char *away;   /* letters of options that lead elsewhere */
	const char *long_away;
	char rest; /* the letter after which the rest of a word are no options */
};

static const struct fetcher fetchers[] = {
	{ .name = "curl",
	  .values = "AbcCdDeEFHmoPQrtTuUwXyYz",
	  .longs = "cacert cert connect-timeout continue-at cookie cookie-jar data data-ascii "
		   "data-binary data-raw data-urlencode dump-header form form-string header json "
		   "key limit-rate max-filesize max-redirs max-time oauth2-bearer output "
		   "output-dir range referer request retry retry-delay retry-max-time speed-limit "
		   "speed-time stderr time-cond trace trace-ascii upload-file url-query user "
		   "user-agent write-out",
	  .away = "Kx",
	  .long_away = "abstract-unix-socket alt-svc config connect-to dns-servers doh-url "
		       "expand-url preproxy proxy proxy1.0 resolve socks4 socks4a socks5 "
		       "socks5-hostname unix-socket variable" },
	{ .name = "wget",
	  .values = "aADIlOoPQRtTUwX",
	  .longs = "accept append-output body-data body-file connect-timeout cut-dirs "
		   "directory-prefix header http-password http-user level limit-rate "
		   "load-cookies method output-document output-file password post-data post-file "
		   "read-timeout referer reject save-cookies timeout tries user user-agent wait "
		   "waitretry",
	  .away = "BeiHY",
	  .long_away = "base config dns-servers execute input-file input-metalink proxy "
		       "span-hosts use-askpass",
	  .rest = 'n' },
};

/* Programs accept the beginning of a long option's name. */
static bool may_stand_for(const char *names, struct str name)
{
	struct str rest = str_of(names), one;

	while (rest.n) {
		(void)str_cut(rest, ' ', &one, &rest);
		if (str_starts(one, name))
			return true;
	}
	return str_starts(name, STR("expand-"));
}

/* Move over an option, and over its value if that is the next word. False: it leads elsewhere. */
static bool skip_option(const struct fetcher *f, struct str text, size_t *i)
{
	struct str name, value;

	if (str_starts(text, STR("--"))) {
		const bool attached = str_cut(str_from(text, 2), '=', &name, &value);
		if (str_is_listed(f->longs, name))
			*i += !attached;
		else if (may_stand_for(f->long_away, name))
			return false;
		return true;
	}
	for (size_t k = 1; k < text.n; k++) {
		if (strchr(f->away, text.p[k]))
			return false;
		if (text.p[k] == f->rest || strchr(f->values, text.p[k])) {
			*i += k + 1 == text.n;
			break;
		}
	}
	return true;
}

/* A decimal number from 0 to 255, without a zero before it, which would make it octal. */
static size_t byte_length(struct str s)
{
	size_t n = 0;
	int value = 0;

	for (; n < s.n && n < 3 && s.p[n] >= '0' && s.p[n] <= '9'; n++)
		value = 10 * value + (s.p[n] - '0');
	return value > 255 || (n > 1 && s.p[0] == '0') ? 0 : n;
}

/* The length of 127.x.y.z at the beginning; 0 if there is something else. */
static size_t address_length(struct str s)
{
	size_t at = 0;

	if (!str_starts(s, STR("127.")))
		return 0;
	for (int i = 0; i < 4; i++) {
		const size_t n = byte_length(str_from(s, at));
		if (n == 0 || (i < 3 && (at + n >= s.n || s.p[at + n] != '.')))
			return 0;
		at += n + (i < 3);
	}
	return at;
}

static bool begins_nocase(struct str s, struct str with)
{
	return s.n >= with.n && str_eq_nocase(str_upto(s, with.n), with);
}

static size_t host_length(struct str s)
{
	if (begins_nocase(s, STR("localhost")))
		return STR("localhost").n;
	if (str_starts(s, STR("[::1]")))
		return STR("[::1]").n;
	return address_length(s);
}

static struct str after_port(struct str s)
{
	size_t n = 1;

	if (!s.n || s.p[0] != ':')
		return s;
	while (n < s.n && n <= 5 && s.p[n] >= '0' && s.p[n] <= '9')
		n++;
	return n > 1 ? str_from(s, n) : s;
}

/* What is read here and what the programs read must be the same host, so nothing that parsers of
 * URLs have disagreed about may stand next to it. */
static bool is_local_url(struct str url)
{
	static const struct str schemes[] = { STR("http://"), STR("https://") };

	for (size_t i = 0; i < url.n; i++)
		if ((unsigned char)url.p[i] <= ' ' || (unsigned char)url.p[i] >= 0x7f)
			return false;
	for (size_t i = 0; i < ARRAY_LEN(schemes); i++) {
		if (!begins_nocase(url, schemes[i]))
			continue;
		url = str_from(url, schemes[i].n);
		break;
	}
	const size_t n = host_length(url);
	const struct str rest = after_port(str_from(url, n));
	if (n == 0 || rest.n == 0 || rest.p[0] == '/')
		return n > 0;
	return rest.p[0] == '?' && str_index(rest, '@') < 0 && str_index(rest, '\\') < 0;
}

/* Could the shell make several words of it: {a,b}? */
static bool has_braces(struct str text)
{
	struct str before, group, after;

	return str_cut(text, '{', &before, &group) && str_cut(group, '}', &group, &after) &&
	       str_index(group, ',') >= 0;
}

/* Is the whole word known before it runs? A pattern could become the names of files. */
static bool is_known(const struct shell_word *w)
{
	if (w->flags & SHELL_UNKNOWN)
		return false;
	if (w->flags & SHELL_QUOTED || is_local_url(w->text))
		return true;
	return str_index(w->text, '*') < 0 && str_index(w->text, '?') < 0 &&
	       str_index(w->text, '[') < 0 && !has_braces(w->text);
}

static bool all_known(const struct shell_command *c)
{
	for (size_t i = 1; i < c->n; i++)
		if (!is_known(&c->words[i]))
			return false;
	return true;
}

static bool fetches_locally(const struct fetcher *f, const struct shell_command *c)
{
	bool options = true;
	size_t urls = 0;

	for (size_t i = 1; i < c->n; i++) {
		const struct str text = c->words[i].text;
		if (options && str_eq(text, STR("--"))) {
			options = false;
		} else if (options && text.n > 1 && text.p[0] == '-') {
			if (!skip_option(f, text, &i))
				return false;
		} else {
			if (!is_local_url(text))
				return false;
			urls++;
		}
	}
	return urls > 0;
}

bool loopback_fetches(const struct shell_command *c)
{
	const struct str name = shell_basename(c->words[0].text);

	for (size_t i = 0; i < ARRAY_LEN(fetchers); i++)
		if (str_eq(str_of(fetchers[i].name), name))
			return all_known(c) && fetches_locally(&fetchers[i], c);
	return false;
}

static bool is_local_address(struct str s)
{
	return str_eq(s, STR("localhost")) || str_eq(s, STR("::1")) ||
	       (s.n && address_length(s) == s.n);
}

/* The number of the first word after -m http.server; 0 if there is something before it that could
 * make it mean something else. */
static size_t server_arguments(const struct shell_command *c)
{
	static const struct str module = STR("http.server");

	for (size_t i = 1; i < c->n; i++) {
		const struct str text = c->words[i].text;
		size_t k = 1;
		if (text.n < 2 || text.p[0] != '-')
			return 0;
		while (k < text.n && strchr("BEIOPsSuv", text.p[k]) && text.p[k])
			k++;
		if (k == text.n)
			continue;
		if (text.p[k] != 'm')
			return 0;
		const struct str attached = str_from(text, k + 1);
		if (attached.n)
			return str_eq(attached, module) ? i + 1 : 0;
		return i + 1 < c->n && str_eq(c->words[i + 1].text, module) ? i + 2 : 0;
	}
	return 0;
}

/* The value of -b or --bind, however it is written; the last one would count, so every one has to
 * be looked at. False: the word is another one. */
static bool reads_bind(const struct shell_command *c, size_t *i, struct str *value)
{
	const struct str text = c->words[*i].text;
	struct str name, attached;
	const bool given = str_cut(text, '=', &name, &attached);

	if (name.n > 2 && str_starts(STR("--bind"), name))
		*value = given ? attached : STR("");
	else if (str_starts(text, STR("-b")))
		*value = str_from(text, 2);
	else
		return false;
	if (!value->n && *i + 1 < c->n)
		*value = c->words[++*i].text;
	return true;
}

static bool is_help(struct str text)
{
	return str_eq(text, STR("-h")) || str_eq(text, STR("--help"));
}

static bool is_port(struct str text)
{
	for (size_t i = 0; i < text.n; i++)
		if (text.p[i] < '0' || text.p[i] > '9')
			return false;
	return text.n > 0;
}

bool loopback_serves(const struct shell_command *c)
{
	const size_t from = server_arguments(c);
	bool bound = false;
	struct str value;

	if (from == 0 || !all_known(c))
		return false;
	if (from + 1 == c->n && is_help(c->words[from].text))
		return true;
	for (size_t i = from; i < c->n; i++) {
		const struct str text = c->words[i].text;
		if (reads_bind(c, &i, &value)) {
			if (!is_local_address(value))
				return false;
			bound = true;
		} else if (str_eq(text, STR("-d")) || str_eq(text, STR("--directory"))) {
			i++;
		} else if (!is_port(text)) {
			return false;
		}
	}
	return bound;
}

bool loopback_is_diverted(struct str text)
{
	static const struct str names[] = { STR("_proxy"), STR("wgetrc"), STR("curlrc") };

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (str_find_nocase(text, names[i]) >= 0)
			return true;
	return str_find(text, STR("HOME=")) >= 0;
}
