/* SPDX-License-Identifier: MIT */
/* Settings from the text of a file: an answer for every text, and defaults where nothing is said.
 */

#include <assert.h>

#include "config/config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO_CONFIG config = { 0 };
	struct err e = { .code = ERR_NONE };

	config_defaults(&config);
	config.files[CONFIG_USER_FILE] = "config.json";
	const struct str text = { (const char *)data, size };
	const int rc = config_file_set(&config, CONFIG_USER_FILE, text, size & 1, &e);
	assert((rc == 0) == (e.code == ERR_NONE));
	for (size_t i = 0; i < CONFIG_SETTINGS; i++)
		assert(config.origin[i] == CONFIG_DEFAULT || config.origin[i] == CONFIG_USER_FILE);
	return 0;
}
