const headEnd = '\r\n\r\n'
/** With the end of the piece before: a piece of CSV may itself end with a zero and the end of its line. */
const lastPiece = '\r\n0\r\n\r\n'

/**
 * Says when an answer is whole, of whatever pieces it comes in: its length is told, or it comes in chunks. One that is no
 * answer is given to `refused`. It does as little as possible: it runs on the cores that are measured.
 */
export function openAnswerReader(whole: () => void, refused: (why: string) => void): (data: Buffer) => void {
  let left = 0
  let isChunked = false
  let head = ''
  let tail = ''
  const ended = (body: Buffer): boolean => {
    if (!isChunked) return (left -= body.length) <= 0
    tail = (tail + body.toString('latin1', Math.max(0, body.length - lastPiece.length))).slice(-lastPiece.length)
    return tail === lastPiece
  }
  let inBody = false
  return (data) => {
    let body = data
    if (!inBody) {
      const text = head + data.toString('latin1')
      const end = text.indexOf(headEnd)
      if (end === -1) {
        head = text
        return
      }
      const lines = text.slice(0, end)
      if (!lines.startsWith('HTTP/1.1 200')) {
        refused(text.slice(0, 500))
        return
      }
      left = Number(/content-length: (\d+)/i.exec(lines)?.[1] ?? 0)
      isChunked = /transfer-encoding: chunked/i.test(lines)
      body = data.subarray(end + headEnd.length - head.length)
      head = ''
      tail = '\r\n'
      inBody = true
    }
    if (!ended(body)) return
    inBody = false
    whole()
  }
}
