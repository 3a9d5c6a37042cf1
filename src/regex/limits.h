/* SPDX-License-Identifier: MIT */
/* limits: every number that limits patterns, with its reason. */
#ifndef REGEX_LIMITS_H
#define REGEX_LIMITS_H

enum {
	/* A search pattern. A list of a thousand words has 10 KB. */
	LIMIT_REGEX_PATTERN = 32 << 10,
	/* Nested groups: the parser recurses once per level. */
	LIMIT_REGEX_DEPTH = 128,
	/* Levels of a pattern's tree at which a quantifier may still be added. A group has at most
	 * three levels, so walking the tree recurses at most a thousand times. */
	LIMIT_REGEX_HEIGHT = 512,
	/* {n,m}: the same as in PCRE. Large numbers reach the limit of nodes long before. */
	LIMIT_REGEX_REPEAT = 65535,
	/* Nodes of the automaton, numbered with 16 bits. A state has at most that many. */
	LIMIT_REGEX_NODES = 16 << 10,
	/* Memory for compiling one pattern. */
	LIMIT_REGEX_ARENA = 8 << 20,
	/* States of one lazy automaton, in bytes and per thread; when full it starts anew. */
	LIMIT_REGEX_STATES = 2 << 20,
	/* Bytes the automaton reads before it checks the clock again: less than a millisecond. */
	LIMIT_REGEX_SLICE = 256 << 10,
	/* Steps of PCRE2 on one line: hundreds of milliseconds, unless the deadline ends it. */
	LIMIT_PCRE_STEPS = 10 << 20,
	/* The same for PCRE2's slower interpreter, used where memory cannot be executable. */
	LIMIT_PCRE_STEPS_INTERPRETED = 1 << 20,
	/* PCRE2's memory for one match, in KB. */
	LIMIT_PCRE_HEAP_KB = 8 << 10,
	/* Compiled pattern for PCRE2's just-in-time compiler: a larger one recurses deeper. */
	LIMIT_PCRE_JIT_BYTES = 16 << 10,
	/* Largest compiled pattern that PCRE2 may have. */
	LIMIT_PCRE_BYTES = 256 << 10,
	/* Stack of a just-in-time compiled match. */
	LIMIT_PCRE_JIT_STACK = 512 << 10,
};

#endif
