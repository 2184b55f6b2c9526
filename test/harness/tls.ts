import { createServer } from 'node:https'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A certificate and key for tests alone, good for localhost, upstream.test and 127.0.0.1 until 2120. */
export const certificate = `-----BEGIN CERTIFICATE-----
MIIBjTCCATKgAwIBAgIBATAKBggqhkjOPQQDAjAfMR0wGwYDVQQDDBRTbHVpY2Ug
dGVzdCB1cHN0cmVhbTAgFw0yMDAxMDEwMDAwMDBaGA8yMTIwMDEwMTAwMDAwMFow
HzEdMBsGA1UEAwwUU2x1aWNlIHRlc3QgdXBzdHJlYW0wWTATBgcqhkjOPQIBBggq
hkjOPQMBBwNCAARyxyk9QtLtsjMM1HbwpkxU0D4gGcOOqJultS+rhdy6pmP/4AZ1
WjciKZ0Lgih8QWaYJqZgTyEYkWV5Fyd6jvxbo10wWzAPBgNVHRMBAf8EBTADAQH/
MCkGA1UdEQQiMCCCCWxvY2FsaG9zdIINdXBzdHJlYW0udGVzdIcEfwAAATAdBgNV
HQ4EFgQUDX1y+0LPHXpO7SRd1+h7VVL/0I4wCgYIKoZIzj0EAwIDSQAwRgIhAK+A
sSqjIj9QAFUOD+hnV3K2N5FoQnNYt1c8bA/kVhg6AiEA5mh6QP3Bx+/wJwbBmCFh
F09pDbhzp4AyWoHoR43dfDs=
-----END CERTIFICATE-----
`

export const privateKey = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgSl6SYlYXHZEUvBYO
XSFlCawZay7VR8fHwO2kaYCBQ5ihRANCAARyxyk9QtLtsjMM1HbwpkxU0D4gGcOO
qJultS+rhdy6pmP/4AZ1WjciKZ0Lgih8QWaYJqZgTyEYkWV5Fyd6jvxb
-----END PRIVATE KEY-----
`

/** Something at https://localhost, whose answers a test sets as it goes. */
export type SecureServer = {
  /** `localhost:port` */
  host: string
  requests: number
  answer(body: unknown): void
  handle(handler: (request: IncomingMessage, response: ServerResponse) => void): void
  close(): void
}

export async function openSecureServer(): Promise<SecureServer> {
  let handler = (_request: IncomingMessage, response: ServerResponse): void => void response.end('{}')
  const server = createServer({ key: privateKey, cert: certificate }, (request, response) => {
    opened.requests += 1
    handler(request, response)
  })
  const opened: SecureServer = {
    host: '',
    requests: 0,
    answer(body) {
      const text = typeof body === 'string' ? body : JSON.stringify(body)
      handler = (_request, response) => void response.setHeader('content-type', 'application/json').end(text)
    },
    handle: (next) => void (handler = next),
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  opened.host = `localhost:${(server.address() as AddressInfo).port}`
  return opened
}
