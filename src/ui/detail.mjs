// SPDX-License-Identifier: MIT
// detail: one call: what it was asked, what it says, what it changed, what it cost.
import { args, button, diffView, el, fileList, members, part, receipt, told } from './view.mjs';
import { hasJustEnded, isCommand, outcome } from './calls.mjs';
import { Output } from './output.mjs';
import { refresh, stopButton, ticking } from './top.mjs';
import { plain, size } from './text.mjs';

const WHAT = { done: 'Changed, although it is guarded', path: 'The path was refused', command: 'The command was refused', sandbox: 'The sandbox refused it',
	network: 'The network was refused', guard: 'The guard refused it: a person’s programs run this later', auth: 'The request was refused' };

/** What is known of the call that is shown, besides its events in the timeline. */
export class Detail {
	call;
	#node;
	#server;
	#act;
	#parts;
	#seen = 0; // the last event whose output is here
	#waiting = null; // output that came while the call was asked for
	#known = null;
	#asked = 0;
	#output = [];
	#shown = null; // the view of it
	#drawn = 0;
	#everything = false;
	#ran = false; // its Stop was shown

	constructor(node, server, act) {
		this.#node = node;
		this.#server = server;
		this.#act = act;
	}

	/** Show this call; null: none. */
	show(call) {
		if (this.call === call)
			return;
		Object.assign(this, { call });
		this.#seen = this.#drawn = 0;
		this.#known = null;
		this.#output = [];
		this.#shown = null;
		this.#everything = this.#ran = false;
		this.#parts = Object.fromEntries(['head', 'callout', 'output', 'change', 'args', 'receipt', 'result'].map(name => [name, el('div')]));
		this.#node.replaceChildren(...(call ? Object.values(this.#parts) : [el('div', 'blank', el('b', '', 'Nothing to show yet'),
			'What the agent does appears here.')]));
		this.#node.scrollTop = 0;
		if (call)
			this.load();
	}

	/** Ask for what the timeline does not have. The newest answer counts. */
	async load() {
		const call = this.call, asked = ++this.#asked;
		if (!call)
			return undefined;
		if (!call.call || call.run !== this.#act.run())
			return this.draw(true);
		this.#waiting ??= [];
		const answer = await this.#server.get('calls/' + call.call).catch(error => ({ error }));
		if (call !== this.call || asked !== this.#asked)
			return undefined;
		this.#known = answer;
		if (!answer.error) {
			call.undone = answer.undone_by;
			answer.events.concat(this.#waiting).forEach(event => this.#take(event));
		}
		this.#waiting = null;
		return this.draw(true);
	}

	#take(event) {
		if (event.id <= this.#seen)
			return;
		this.#seen = event.id;
		if (event.type === 'output')
			this.#output.push(event);
	}

	/** An event of this call has come. */
	event(event) {
		if (this.#waiting)
			this.#waiting.push(event);
		else
			this.#take(event);
		if (event.type === 'call.end')
			this.load();
	}

	draw(always) {
		const call = this.call;
		if (!call || (this.#waiting && !always))
			return;
		const known = this.#known ?? {};
		const [look, words] = outcome(call);
		this.#ran ||= look === 'running';
		const just = this.#ran && hasJustEnded(call, Date.now());
		refresh(this.#parts.head, [look, words, just, call.stopping, call.undone, known.undoable, call.subject, this.#act.following(), this.#act.run()].join(), () => this.#head(look, words, just));
		refresh(this.#parts.callout, [call.refusals?.length, call.code, typeof known.result].join(), () => this.#callout(known));
		this.#drawOutput();
		refresh(this.#parts.change, [known.diff?.length, call.count, this.#act.side(), this.#everything, this.#canUndo()].join(), () => this.#change(known));
		refresh(this.#parts.args, String(Boolean(known.arguments)), () => args(known.arguments, call.subject));
		refresh(this.#parts.receipt, [call.ms, call.ended, call.change].join(), () => [part('Receipt', receipt(call))]);
		refresh(this.#parts.result, [Boolean(known.result), known.error, this.#act.run()].join(), () => this.#result(known));
	}

	#head(look, words, just) {
		const call = this.call;
		const back = button('‹ Back', '', () => this.#act.close());
		back.id = 'back';
		const undo = this.#canUndo() && button('Undo…', '', () => this.#act.undo(call));
		const undone = call.undone && el('span', 'badge', `undone by change ${call.undone}`);
		return [el('div', 'head', back, el('span', 'badge ' + look, words), undone,
			told('span', 'soft cut', call.tool, true),
			look === 'running' ? ticking('since', call.time) : ticking('ago', call.ended ?? call.time),
			look === 'running' || just ? stopButton(call, this.#act) : undo),
		told('div', 'subject', call.subject || call.tool)];
	}

	#canUndo() {
		const call = this.call;
		return Boolean(call.change && call.run === this.#act.run() && this.#known?.undoable && !call.undone);
	}

	#callout(known) {
		const call = this.call;
		if (call.refusals) {
			// What one guard has refused stands together.
			const guards = Map.groupBy(call.refusals, one => one.done ? 'done' : one.what);
			return [...guards].map(([what, list]) => el('div', 'callout refused', el('b', '', WHAT[what] ?? 'Refused'),
				...list.map(({ subject, why }) => el('div', '', subject === call.subject || why.includes(subject) ? null
					: told('code', '', subject + ' ', true), told('span', '', why)))));
		}
		if (call.timedOut)
			return [el('div', 'callout failed', el('b', '', 'It took too long'), 'The command was ended with everything that it started.')];
		if (call.code === 'CANCELLED')
			return [el('div', 'callout failed', el('b', '', 'It was stopped'), 'The command was ended with everything that it started.')];
		if (call.ok === false)
			return [el('div', 'callout failed', told('b', '', call.code ?? 'It failed', true), typeof known.result === 'string' ? told('span', '', known.result) : null)];
		return [];
	}

	#drawOutput() {
		const call = this.call, at = this.#parts.output;
		if (!this.#output.length && !(isCommand(call) && call.ok !== false && !call.job)) {
			refresh(at, 'job' + call.job, () => call.job ? [part('Output', el('p', 'note', `It runs, or ran, in the background as job ${call.job}. `),
				button('Show its output', '', () => this.#jobOutput(at)))] : []);
			return;
		}
		const out = this.#shown ??= new Output(this.#act.keep);
		refresh(at, 'output', () => [out.node]);
		for (; this.#drawn < this.#output.length; this.#drawn++) {
			const { stream, text, dropped } = this.#output[this.#drawn];
			if (dropped)
				out.skip(dropped);
			out.add(text, stream === 'stderr');
		}
		if (!this.#output.length && !call.running && !this.#isWhole() && out.isEmpty)
			out.add(call.tail);
		out.say(this.#output.length ? '' : call.running ? 'No output yet.' : this.#isWhole() ? 'No output.'
			: call.tail ? 'Only the end of its output is known here.' : 'Whether it had output is not known any more.');
	}

	find() {
		this.#shown?.node.querySelector('input').focus();
	}

	/** Whether everything that the call said is here: then what is not here was not said. */
	#isWhole() {
		return Boolean(this.#known?.events?.some(event => event.type === 'call.start'));
	}

	async #jobOutput(at) {
		const out = new Output(this.#act.keep);
		try {
			out.add((await this.#server.get(`jobs/${this.call.job}?since=0`)).output);
			out.say(out.isEmpty ? 'No output.' : '');
		} catch (error) {
			out.say(error.status === 404 ? `It is not shown here; “sidecar jobs logs ${this.call.job}” shows it.` : error.message);
		}
		at.replaceChildren(out.node);
	}

	#change(known) {
		const call = this.call;
		if (!call.change)
			return [];
		const side = this.#act.side();
		const files = call.files.length > 1 || !known.diff ? fileList(call.files, call.count - call.files.length,
			this.#canUndo() && call.count > 1 && (file => this.#act.undo(call, file.path))) : null;
		const toggle = known.diff && button(side ? 'Inline' : 'Side by side', 'side', () => this.#act.toggleSide());
		return [part(['What it changed', toggle], files, known.diff ? diffView(known.diff, side, this.#everything, () => {
			this.#everything = true;
			this.draw();
		}) : known.diff === null ? el('p', 'note', 'What files had before is not kept.') : null)];
	}

	#result(known) {
		const call = this.call;
		if (known.error || call.run !== this.#act.run())
			return [el('p', 'note', call.run !== this.#act.run() ? 'This call was made by an earlier run of the server, which kept its details.'
				: known.error.status === 404 ? 'The server does not keep the details of this call any more.' : known.error.message)];
		if (!known.result || call.ok === false)
			return [];
		const got = typeof known.result === 'string' ? told('pre', '', known.result) : members(known.result);
		const fold = el('details', '', el('summary', 'soft', 'What the caller got' + (known.cut ? ` (the beginning of ${size(call.bytes)})` : '')), got);
		fold.open = !isCommand(call) && !call.change;
		return [el('div', 'part', fold)];
	}
}

/** The dialog that shows what an undo would do, and does it: of a change, of one of its files, or of a session. */
export async function undoDialog(dialog, call, only, server, done) {
	const one = `changes/${call.change}/undo`;
	const choices = [[`change ${call.change}`, one, {}],
		...(call.files.length > 1 ? call.files.map(file => ['only ' + file.path, one, { paths: [file.path] }]) : []),
		...(call.session ? [[`everything of session ${call.session}`, 'changes/undo', { session: call.session }]] : [])];
	const what = el('select', '', ...choices.map(([words]) => el('option', '', plain(words))));
	what.setAttribute('aria-label', 'What to undo');
	what.selectedIndex = only ? Math.max(0, choices.findIndex(choice => choice[2].paths?.[0] === only)) : 0;
	const close = button('Cancel', '', () => dialog.close());
	const list = el('div'), menu = el('menu', '', close), title = el('h2', '', `Undo change ${call.change}?`);
	title.id = 'undo-title';
	dialog.replaceChildren(title, told('p', '', call.subject ? `${call.tool} ${call.subject}` : call.tool, true),
		choices.length > 1 ? what : '', list, menu);
	const send = body => server.post(choices[what.selectedIndex][1], { ...choices[what.selectedIndex][2], ...body });
	const act = (label, classes, body) => {
		const go = button(label, classes, async () => {
			go.disabled = true;
			try {
				await send(body);
				dialog.close();
				done();
			} catch (error) {
				go.disabled = false;
				plan(error);
			}
		});
		menu.replaceChildren(close, go);
	};
	// What would be done, or why nothing can be.
	const plan = answer => {
		const conflicts = (answer.body ?? answer).conflicts ?? [];
		menu.replaceChildren(close);
		if (answer instanceof Error) {
			list.replaceChildren(told('div', 'callout refused', conflicts.length ? 'Something else has changed this since, and nothing was undone. ' +
				'It can be overwritten: its present state is kept, and comes back if this undo is undone.' : answer.message),
				fileList([...conflicts.map(one => ({ path: `${one.path}: ${one.why}`, kind: 'conflict' })),
					...(answer.body?.paths ?? []).map(one => ({ path: one.path ?? one, kind: 'not saved' }))], 0));
			if (['CONFLICT', 'NOT_SAVED'].includes(answer.body?.code))
				act(conflicts.length ? 'Overwrite and undo' : 'Undo the rest', 'stop', { force: true });
			return;
		}
		const files = [...answer.restored.map(name => ({ path: name, kind: 'restore' })),
			...answer.removed.map(name => ({ path: name, kind: 'remove' })),
			...answer.renamed.map(one => ({ path: `${one.from} → ${one.to}`, kind: 'rename' }))];
		list.replaceChildren(el('p', '', files.length ? 'This is what it would do:' : 'There is nothing to undo any more.'), fileList(files, 0));
		if (files.length)
			act('Undo', 'main', {});
	};
	let asked = 0;
	const look = () => {
		const now = ++asked, tell = answer => now === asked && plan(answer);
		return send({ dryRun: true }).then(tell, tell);
	};
	what.addEventListener('change', look);
	if (!dialog.open)
		dialog.showModal();
	await look();
	(menu.querySelector('.main') ?? close).focus();
}
