// SPDX-License-Identifier: MIT
// tokens: reads a JSON array of texts from standard input and prints how many tokens each of them has (o200k).
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const require = createRequire(new URL('../tests/clients/', import.meta.url));
const load = async name => (await import(pathToFileURL(require.resolve(name))));
const { Tiktoken } = await load('js-tiktoken/lite');
const { default: ranks } = await load('js-tiktoken/ranks/o200k_base');
const tokenizer = new Tiktoken(ranks.default ?? ranks);
const texts = JSON.parse(readFileSync(0, 'utf8'));
console.log(JSON.stringify(texts.map(text => tokenizer.encode(text, [], []).length)));
