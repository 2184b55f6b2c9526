import { refusalOf, type Refusal } from './api.ts'
import { askToSignInAgain } from './renewal.ts'

type Options = { onProgress: (sentBytes: number) => void; signal: AbortSignal }

/** Sends a file as the body of a call. `fetch` does not tell how much of it has gone, so it is not used here. */
export async function sendFile<Answer>(path: string, file: File, options: Options): Promise<Answer> {
  let answer = await sendOnce(path, file, options)
  if (answer.status === 401 && (await askToSignInAgain())) answer = await sendOnce(path, file, options)
  if (answer.status < 200 || answer.status > 299) throw refusalIn(answer)
  return JSON.parse(answer.text) as Answer
}

type Sent = { status: number; text: string; requestId: string }

function sendOnce(path: string, file: File, { onProgress, signal }: Options): Promise<Sent> {
  const { promise, resolve, reject } = Promise.withResolvers<Sent>()
  const request = new XMLHttpRequest()
  const stop = (): void => request.abort()
  request.open('POST', path)
  if (file.type !== '') request.setRequestHeader('content-type', file.type)
  request.upload.addEventListener('progress', ({ loaded }) => onProgress(loaded))
  request.addEventListener('load', () => {
    const requestId = request.getResponseHeader('x-request-id') ?? ''
    resolve({ status: request.status, text: request.responseText, requestId })
  })
  request.addEventListener('error', () =>
    reject(new TypeError('The connection broke off while the file was sent. Try again.')),
  )
  request.addEventListener('abort', () => reject(new DOMException('Stopped.', 'AbortError')))
  request.addEventListener('loadend', () => signal.removeEventListener('abort', stop))
  signal.addEventListener('abort', stop)
  request.send(file)
  return promise
}

function refusalIn({ status, text, requestId }: Sent): Refusal {
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch {
    body = null
  }
  return refusalOf(body, { status, requestId })
}
