// SPDX-License-Identifier: MIT
// browser: Debian's Chromium without a screen, and what a page in it does that it should not.
import { accessSync, constants, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import puppeteer from 'puppeteer-core';

function find() {
	for (const folder of process.env.PATH.split(delimiter)) {
		try {
			accessSync(join(folder, 'chromium'), constants.X_OK);
			return join(folder, 'chromium');
		} catch {
			// It is not in this folder.
		}
	}
	return null;
}

const CHROMIUM = find();
export const MISSING = CHROMIUM ? false : 'chromium is not installed';

/** A browser with a profile of its own. `close` ends it. */
export async function launch() {
	const profile = mkdtempSync(join(tmpdir(), 'sidecar-chromium-'));
	const browser = await puppeteer.launch({
		executablePath: CHROMIUM, userDataDir: profile, headless: true,
		args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
			'--disable-component-update', '--disable-sync', '--force-device-scale-factor=1', '--hide-scrollbars', '--font-render-hinting=none'],
	});
	return {
		/** A page at an address. `faults` collects what it must not do: errors, dialogs, violations of its policy, requests to
		 * others. */
		async open(url, { width = 1280, height = 800, dark = false, touch = false, scale = 1 } = {}) {
			const page = await (await browser.createBrowserContext()).newPage();
			page.faults = [];
			page.asked = [];
			page.setDefaultTimeout(90_000);
			page.on('console', message => ['error', 'warn'].includes(message.type()) && page.faults.push(message.text()));
			page.on('pageerror', error => page.faults.push(String(error)));
			page.on('dialog', dialog => {
				page.faults.push(`dialog: ${dialog.message()}`);
				dialog.dismiss();
			});
			page.on('request', request => {
				page.asked.push(`${request.method()} ${request.url().split('#')[0]}`);
				if (!request.url().startsWith(new URL(url).origin + '/') && !request.url().startsWith('data:'))
					page.faults.push(`request: ${request.url()}`);
			});
			await page.evaluateOnNewDocument(() => {
				window.violations = [];
				document.addEventListener('securitypolicyviolation', event => window.violations.push(event.violatedDirective + ' ' + event.sample));
			});
			await page.setViewport({ width, height, deviceScaleFactor: scale, hasTouch: touch, isMobile: touch });
			await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: dark ? 'dark' : 'light' }]);
			await page.goto(url);
			return page;
		},
		async close() {
			await browser.close();
			rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
		},
	};
}
