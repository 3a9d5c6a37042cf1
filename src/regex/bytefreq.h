/* SPDX-License-Identifier: MIT */
/*
 * bytefreq: how often each byte is seen in source code and prose, so that a search can look for the
 * rare one. Only speed depends on it.
 */
#ifndef REGEX_BYTEFREQ_H
#define REGEX_BYTEFREQ_H

#include <stdint.h>

enum { BYTEFREQ_ALL = 1 << 16 }; /* about what all entries add up to */

extern const uint16_t bytefreq[256];

#endif
