import fastifyStatic from '@fastify/static'
import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Failure } from '../../failure.ts'
import type { Http } from './http.ts'
import { sessionCookie } from './session-store.ts'

const dist = join(import.meta.dirname, '../../../web/dist')
/** The web app's own paths: each answers with its one page, which reads the path itself. */
const pages = [
  '/',
  '/sign-in',
  '/join',
  '/connect/:server',
  '/p/*',
  '/account',
  '/docs',
  '/docs/*',
  '/reference/:project_id',
  '/oauth/authorize',
  '/device',
]
/** Stands in index.html where the nonce of each answer goes. */
const nonceMark = '__STYLE_NONCE__'
/** Stands there where the page is told that nobody is signed in, so that it need not ask. */
const visitorMark = '__VISITOR__'

/** Paths of programs, which read no pages whatever they accept. */
const programPaths = /^\/(v1|mcp|assets|embed|sample|oauth|\.well-known|healthz|readyz|metrics|trino)(\/|$)/

/** Whether a browser was led here by an address that nothing is at: it shows the app's page, which says so. */
export function isLostVisitor({ method, url, headers }: FastifyRequest): boolean {
  const [path = ''] = url.split('?')
  return method === 'GET' && headers.accept?.includes('text/html') === true && !programPaths.test(path)
}

/** The one page of the web app; null where it is not built. */
export type WebPage = { answer(request: FastifyRequest, reply: FastifyReply): FastifyReply }

export async function openWebPage(): Promise<WebPage | null> {
  const index = await readFile(join(dist, 'index.html'), 'utf8').catch(() => null)
  if (index === null) return null
  return {
    answer(request, reply) {
      const nonce = randomBytes(16).toString('base64url')
      const isStranger = request.headers.cookie?.includes(`${sessionCookie}=`) !== true
      return (
        reply
          .type('text/html; charset=utf-8')
          .header('content-security-policy', pagePolicy(nonce))
          // Going back in the browser must not bring the stranger's page to someone who has signed in since.
          .header('cache-control', isStranger ? 'no-store' : 'no-cache')
          .serializer(String)
          .send(index.replaceAll(nonceMark, nonce).replace(visitorMark, isStranger ? 'stranger' : 'perhaps-known'))
      )
    },
  }
}

/** Serves the built web app. Nothing it loads comes from elsewhere, and the policy says so to the browser. */
export async function serveWeb(http: Http, page: WebPage | null): Promise<void> {
  if (page !== null) {
    await http.register(fastifyStatic, {
      root: join(dist, 'assets'),
      prefix: '/assets/',
      // File names carry a hash of their content.
      immutable: true,
      maxAge: '1y',
      // The build puts brotli and gzip copies beside them.
      preCompressed: true,
      decorateReply: false,
    })
    await serveEmbedded(http)
  }
  for (const url of pages) {
    http.get(url, { config: { door: 'open' }, schema: { hide: true } }, async (request, reply) => {
      if (page === null) {
        throw new Failure('not_found', { message: 'The web app is not built. Run npm run build, then start again.' })
      }
      return page.answer(request, reply)
    })
  }
}

/** The element for pages of others. Any page may load it: what it may ask is decided by the token it has. */
async function serveEmbedded(http: Http): Promise<void> {
  await http.register(fastifyStatic, {
    root: join(dist, 'embed'),
    prefix: '/embed/',
    preCompressed: true,
    decorateReply: false,
    // Its name stays, so browsers ask now and then whether it is the same still.
    maxAge: '5m',
    setHeaders(reply) {
      void reply.headers({ 'access-control-allow-origin': '*', 'cross-origin-resource-policy': 'cross-origin' })
    },
  })
}

/** Style elements that the component library and the editor make at run time carry the nonce; scripts need none. */
function pagePolicy(nonce: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src-elem 'self' 'nonce-${nonce}'`,
    "style-src-attr 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
}
