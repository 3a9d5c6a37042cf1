/* SPDX-License-Identifier: MIT */
/* tracker: a hash table of bounded size whose members are also a list, most recently used first. */

#include "workspace/tracker.h"

#include <pthread.h>
#include <stdint.h>
#include <xxhash.h>

#include "base/own.h"

struct version {
	int64_t size;
	uint64_t hash;
};

struct seen_file {
	struct seen_file *chain;	 /* next in the same bucket */
	struct seen_file *newer, *older; /* in order of use */
	uint64_t key;			 /* hash of session and path */
	struct version version;
	int64_t upto;  /* lines of that version seen, from the first on; INT64_MAX: all */
	char *content; /* of that version; NULL: not kept */
	size_t session_n, path_n;
	char text[]; /* session, then path */
};

struct tracker {
	pthread_mutex_t lock;
	size_t max, count, buckets;
	size_t kept; /* bytes of content */
	struct seen_file *newest, *oldest;
	struct seen_file **table;
};

static uint64_t hash_of(struct str s, uint64_t seed)
{
	return XXH3_64bits_withSeed(s.n ? s.p : "", s.n, seed);
}

static uint64_t key_of(struct str session, struct str path)
{
	return hash_of(path, hash_of(session, 0));
}

static struct version version_of(struct str content)
{
	return (struct version){ (int64_t)content.n, hash_of(content, 0) };
}

struct tracker *tracker_new(size_t max)
{
	struct tracker *t = mem_new(1, sizeof *t);

	if (!t)
		return NULL;
	t->max = max ? max : 1;
	t->buckets = t->max / 2 + 1;
	t->table = mem_new(t->buckets, sizeof *t->table);
	if (!t->table) {
		mem_free(t);
		return NULL;
	}
	(void)pthread_mutex_init(&t->lock, NULL);
	return t;
}

void tracker_free(struct tracker *t)
{
	if (!t)
		return;
	for (struct seen_file *e = t->newest, *older; e; e = older) {
		older = e->older;
		mem_free(e->content);
		mem_free(e);
	}
	(void)pthread_mutex_destroy(&t->lock);
	mem_free(t->table);
	mem_free(t);
}

static struct seen_file **bucket_of(struct tracker *t, uint64_t key)
{
	return &t->table[key % t->buckets];
}

static struct seen_file *find(struct tracker *t, uint64_t key, struct str session, struct str path)
{
	for (struct seen_file *e = *bucket_of(t, key); e; e = e->chain)
		if (e->key == key && str_eq((struct str){ e->text, e->session_n }, session) &&
		    str_eq((struct str){ e->text + e->session_n, e->path_n }, path))
			return e;
	return NULL;
}

static void unlist(struct tracker *t, struct seen_file *e)
{
	*(e->newer ? &e->newer->older : &t->newest) = e->older;
	*(e->older ? &e->older->newer : &t->oldest) = e->newer;
	e->newer = e->older = NULL;
}

static void list_newest(struct tracker *t, struct seen_file *e)
{
	e->older = t->newest;
	*(t->newest ? &t->newest->newer : &t->oldest) = e;
	t->newest = e;
}

static void drop_content(struct tracker *t, struct seen_file *e)
{
	if (!e->content)
		return;
	t->kept -= (size_t)e->version.size;
	mem_free(e->content);
	e->content = NULL;
}

/* Keep the content of the newest file; older ones lose theirs to make room. */
static void keep_content(struct tracker *t, struct seen_file *e, struct str content)
{
	if (content.n > LIMIT_TRACKED_CONTENT)
		return;
	for (struct seen_file *old = t->oldest;
	     old != e && t->kept + content.n > LIMIT_TRACKED_BYTES; old = old->newer)
		drop_content(t, old);
	e->content = mem_new(content.n + 1, 1);
	if (!e->content)
		return;
	if (content.n)
		memcpy(e->content, content.p, content.n);
	t->kept += content.n;
}

static void forget_oldest(struct tracker *t)
{
	struct seen_file *e = t->oldest;
	struct seen_file **at = bucket_of(t, e->key);

	while (*at != e)
		at = &(*at)->chain;
	*at = e->chain;
	unlist(t, e);
	drop_content(t, e);
	mem_free(e);
	t->count--;
}

static struct seen_file *add(struct tracker *t, uint64_t key, struct str session, struct str path)
{
	struct seen_file *e = mem_new(1, sizeof *e + session.n + path.n);

	if (!e)
		return NULL;
	e->key = key;
	e->session_n = session.n;
	e->path_n = path.n;
	if (session.n)
		memcpy(e->text, session.p, session.n);
	if (path.n)
		memcpy(e->text + session.n, path.p, path.n);
	if (t->count == t->max)
		forget_oldest(t);
	struct seen_file **bucket = bucket_of(t, key);
	e->chain = *bucket;
	*bucket = e;
	list_newest(t, e);
	t->count++;
	return e;
}

static bool same_version(const struct version *a, const struct version *b)
{
	return a->size == b->size && a->hash == b->hash;
}

/* How far a session has seen the file that had seen it up to a line. */
static int64_t seen_upto(int64_t upto, const struct tracker_lines *lines)
{
	if (!lines)
		return INT64_MAX;
	/* Written so that no number is too large. */
	if (lines->last > upto && lines->first - 1 <= upto)
		upto = lines->last;
	return upto >= lines->total ? INT64_MAX : upto;
}

/* Without `content` only the version is remembered. */
static void remember(struct tracker *t, struct str session, struct str path,
		     const struct version *version, const struct str *content,
		     const struct tracker_lines *lines)
{
	const uint64_t key = key_of(session, path);
	int64_t upto = 0;

	(void)pthread_mutex_lock(&t->lock);
	struct seen_file *e = find(t, key, session, path);
	if (e) {
		upto = same_version(&e->version, version) ? e->upto : 0;
		drop_content(t, e);
		unlist(t, e);
		list_newest(t, e);
	} else {
		e = add(t, key, session, path);
	}
	/* Without memory the file stays unseen: the session will have to read it again. */
	if (e) {
		e->version = *version;
		e->upto = seen_upto(upto, lines);
	}
	if (e && content)
		keep_content(t, e, *content);
	(void)pthread_mutex_unlock(&t->lock);
}

void tracker_saw_hash(struct tracker *t, struct str session, struct str path, int64_t size,
		      uint64_t hash, const struct tracker_lines *lines)
{
	remember(t, session, path, &(struct version){ size, hash }, NULL, lines);
}

void tracker_saw(struct tracker *t, struct str session, struct str path, struct str content,
		 const struct tracker_lines *lines)
{
	const struct version version = version_of(content);

	remember(t, session, path, &version, &content, lines);
}

bool tracker_recall(struct tracker *t, struct str session, struct str path, struct buf *out)
{
	(void)pthread_mutex_lock(&t->lock);
	const struct seen_file *e = find(t, key_of(session, path), session, path);
	const bool known = e && e->content;
	if (known)
		buf_add(out, (struct str){ e->content, (size_t)e->version.size });
	(void)pthread_mutex_unlock(&t->lock);
	return known && !out->failed;
}

enum tracker_verdict tracker_check(struct tracker *t, struct str session, struct str path,
				   struct str content)
{
	const struct version now = version_of(content);
	const uint64_t key = key_of(session, path);
	enum tracker_verdict verdict = TRACKER_UNSEEN;

	(void)pthread_mutex_lock(&t->lock);
	struct seen_file *e = find(t, key, session, path);
	if (e) {
		verdict = !same_version(&e->version, &now) ? TRACKER_CHANGED
			  : e->upto == INT64_MAX	   ? TRACKER_SAME
							   : TRACKER_PART;
		unlist(t, e);
		list_newest(t, e);
	}
	(void)pthread_mutex_unlock(&t->lock);
	return verdict;
}

struct tracker_hash {
	XXH3_state_t *state;
};

struct tracker_hash *tracker_hash_new(void)
{
	struct tracker_hash *h = mem_new(1, sizeof *h);

	if (!h)
		return NULL;
	h->state = XXH3_createState();
	if (!h->state || XXH3_64bits_reset_withSeed(h->state, 0) == XXH_ERROR) {
		(void)XXH3_freeState(h->state);
		mem_free(h);
		return NULL;
	}
	return h;
}

void tracker_hash_add(struct tracker_hash *h, struct str piece)
{
	(void)XXH3_64bits_update(h->state, piece.n ? piece.p : "", piece.n);
}

uint64_t tracker_hash_end(struct tracker_hash *h)
{
	const uint64_t hash = XXH3_64bits_digest(h->state);

	(void)XXH3_freeState(h->state);
	mem_free(h);
	return hash;
}
