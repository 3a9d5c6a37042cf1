/* SPDX-License-Identifier: MIT */
/* command: words quoted for a shell, where they need it. */

#include "cli/command.h"

#include <string.h>

static void quote(const char *word, struct buf *to)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "_-./,:@%+";

	/* "=" is not plain: NAME=value in front would be an assignment. */
	if (*word && strspn(word, plain) == strlen(word)) {
		buf_add(to, str_of(word));
		return;
	}
	buf_addc(to, '\'');
	for (; *word; word++) {
		if (*word == '\'')
			buf_add(to, STR("'\\''"));
		else
			buf_addc(to, *word);
	}
	buf_addc(to, '\'');
}

void command_join(int count, char *const *words, struct buf *to)
{
	for (int i = 0; i < count; i++) {
		if (i)
			buf_addc(to, ' ');
		if (count == 1)
			buf_add(to, str_of(words[i]));
		else
			quote(words[i], to);
	}
	buf_addc(to, '\0');
}
