// SPDX-License-Identifier: MIT
// calls: what the events say, call by call, newest first; what is shown of it, and in which words.

const MOST = 10000; // calls that are remembered
const MOST_REFUSALS = 100; // of one call
const TAIL = 300; // characters of output, to show what a command said last
const STAYS = 1000; // milliseconds that a call which has ended keeps its place: no other button slides under the pointer
const COMMANDS = new Set(['bash', 'run_command', 'execute']);
// The routes by which people look; the page uses them itself.
const LOOKING = new Set(['changes', 'change', 'change_diff', 'jobs', 'job']);

export function isCommand(call) {
	return COMMANDS.has(call.tool);
}

export function isRunning(call) {
	return Boolean(call.running || call.jobRuns);
}

export function hasJustEnded(call, now) {
	return !isRunning(call) && now - call.left < STAYS;
}

/** How a call stands: a word for its look, and words for people. A command that ran can have been refused something, or
 * have changed what is guarded. */
export function outcome(call) {
	if (!call.refusals || isRunning(call))
		return standing(call);
	const refused = call.refusals.filter(one => !one.done).length, done = call.refusals.length - refused;
	return ['refused', Number.isInteger(call.exitCode) || done ? [standing(call)[1], refused ? refused + ' refused' : '',
		done ? done + ' guarded' : ''].filter(Boolean).join(', ') : 'refused'];
}

/** Why it was refused or failed, or what it says while it runs: in a line. */
export function reason(call) {
	if (isRunning(call) || !call.refusals)
		return call.running || call.exitCode || call.signal || call.timedOut ? lastLine(call)
			: call.ok === false ? (call.code ?? '').replaceAll('_', ' ').toLowerCase() : '';
	return call.refusals.at(-1).why;
}

/** Whether it has a line for its reason. */
export function hasReason(call) {
	return !call.gap && !isRunning(call) && Boolean(reason(call));
}

function standing(call) {
	if (call.lost)
		return ['gap', 'not known']; // its server ended
	if (call.jobRuns)
		return ['running', 'in background'];
	if (call.running)
		return ['running', call.stopping ? 'stopping' : 'running'];
	if (call.timedOut)
		return ['failed', 'timed out'];
	if (call.code === 'CANCELLED')
		return ['failed', 'stopped'];
	if (call.signal)
		return ['failed', call.signal];
	if (call.exitCode)
		return ['failed', 'exit ' + call.exitCode];
	if (call.ok === false)
		return ['failed', 'failed'];
	if (call.change)
		return [kindOf(call) === 'deleted' ? 'deleted' : 'changed', changeWords(call)];
	return call.gap ? ['gap', ''] : ['ok', isCommand(call) ? 'exit 0' : 'ok'];
}

/** The file that a change is about, if it is about one: a new file may come with its directories. */
export function mainFile(call) {
	return call.files.find(file => file.path === call.subject) ?? (call.count === 1 ? call.files[0] : undefined);
}

/** What was done to it, or to all files alike. */
function kindOf(call) {
	const kind = (mainFile(call) ?? call.files[0])?.kind;
	return mainFile(call) || call.files.every(file => file.kind === kind) ? kind : undefined;
}

export function changeWords(call) {
	const kind = KINDS[kindOf(call)];
	return !call.count ? 'changed' : mainFile(call) ? kind ?? 'changed' : `${call.count} ${kind ?? 'files'}`;
}

/** Lines that a change has added and removed, as far as they were counted. */
export function lines(call) {
	const sum = name => call.files.reduce((n, file) => n + (file[name] ?? 0), 0);
	return [sum('added'), sum('removed')];
}

const KINDS = { created: 'created', modified: 'edited', deleted: 'deleted', renamed: 'renamed' };

/** Who made a call: the program by its name, and its session; else its user, because process numbers would make each
 * call a caller of its own. */
export function caller(call) {
	const user = /^(uid -?\d+) pid -?\d+$/.exec(call.client);
	if (user || !call.client)
		return call.session || (user?.[1] ?? '');
	return call.session && call.session !== 'stdio' ? `${call.client} ${call.session.slice(0, 8)}` : call.client;
}

export class Calls {
	list = []; // oldest first
	run = 0; // counts the servers that were seen; numbers of calls begin again with each
	forgotten = 0;
	partly = false; // there were calls before those that are known
	#byKey = new Map();
	#undone = new Map(); // changes, and by which change each was undone

	find(key) {
		return this.#byKey.get(key);
	}

	get last() {
		return this.list.at(-1);
	}

	#add(key, call) {
		const added = { key, run: this.run, tool: '', subject: '', session: '', client: '', time: 0, files: [], count: 0, tail: '',
			...call };
		this.#byKey.set(key, added);
		this.list.push(added);
		if (this.list.length > MOST) {
			const gone = this.list.splice(0, MOST / 10);
			gone.forEach(old => this.#byKey.delete(old.key));
			this.forgotten += gone.length;
		}
		return added;
	}

	#of(event) {
		const key = this.run + ':' + event.call;
		return this.#byKey.get(key) ?? this.#add(key, { call: event.call, time: Date.parse(event.time), partly: true });
	}

	/** Take in an event. Returns the call that it is about. */
	apply(event) {
		const time = Date.parse(event.time);
		if (event.type === 'gap')
			return this.#gap(event);
		if (event.type === 'change' && !event.call)
			return this.#add(this.run + ':e' + event.id, { time, ended: time, changed: time, tool: 'another program', ok: true,
				subject: event.files[0]?.path ?? '', change: event.change, files: event.files, count: event.count });
		if (!event.call)
			return this.#refuse(this.#add(this.run + ':e' + event.id, { time, ended: time, tool: 'request', ok: false }), event, time);
		const call = this.#of(event);
		switch (event.type) {
		case 'call.start':
			Object.assign(call, { time, tool: event.tool, subject: (event.tool === 'undo' && event.subject ? 'change ' : '') + event.subject, session: event.session, client: event.client,
				front: event.front, running: true, partly: false });
			break;
		case 'output':
			call.tail = (call.tail + event.text).slice(-TAIL);
			call.running ??= true;
			break;
		case 'change':
			Object.assign(call, { change: event.change, files: event.files, count: event.count, changed: time });
			this.#mark(call);
			break;
		case 'refused':
		case 'guard.changed':
			this.#refuse(call, event, time);
			break;
		case 'call.end':
			this.#leave(call);
			Object.assign(call, { running: false, stopping: false, ended: time, ok: event.ok, code: event.code, ms: event.ms,
				exitCode: event.exit_code, signal: event.signal, timedOut: event.timed_out, bytes: event.bytes,
				cpuMs: event.cpu_ms, memory: event.peak_memory_bytes, survivors: event.survivors, dropped: event.dropped });
			if (event.change)
				call.change = event.change;
			break;
		case 'job.start':
			Object.assign(call, { job: event.job, jobRuns: true, subject: call.subject || event.subject });
			break;
		case 'job.end':
			this.#leave(call);
			Object.assign(call, { job: event.job, jobRuns: false, ended: time, ok: event.ok, code: event.code, ms: event.ms,
				exitCode: event.exit_code, signal: event.signal, timedOut: event.timed_out });
			break;
		}
		return call;
	}

	/** It runs no more, but is still where it was shown. */
	#leave(call) {
		call.left = Date.now();
	}

	#refuse(call, { type, what, subject = '', why }, time) {
		call.subject ||= subject;
		call.refusals ??= [];
		if (call.refusals.length < MOST_REFUSALS)
			call.refusals.push({ what, subject, why, done: type === 'guard.changed' });
		call.refused = time;
		return call;
	}

	/** Something is missing. If it is not known how much, another server answers now. */
	#gap(event) {
		const known = event.lost !== null;
		if (!known && this.last?.gap === 'run')
			return this.last; // it is said again until the new server has had an event
		this.partly = true;
		const old = this.list.length > 0;
		if (!known) {
			this.list.filter(isRunning).forEach(call => {
				this.#leave(call);
				Object.assign(call, { running: false, jobRuns: false, lost: true });
			});
			this.run++;
		}
		const words = known ? event.lost.toLocaleString('en') + (old ? ' events are missing here' : ' earlier events are not kept')
			: 'The server was started again';
		return this.#add('gap' + this.run + ':' + this.list.length + ':' + this.forgotten,
			{ gap: known ? 'lost' : 'run', subject: words, time: this.last?.ended ?? this.last?.time ?? Date.now() });
	}

	/** The calls that run now, oldest first; short ones only once they have run for a moment, and the one that was shown for
	 * a moment longer: none takes its place at once. */
	running(now) {
		return this.list.filter(call => isRunning(call) ? call.jobRuns || isCommand(call) || now - call.time > 500
			: call.shown && hasJustEnded(call, now));
	}

	#mark(call) {
		if (call.run === this.run && this.#undone.has(call.change))
			call.undone = this.#undone.get(call.change);
	}

	/** Learn from the journal which changes have been undone. */
	setUndone(changes) {
		this.#undone = new Map(changes.map(change => [change.id, change.undone_by]));
		this.list.forEach(call => this.#mark(call));
	}

	/** The call that changed something last, or was refused something last: "changed", "refused". */
	newest(when) {
		return this.list.reduce((newest, call) => call[when] >= (newest?.[when] ?? 0) ? call : newest, undefined);
	}
}

/** Whether a call is shown. */
export function matches(call, filter) {
	if (LOOKING.has(call.tool) || (call.tool === 'undo' && !call.running && !call.change))
		return false;
	if (call.gap)
		return !filter.active;
	return (!filter.refused || call.refused) && (!filter.changes || call.change) &&
		(!filter.tool || call.tool === filter.tool) && (!filter.session || caller(call) === filter.session) &&
		(!filter.text || said(call).includes(filter.text));
}

function said(call) {
	call.said ??= [call.tool, call.subject, call.session, call.client].join('\n').toLowerCase();
	const more = [...call.files.map(file => file.path), ...(call.refusals ?? []).flatMap(one => [one.subject, one.why])];
	return more.length ? call.said + '\n' + more.join('\n').toLowerCase() : call.said;
}

/** The last line that a command has printed. */
export function lastLine(call) {
	return call.tail.trimEnd().split(/[\r\n]/).at(-1) ?? '';
}
