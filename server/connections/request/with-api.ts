import type { HttpConfiguration, RequestStep } from '../../../api/connections.ts'
import { invalidField } from '../../failure.ts'

/** The part of an API that goes into its requests. Its `url` is the base address. */
export type ApiRequest = Pick<HttpConfiguration, 'url' | 'headers' | 'parameters' | 'authType' | 'auth' | 'environment'>

/** A request with what its API says once: the base address before its path, and everything that it leaves out. */
export function withApi(request: HttpConfiguration, api: ApiRequest | null): HttpConfiguration {
  const { api: name, ...own } = request
  if (name === undefined) return own
  if (api === null) throw invalidField('api', `names ${name}, which the project does not have`)
  const named = new Set(Object.keys(own.headers ?? {}).map((header) => header.toLowerCase()))
  const shared = Object.entries(api.headers ?? {}).filter(([header]) => !named.has(header.toLowerCase()))
  const headers = { ...Object.fromEntries(shared), ...own.headers }
  const parameters = { ...api.parameters, ...own.parameters }
  const { authType, auth } = own.authType === undefined ? api : own
  const environment = own.environment ?? api.environment
  return {
    ...own,
    url: requestAddress(request, api),
    ...(own.steps !== undefined && { steps: own.steps.map((step) => behind(step, name, api)) }),
    ...(Object.keys(headers).length > 0 && { headers }),
    ...(Object.keys(parameters).length > 0 && { parameters }),
    ...(authType !== undefined && { authType }),
    ...(auth !== undefined && { auth }),
    ...(environment !== undefined && { environment }),
  }
}

/** A step whose address is a path goes to the API, too; what an answer gives, or a whole address, stays. */
function behind(step: RequestStep, api: string, request: ApiRequest): RequestStep {
  return /^[/?]/.test(step.url) ? { ...step, url: requestAddress({ api, url: step.url }, request) } : step
}

/** Whether the authentication of a request is that of its API. */
export function hasApiAuth({ api, authType }: HttpConfiguration): boolean {
  return api !== undefined && authType === undefined
}

/** The address that a request goes to. A path is never read as an address of its own: it stays behind the base. */
export function requestAddress(
  { api: name, url }: Pick<HttpConfiguration, 'api' | 'url'>,
  api: ApiRequest | null,
): string {
  if (name === undefined || api === null) return url
  if (/^[a-z][a-z0-9+.-]*:/i.test(url)) {
    throw invalidField('url', `is a whole address; with api it is a path of ${name}, such as /orders`)
  }
  return withoutLastSlashes(api.url) + (/^[/?]/.test(url) ? url : `/${url}`)
}

/** Letter by letter: a pattern would begin anew at each of thousands of slashes. */
function withoutLastSlashes(url: string): string {
  let end = url.length
  while (url[end - 1] === '/') end -= 1
  return url.slice(0, end)
}
