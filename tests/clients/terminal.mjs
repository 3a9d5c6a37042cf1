// SPDX-License-Identifier: MIT
// terminal: a program on a terminal, by tmux, and what it shows there as a page for a picture.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { until } from './sidecar.mjs';

/** What a program shows on a terminal of its own once the screen has a text: its lines, with escape sequences for
 * colours. `folder` holds the socket of a tmux, which ends before this returns. */
export async function screen(words, wanted, { folder, env, columns = 100, rows = 30 }) {
	const tmux = (...args) => execFileSync('tmux', ['-S', join(folder, 'tmux'), '-f', '/dev/null', '-u', ...args], { env, encoding: 'utf8' });
	tmux('new-session', '-d', '-x', String(columns), '-y', String(rows), ...words);
	try {
		await until(() => tmux('capture-pane', '-p').includes(wanted), `the terminal shows ${wanted}`);
		return tmux('capture-pane', '-p', '-e').trimEnd();
	} finally {
		tmux('kill-server');
	}
}

// The colours of the codes from 31.
const COLOURS = ['', '#ff7b72', '#56d364', '#e3b341', '#79c0ff', '#d2a8ff', '#56d4dd'];
const ENTITIES = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

function style(look) {
	return `${look.bold ? 'font-weight:700;' : ''}${look.colour ? `color:${look.colour};` : look.dim ? 'color:#8b949e;' : ''}`;
}

/** Text with escape sequences for colours as HTML. */
function spans(painted) {
	let look = {};
	return painted.split('\x1b[').map((part, i) => {
		const [whole, codes] = i ? /^([\d;]*)m/.exec(part) : ['', ''];
		for (const code of i ? codes.split(';').map(Number) : [])
			look = code === 0 ? {} : { ...look, ...code === 1 ? { bold: true } : code === 2 ? { dim: true } : { colour: COLOURS[code - 30] } };
		return `<span style="${style(look)}">${part.slice(whole.length).replace(/[&<>]/g, one => ENTITIES[one])}</span>`;
	}).join('');
}

/** The address of a page that shows it in the window of a terminal, which is its element `main`. */
export function portrait(painted, title) {
	return `data:text/html;charset=utf-8,${encodeURIComponent(`<!DOCTYPE html><meta charset="utf-8"><title>${title}</title><style>
		body { margin: 0; background: transparent }
		main { width: max-content; border-radius: 10px; overflow: hidden; background: #0d1117; color: #e6edf3 }
		header { display: flex; gap: 8px; align-items: center; padding: 11px 14px; background: #21262d; color: #9da7b3;
			font: 13px Inter, "DejaVu Sans", sans-serif }
		header i { width: 12px; height: 12px; border-radius: 50% }
		header b { flex: 1; margin-right: 52px; text-align: center; font-weight: 500 }
		pre { min-width: 100ch; margin: 0; padding: 16px 20px 20px; font: 14px/1.45 "JetBrains Mono", "DejaVu Sans Mono", monospace;
			font-variant-ligatures: none }
		</style><main><header><i style="background:#ff5f57"></i><i style="background:#febc2e"></i><i style="background:#28c840"></i>
		<b>${title}</b></header><pre>${spans(painted)}</pre></main>`)}`;
}
