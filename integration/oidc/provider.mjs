// An OpenID Connect provider for the suite `oidc`: node-oidc-provider with one client per role. POST /_rotate brings new keys.
//
// usage: node provider.mjs FOLDER READY     FOLDER holds node_modules; READY is written once it listens: {"issuer": URL}
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { pathToFileURL } from 'node:url';

const [folder, ready] = process.argv.slice(2);
const { Provider } = await import(pathToFileURL(`${folder}/node_modules/oidc-provider/lib/index.js`).href);
const server = createServer().listen(0, '127.0.0.1');
await once(server, 'listening');
const issuer = `http://127.0.0.1:${server.address().port}`;
const key = (type, options, more) =>
  ({ ...generateKeyPairSync(type, options).privateKey.export({ format: 'jwk' }), use: 'sig', ...more });
let round = 0;
const newKeys = () => {
  round += 1;
  return [
    key('rsa', { modulusLength: 2048 }, { kid: `rsa-${round}`, alg: 'RS256' }),
    key('ec', { namedCurve: 'P-256' }, { kid: `ec-${round}`, alg: 'ES256' }),
  ];
};
// Client id to algorithm, audience, lifetime in seconds.
const clients = {
  writer: ['RS256', 'lochan', 300],
  reader: ['ES256', 'lochan', 300],
  elsewhere: ['RS256', 'other', 300],
  brief: ['RS256', 'lochan', 1],
};
const build = () => new Provider(issuer, {
  jwks: { keys: newKeys() },
  cookies: { keys: ['test'] },
  clients: Object.keys(clients).map((id) => ({
    client_id: id, client_secret: `${id}-secret`, grant_types: ['client_credentials'], redirect_uris: [], response_types: [],
  })),
  extraTokenClaims: (_, token) => ({ preferred_username: token.clientId, realm: { roles: [`${token.clientId}s`] } }),
  ttl: { ClientCredentials: (_, token) => token.resourceServer?.accessTokenTTL ?? 300 },
  features: {
    clientCredentials: { enabled: true },
    devInteractions: { enabled: false },
    resourceIndicators: {
      enabled: true,
      defaultResource: () => 'urn:lochan',
      useGrantedResource: () => true,
      getResourceServerInfo: (_, __, client) => {
        const [alg, audience, accessTokenTTL] = clients[client.clientId];
        return { scope: '', audience, accessTokenTTL, accessTokenFormat: 'jwt', jwt: { sign: { alg } } };
      },
    },
  },
});
let current = build().callback();
server.on('request', (request, response) => {
  if (request.method === 'POST' && request.url === '/_rotate') {
    current = build().callback();
    response.end(JSON.stringify({ round }));
  } else {
    current(request, response);
  }
});
writeFileSync(ready, JSON.stringify({ issuer }));
