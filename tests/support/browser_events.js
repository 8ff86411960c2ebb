// A page in a headless Chromium that listens to changes with the browser's own EventSource, which reconnects by itself. What it asks
// goes through a proxy that adds the token, as one in front of a browser has to, and cuts each connection at random: after some
// bytes, which may be anywhere in an event. Prints a number that rises and the id of each change as it comes. A line on stdin ends
// the cuts, and is answered with their number.
//   node browser_events.js PACKAGES CHROMIUM PORT TOKEN SEED
'use strict';
const net = require('net');
const path = require('path');
const readline = require('readline');

const [packages, executablePath, port, token, seed] = process.argv.slice(2);
const { chromium } = require(path.resolve(packages, 'node_modules', 'playwright-core'));
const PAGE = '<!doctype html><title>changes</title>';
// The browser waits for three seconds after each.
const MOST_CUTS = 12;
let state = Number(seed);
let cuts = 0;
let cutting = true;

function roll(most) {
  state = (state * 1103515245 + 12345) % 2147483648;
  return 1 + (Math.floor(state / 65536) % most);
}

// Of the answer's bytes as they are, so that a chunk of the encoding is cut, too.
function pass(browser, request) {
  const server = net.connect(Number(port), '127.0.0.1');
  let left = cutting && cuts < MOST_CUTS ? roll(500000) : Infinity;
  const cut = () => { server.destroy(); browser.destroy(); };
  server.write(request.replace('\r\n\r\n', `\r\nAuthorization: Bearer ${token}\r\n\r\n`));
  server.on('data', (bytes) => {
    if (bytes.length >= left) {
      cuts++;
      browser.write(bytes.subarray(0, left), cut);
      left = Infinity;
    } else {
      left -= bytes.length;
      browser.write(bytes);
    }
  });
  server.on('error', cut);
  server.on('close', () => browser.end());
  browser.on('error', cut);
  browser.on('close', () => server.destroy());
}

const proxy = net.createServer((browser) => {
  let request = '';
  browser.on('error', () => {});
  browser.on('data', (bytes) => {
    const whole = request.includes('\r\n\r\n');
    request += bytes.toString('latin1');
    if (whole || !request.includes('\r\n\r\n'))
      return;
    if (request.startsWith('GET /changes'))
      pass(browser, request);
    else
      browser.end(`HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: ${PAGE.length}\r\nConnection: close\r\n\r\n${PAGE}`);
  });
});

proxy.listen(0, '127.0.0.1', async () => {
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
  const page = await browser.newPage();
  await page.exposeFunction('heard', (place, data) => console.log(`${place} ${JSON.parse(data).change_id}`));
  await page.goto(`http://127.0.0.1:${proxy.address().port}/`);
  await page.evaluate(() => {
    const source = new EventSource('/changes?since=');
    let place = 0;
    source.onmessage = (event) => window.heard(place++, event.data);
  });
  for await (const line of readline.createInterface({ input: process.stdin })) {
    cutting = false;
    console.log(`${line} ${cuts}`);
  }
  await browser.close();
  process.exit(0);
});
