import type { HttpConfiguration } from '../../../api/connections.ts'
import { charsetOf, parseContentType } from '../../rows/index.ts'
import { headerText } from './build-request.ts'

const noBytes = new Uint8Array()

/**
 * The Content-Type of an answer. Where the API names no charset, the one that the request accepts is meant: whoever knows
 * that an API answers in windows-1252 without saying so tells it with an `Accept-Charset` header.
 */
export function answerType(contentType: string | undefined, { headers = {} }: HttpConfiguration): string {
  const type = contentType ?? ''
  const [, header] = Object.entries(headers).find(([name]) => name.toLowerCase() === 'accept-charset') ?? []
  if (header === undefined || parseContentType(type).parameters['charset'] !== undefined) return type
  const [first = ''] = headerText(header).split(/[,;]/)
  const charset = first.trim() === '' ? null : charsetOf(`x; charset=${first.trim()}`, noBytes)
  return charset === null ? type : `${type}; charset=${charset}`
}
