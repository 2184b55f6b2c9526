const headEnd = '\r\n\r\n'
const lastPiece = '0\r\n\r\n'

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
        refused(text)
        return
      }
      left = Number(/content-length: (\d+)/i.exec(lines)?.[1] ?? 0)
      isChunked = /transfer-encoding: chunked/i.test(lines)
      body = data.subarray(end + headEnd.length - head.length)
      head = ''
      tail = ''
      inBody = true
    }
    if (!ended(body)) return
    inBody = false
    whole()
  }
}
