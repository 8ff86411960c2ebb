// A webhook receiver of the official packages: standardwebhooks verifies each request, cloudevents reads and validates
// its events. What was accepted goes to a file, one event a line; anything else is answered by 400 and the reason.
//   node official.js PACKAGES FILE SECRET    prints its port
'use strict';
const fs = require('fs');
const http = require('http');
const path = require('path');

const [packages, file, secret] = process.argv.slice(2);
const { Webhook } = require(path.join(packages, 'node_modules', 'standardwebhooks'));
const { HTTP } = require(path.join(packages, 'node_modules', 'cloudevents'));
const webhook = new Webhook(secret);

function read(headers, body) {
  webhook.verify(body, headers, { jsonParse: false });
  const message = HTTP.toEvent({ headers, body });
  const events = Array.isArray(message) ? message : [message];
  for (const event of events)
    if (!event.validate())
      throw new Error('not valid');
  return events;
}

const server = http.createServer((request, response) => {
  const pieces = [];
  request.on('data', (piece) => pieces.push(piece));
  request.on('end', () => {
    try {
      const events = read(request.headers, Buffer.concat(pieces).toString('utf8'));
      fs.appendFileSync(file, events.map((event) => JSON.stringify(event) + '\n').join(''));
      response.writeHead(204).end();
    } catch (error) {
      response.writeHead(400).end(`${error.name}: ${error.message} ${JSON.stringify(error.errors || '')}`);
    }
  });
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
