import type { Config } from '../config.ts'
import { Failure } from '../failure.ts'
import { exceedsDepth } from '../json-depth.ts'
import type { Http } from './request/http.ts'

/** Bodies are JSON, and flat enough that whatever walks them afterwards cannot run out of stack. */
export function acceptJsonOnly(http: Http, { bodyDepth }: Pick<Config['limits'], 'bodyDepth'>): void {
  http.removeAllContentTypeParsers()
  const parseJson = http.getDefaultJsonParser('error', 'error')
  http.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
    const text = body as string
    // A call that needs no body may still say it is JSON.
    if (text === '') done(null, undefined)
    else if (exceedsDepth(text, bodyDepth)) {
      const code = request.routeOptions.config.door === 'query' ? 'invalid_query' : 'invalid_request'
      const message = `The body nests lists and objects deeper than ${bodyDepth} levels.`
      done(new Failure(code, { reason: 'too_deep', message }))
    } else void parseJson(request, text, done)
  })
}
