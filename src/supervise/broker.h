/* SPDX-License-Identifier: MIT */
/*
 * broker: makes the connections of one sandboxed command, so that it reaches no other program's
 * socket.
 *
 * A command that may connect to the user's D-Bus, to docker or to an agent that holds keys is not
 * held by its sandbox. File rules do not know sockets (before Landlock ABI 9), and a filter cannot
 * read the address, which lies in memory. So connect is stopped, and performed by the broker: it
 * copies the address, takes the socket, finds out which socket file is meant as the command sees
 * it, and connects to that very file if it lies where the command may write, or in the operator's
 * list. Then whatever the command exchanges meanwhile makes no difference; a connect is never
 * answered with "go on".
 *
 *	Unix, by path	only as above; otherwise EACCES and a denial. What is not there is ENOENT
 *	… of a sidecar	EACCES and a denial: this one's are known by device and inode; every other
 *			one refuses sockets that have a name, and the broker gives them one
 *	Unix, abstract	EACCES and a denial: it cannot be known whose it is
 *	TCP, to a port of this machine at which this server or another one of the user listens
 *			EACCES and a denial
 *	all else	connected as it is
 *	datagram Unix sockets, which could send to any address, are refused when they are made
 *
 * The kernel checks ordinary permissions as it would have for the command, because root lowers its
 * rights first. The other end sees this process's number, and the same user.
 *
 * Every connection is made by a thread of its own, up to LIMIT_CONNECTORS at once, because it may
 * block: on the network, on a full backlog, on a file system that does not answer. The thread gives
 * up (EINTR) when its caller is killed or has a signal to handle, and when the command has ended.
 */
#ifndef SUPERVISE_BROKER_H
#define SUPERVISE_BROKER_H

#include "supervise/denials.h"

struct broker;

/* Can connections be made for commands on this system, if the server may look into them? If not,
 * *why is a reason in a few words. */
bool broker_is_possible(const char **why);

/* A broker for one command, within the bounds of its denials, which stay the caller's. NULL if
 * there is no memory. */
struct broker *broker_new(struct denials *d);

/* Give up what is under way, and wait for the threads: the last act of the supervision. Accepts
 * NULL. */
void broker_free(struct broker *k);

/* The judge that answers the calls of LISTENER_SOCKETS, and looks at those of LISTENER_SENDS. */
struct judge broker_judge(struct broker *k);

#endif
