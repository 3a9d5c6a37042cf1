// SPDX-License-Identifier: MIT
// detail: one call: what it was asked, what it says, what it changed, what it cost.
import { args, button, diffView, el, facts, fileList, part, receipt, say, told } from './view.mjs';
import { isCommand, outcome } from './calls.mjs';
import { refresh, stopButton, ticking } from './top.mjs';
import { size } from './text.mjs';

const WHAT = { path: 'The path was refused', command: 'The command was refused', sandbox: 'The sandbox refused it',
	network: 'The network was refused', auth: 'The request was refused' };

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
	#drawn = 0;
	#everything = false;

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
		this.#everything = false;
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
		refresh(this.#parts.head, [look, words, call.stopping, call.undone, known.undoable, call.subject, this.#act.following(), this.#act.run()].join(), () => this.#head(look, words));
		refresh(this.#parts.callout, [call.refusals?.length, call.code, known.result].join(), () => this.#callout(known));
		this.#drawOutput();
		refresh(this.#parts.change, [known.diff?.length, call.count, this.#act.side(), this.#everything].join(), () => this.#change(known));
		refresh(this.#parts.args, String(Boolean(known.arguments)), () => args(known.arguments, call.subject));
		refresh(this.#parts.receipt, [call.ms, call.ended, call.change].join(), () => [part('Receipt', receipt(call))]);
		refresh(this.#parts.result, [Boolean(known.result), known.error, this.#act.run()].join(), () => this.#result(known));
	}

	#head(look, words) {
		const call = this.call;
		const back = button('‹ Back', '', () => this.#act.close());
		back.id = 'back';
		const can = call.change && call.run === this.#act.run() && this.#known?.undoable && !call.undone;
		const undo = can && button('Undo…', '', () => this.#act.undo(call));
		const undone = call.undone && el('span', 'badge', `undone by change ${call.undone}`);
		return [el('div', 'head', back, el('span', 'badge ' + look, words), undone,
			told('span', 'soft cut', call.tool, true),
			this.#act.following() ? el('span', 'soft cut', '· following what is new') : null,
			look === 'running' ? ticking('since', call.time) : ticking('ago', call.ended ?? call.time),
			look === 'running' ? stopButton(call, this.#act) : null, undo),
		told('div', 'subject', call.subject || call.tool)];
	}

	#callout(known) {
		const call = this.call;
		if (call.refusals)
			return call.refusals.map(({ what, subject, why }) => el('div', 'callout refused', el('b', '', WHAT[what] ?? 'Refused'),
				subject && subject !== call.subject ? told('code', '', subject + '\n', false) : null, told('span', '', why)));
		if (call.timedOut)
			return [el('div', 'callout failed', el('b', '', 'It took too long'), 'The command was ended with everything that it started.')];
		if (call.code === 'CANCELLED')
			return [el('div', 'callout failed', el('b', '', 'It was stopped'), 'The command was ended with everything that it started.')];
		if (call.ok === false)
			return [el('div', 'callout failed', told('b', '', call.code ?? 'It failed', true), told('span', '', known.result ?? ''))];
		return [];
	}

	#drawOutput() {
		const call = this.call, at = this.#parts.output;
		if (!this.#output.length && !(isCommand(call) && call.ok !== false && !call.job)) {
			refresh(at, 'job' + call.job, () => call.job ? [part('Output', el('p', 'note', `It runs, or ran, in the background as job ${call.job}. `),
				button('Show its output', '', () => this.#jobOutput(at)))] : []);
			return;
		}
		refresh(at, 'output', () => {
			this.#drawn = 0;
			this.pre = el('pre');
			this.pre.tabIndex = 0;
			this.pre.setAttribute('aria-label', 'Output');
			this.note = el('p', 'note');
			return [part('Output', this.pre, this.note)];
		});
		const bottom = this.pre.scrollTop + this.pre.clientHeight >= this.pre.scrollHeight - 4;
		for (; this.#drawn < this.#output.length; this.#drawn++) {
			const { stream, text } = this.#output[this.#drawn];
			if (stream === 'stderr')
				this.pre.append(told('span', 'stderr', text));
			else
				say(this.pre, text);
		}
		if (bottom && call.running)
			this.pre.scrollTop = this.pre.scrollHeight;
		this.pre.hidden = !this.#output.length;
		this.note.textContent = call.dropped ? `${size(call.dropped)} more were printed; the beginning of the output is kept here.`
			: this.#output.length ? '' : call.running ? 'No output yet.' : 'No output.';
	}

	async #jobOutput(at) {
		const pre = el('pre');
		try {
			say(pre, (await this.#server.get(`jobs/${this.call.job}?since=0`)).output || '(none)');
		} catch (error) {
			say(pre, error.status === 404 ? `It is not shown here; “sidecar jobs logs ${this.call.job}” shows it.` : error.message);
		}
		at.replaceChildren(part('Output', pre));
	}

	#change(known) {
		const call = this.call;
		if (!call.change)
			return [];
		const side = this.#act.side();
		const files = call.files.length > 1 || !known.diff ? fileList(call.files, call.count - call.files.length) : null;
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
			return known.events && !isCommand(call) && !call.change && call.ok ? [el('p', 'note', 'What calls read is not kept.')] : [];
		const fold = el('details', '', el('summary', 'soft', 'What the caller got (its beginning)'), told('pre', '', known.result));
		return [el('div', 'part', fold)];
	}
}

/** The dialog that shows what an undo would do, and does it. */
export async function undoDialog(dialog, call, server, done) {
	const close = button('Cancel', '', () => dialog.close());
	const list = el('div');
	const menu = el('menu', '', close);
	const title = el('h2', '', `Undo change ${call.change}?`);
	title.id = 'undo-title';
	dialog.replaceChildren(title, told('p', '', call.subject ? `${call.tool} ${call.subject}` : call.tool, true), list, menu);
	const path = `changes/${call.change}/undo`;
	const act = (label, classes, body) => {
		const go = button(label, classes, async () => {
			go.disabled = true;
			try {
				const made = await server.post(path, body);
				dialog.close();
				done(made.change);
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
		if (answer instanceof Error) {
			list.replaceChildren(told('div', 'callout refused', conflicts.length ? 'Something else has changed this since, and nothing was undone. ' +
				'It can be overwritten: its present state is kept, and comes back if this undo is undone.' : answer.message),
				fileList([...conflicts.map(one => ({ path: `${one.path}: ${one.why}`, kind: 'conflict' })),
					...(answer.body?.paths ?? []).map(one => ({ path: one.path ?? one, kind: 'not saved' }))], 0));
			if (['CONFLICT', 'NOT_SAVED'].includes(answer.body?.code))
				act(conflicts.length ? 'Overwrite and undo' : 'Undo the rest', 'stop', { force: true });
			return;
		}
		list.replaceChildren(el('p', '', 'This is what it would do:'), fileList([
			...answer.restored.map(name => ({ path: name, kind: 'restore' })),
			...answer.removed.map(name => ({ path: name, kind: 'remove' })),
			...answer.renamed.map(one => ({ path: `${one.from} → ${one.to}`, kind: 'rename' }))], 0));
		act('Undo', 'main', {});
	};
	if (!dialog.open)
		dialog.showModal();
	await server.post(path, { dryRun: true }).then(plan, plan);
	(menu.querySelector('.main') ?? close).focus();
}
