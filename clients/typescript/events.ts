export type ServerEvent = { event: string; data: unknown }

const maxEventChars = 64 * 1024 * 1024

/** Server-sent events of an answer, one at a time, as they come. */
export async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerEvent> {
  let event = 'message'
  let data: string[] = []
  for await (const line of linesOf(body)) {
    if (line === '') {
      if (data.length > 0) yield { event, data: JSON.parse(data.join('\n')) as unknown }
      event = 'message'
      data = []
    } else if (line.startsWith('event:')) event = line.slice(6).trim()
    else if (line.startsWith('data:')) data.push(line.slice(5).replace(/^ /, ''))
    // What begins with a colon only keeps the connection open.
  }
}

async function* linesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let rest = ''
  try {
    for (;;) {
      const { done, value } = await reader.read()
      rest += done ? decoder.decode() : decoder.decode(value, { stream: true })
      const lines = rest.split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) yield line.endsWith('\r') ? line.slice(0, -1) : line
      if (done) return
      if (rest.length > maxEventChars) throw new Error('An event of the stream is too long to be read.')
    }
  } finally {
    // Who stops reading hangs up, so that the service need not go on.
    await reader.cancel().catch(() => undefined)
  }
}
