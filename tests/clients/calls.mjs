// SPDX-License-Identifier: MIT
// calls: at least one call of every tool that succeeds, and failures of many kinds; for whoever wants to see every
// kind of answer. They are made in this order, in a workspace that `furnish` has filled.

export function furnish(place) {
	place.clear();
	place.put('a.txt', 'one\ntwo\nthree\n');
	place.put('src/main.c', 'int main(void)\n{\n\treturn 0;\n}\n');
	place.put('src/deep/er/note.md', '# two\n');
	place.put('binary', Buffer.from([0, 1, 2, 3, 0, 255]));
	place.put('big.txt', 'short\n' + 'y'.repeat(1 << 20));
	place.put('.gitignore', 'hidden/\n');
	place.put('hidden/x', 'two');
}

/** [tool, arguments, code of the error or null] */
export const CALLS = [
	['read_file', { path: 'a.txt' }, null],
	['read_file', { path: 'a.txt', start_line: '2', end_line: 2, line_numbers: 'true' }, null],
	['read_file', { path: 'big.txt', start_line: 1, end_line: 2 }, null],
	['read_file', { path: 'none' }, 'FILE_NOT_FOUND'],
	['read_file', { path: 'src' }, 'NOT_A_FILE'],
	['read_file', { path: '../../etc/passwd' }, 'PATH_OUTSIDE_WORKSPACE'],
	['read_file', { path: 'binary' }, 'BINARY_FILE'],
	['read_file', { path: 'big.txt' }, 'FILE_TOO_LARGE'],
	['read_file', { path: 'a.txt', start_line: 99 }, 'INVALID_ARGUMENTS'],
	['read_file', {}, 'INVALID_ARGUMENTS'],
	['read_file', { path: 7, nonsense: [] }, 'INVALID_ARGUMENTS'],
	['write_file', { path: 'new/b.txt', content: 'four\n' }, null],
	['write_file', { path: 'new/b.txt', content: '' }, null],
	['write_file', { path: 'other/b.txt', content: '', create_dirs: false }, 'FILE_NOT_FOUND'],
	['write_file', { path: 'a.txt/b', content: '' }, 'NOT_A_DIRECTORY'],
	['list_directory', { path: '.' }, null],
	['list_directory', { path: '.', recursive: true, pattern: '*.md' }, null],
	['list_directory', { path: 'a.txt' }, 'NOT_A_DIRECTORY'],
	['list_directory', { path: '.', pattern: '[' }, 'INVALID_GLOB'],
	['run_command', { command: 'echo out; echo err >&2; exit 3' }, null],
	['run_command', { command: '', argv: ['printf', '%s', 'no shell'] }, null],
	['run_command', { command: 'kill -9 $$' }, null],
	['run_command', { command: 'sleep 600', timeout_ms: 50 }, null],
	['run_command', { command: 'seq 1 40000' }, null],
	['run_command', { command: 'sleep 600 & echo left' }, null],
	['run_command', { command: 'sudo true' }, 'COMMAND_BLOCKED'],
	['run_command', { command: 'true', cwd: 'none' }, 'FILE_NOT_FOUND'],
	['run_command', { command: 'echo in background; sleep 600', background: true }, null],
	['job_list', {}, null],
	['job_output', { job_id: '1', wait_ms: 20 }, null],
	['job_output', { job_id: '999' }, 'JOB_NOT_FOUND'],
	['job_stop', { job_id: '1' }, null],
	['job_stop', { job_id: 'x' }, 'INVALID_ARGUMENTS'],
	['job_output', { job_id: '1' }, null],
	['job_list', {}, null],
	['search_files', { pattern: 't.o' }, null],
	['search_files', { pattern: 'two', context: 1 }, null],
	['search_files', { pattern: 'two', mode: 'files' }, null],
	['search_files', { pattern: 'two', mode: 'counts' }, null],
	['search_files', { pattern: 'o', max_results: 1 }, null],
	['search_files', { pattern: 'one\\ntwo', multiline: true }, null],
	['search_files', { pattern: 'nowhere to be found' }, null],
	['search_files', { pattern: '(' }, 'INVALID_REGEX'],
	['search_files', { pattern: 'a', path: 'none' }, 'FILE_NOT_FOUND'],
	['edit_file', { path: 'a.txt', old_text: 'two', new_text: '2', dry_run: true }, null],
	['edit_file', { path: 'a.txt', old_text: 'two', new_text: '2' }, null],
	['edit_file', { path: 'a.txt', old_text: 'two', new_text: '2' }, 'TEXT_NOT_FOUND'],
	['edit_file', { path: 'a.txt', old_text: 'e', new_text: 'E' }, 'TEXT_NOT_UNIQUE'],
	['edit_file', { path: 'a.txt', old_text: 'e', new_text: 'E', replace_all: true }, null],
	['edit_file', { path: 'a.txt', old_text: 'onE', new_text: 'onE' }, 'NO_CHANGE'],
	['multi_edit', { path: 'a.txt', edits: [{ old_text: 'onE', new_text: '1' }, { old_text: '2', new_text: 'two' }] }, null],
	['multi_edit', { path: 'a.txt', edits: [{ old_text: '1', new_text: 'x' }, { old_text: '?', new_text: '' }] }, 'TEXT_NOT_FOUND'],
	['multi_edit', { path: 'a.txt', edits: 'none' }, 'INVALID_ARGUMENTS'],
	['apply_patch', { patch: '*** Begin Patch\n*** Add File: p/new.txt\n+x\n*** Delete File: p/none.txt\n*** End Patch\n' }, 'FILE_NOT_FOUND'],
	['apply_patch', { patch: '*** Begin Patch\n*** Add File: p/new.txt\n+x\n*** End Patch\n' }, null],
	['apply_patch', { patch: 'no patch' }, 'INVALID_PATCH'],
	['find_files', { pattern: '**/*.c' }, null],
	['find_files', { pattern: '*', limit: 1 }, null],
	['find_files', { pattern: '*', path: 'none' }, 'FILE_NOT_FOUND'],
	['list_changes', {}, null],
	['undo_change', { id: 1, dry_run: true, force: true }, null],
	['undo_change', { id: 999999 }, 'CHANGE_NOT_FOUND'],
];
