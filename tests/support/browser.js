// A headless Chromium that does what it is told, one line on stdin each, and answers with one line: "ok", or what is wrong.
//   node browser.js PACKAGES CHROMIUM URL
//   see TEXT           waits until the page shows it          gone TEXT     waits until it does not
//   click NAME         a button of that name                  check NAME    a checkbox
//   follow NAME        a link of that name                    go #/PAGE     another page of the same document
//   at                 answers where it is, as an address that can be sent
//   fill LABEL=VALUE   a field                                key NAME      presses a key
//   choose LABEL=TEXT  one of a list
//   answer yes|no      what questions of the page get (at first no)
//   asked              answers what it has asked last
//   focused            answers the name of what has the focus
//   slow PATH          loads the page again, and lets its first request for that wait a second
//   width PIXELS, scheme dark|light
//   wide               answers "ok" when nothing is wider than the window
//   accessible         what axe-core finds                    messages      what the page wrote to the console
//   elsewhere          which addresses the page asked for that are not the server's
'use strict';
const path = require('path');
const readline = require('readline');

const [packages, executablePath, url] = process.argv.slice(2);
const { chromium } = require(path.resolve(packages, 'node_modules', 'playwright-core'));
const axe = path.resolve(packages, 'node_modules', 'axe-core', 'axe.min.js');
const PATIENCE = 20000;
const messages = [];
const elsewhere = [];
let yes = false;
let asked = '';

async function accessible(page) {
  // Past the page's own policy, which forbids scripts from elsewhere.
  const source = require('fs').readFileSync(axe, 'utf8');
  const session = await page.context().newCDPSession(page);
  await session.send('Runtime.evaluate', { expression: source });
  const { result } = await session.send('Runtime.evaluate', { awaitPromise: true, returnByValue: true, expression:
    `axe.run().then((r) => r.violations.map((v) => v.id + ': ' + v.nodes.map((n) => n.html).join(' ')).join('; '))` });
  return result.value || 'ok';
}

async function slow(page, path) {
  let isFirst = true;
  await page.route(`**/api/${path}?*`, async (route) => {
    const waits = isFirst;
    isFirst = false;
    if (waits) await new Promise((done) => setTimeout(done, 1000));
    await route.continue();
  });
  await page.reload();
  return 'ok';
}

async function obey(page, word, rest) {
  switch (word) {
    case 'see': await page.getByText(rest).first().waitFor({ timeout: PATIENCE }); return 'ok';
    case 'gone': await page.getByText(rest).first().waitFor({ state: 'hidden', timeout: PATIENCE }); return 'ok';
    case 'click': await page.getByRole('button', { name: rest, exact: true }).click({ timeout: PATIENCE }); return 'ok';
    case 'follow': await page.getByRole('link', { name: rest, exact: true }).first().click({ timeout: PATIENCE }); return 'ok';
    case 'go': await page.goto(url + rest); return 'ok';
    case 'at': return page.evaluate(() => location.hash);
    case 'choose': await page.getByLabel(rest.slice(0, rest.indexOf('=')), { exact: true }).selectOption({ label: rest.slice(rest.indexOf('=') + 1) }); return 'ok';
    case 'check': await page.getByRole('checkbox', { name: rest }).check({ timeout: PATIENCE }); return 'ok';
    case 'fill': await page.getByLabel(rest.slice(0, rest.indexOf('=')), { exact: true }).fill(rest.slice(rest.indexOf('=') + 1)); return 'ok';
    case 'key': await page.keyboard.press(rest); return 'ok';
    case 'answer': yes = rest === 'yes'; return 'ok';
    case 'asked': return asked;
    case 'focused': return page.evaluate(() => document.activeElement.textContent || document.activeElement.id);
    case 'slow': return slow(page, rest);
    case 'disabled': return String(await page.getByRole('button', { name: rest, exact: true }).isDisabled());
    case 'width': await page.setViewportSize({ width: Number(rest), height: 800 }); return 'ok';
    case 'scheme': await page.emulateMedia({ colorScheme: rest }); return 'ok';
    case 'wide': return page.evaluate(() => (document.documentElement.scrollWidth <= window.innerWidth ? 'ok'
      : `${document.documentElement.scrollWidth} of ${window.innerWidth}`));
    case 'accessible': return accessible(page);
    case 'messages': return messages.join('; ') || 'ok';
    case 'elsewhere': return elsewhere.join('; ') || 'ok';
    default: return `unknown: ${word}`;
  }
}

(async () => {
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
  const page = await browser.newPage();
  page.on('console', (message) => messages.push(`${message.type()}: ${message.text()}`));
  page.on('dialog', (dialog) => { asked = dialog.message(); return yes ? dialog.accept() : dialog.dismiss(); });
  page.on('pageerror', (error) => messages.push(String(error)));
  page.on('request', (request) => { if (!request.url().startsWith(url) && !request.url().startsWith('data:')) elsewhere.push(request.url()); });
  await page.goto(url);
  console.log('ok');
  for await (const line of readline.createInterface({ input: process.stdin })) {
    const space = line.indexOf(' ') < 0 ? line.length : line.indexOf(' ');
    let answer;
    try {
      answer = await obey(page, line.slice(0, space), line.slice(space + 1));
    } catch (error) {
      answer = `${String(error).split('\n')[0]}; the page shows: ${(await page.innerText('body')).slice(0, 3000)}`;
    }
    console.log(answer.replace(/\n/g, ' '));
  }
  await browser.close();
})().catch((error) => { console.log(String(error).replace(/\n/g, ' ')); process.exit(1); });
