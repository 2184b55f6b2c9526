/**
 * A frame: size of what follows, call id, kind, size of the JSON head (all but the kind 32 bits, little-endian), head,
 * body. The body is passed on as bytes; nobody parses it on the way.
 */
const frameKinds = [
  'ready',
  'call',
  'cancel',
  'credit',
  'opened',
  'chunk',
  'result',
  'failed',
  'catalogUnknown',
] as const
type FrameKind = (typeof frameKinds)[number]
export type Frame = { id: number; kind: FrameKind; head: unknown; body: Buffer }

const prefixBytes = 13
/** A broken peer must not make us allocate whatever four bytes say. */
const maxFrameBytes = 1_073_741_824
const noBytes = Buffer.alloc(0)

type Writer = { cork(): void; uncork(): void; write(bytes: Uint8Array): boolean; destroyed: boolean }

/** A frame to send. Its body may be in pieces: joining them would copy what is large. */
export type FrameToSend = Pick<Frame, 'id' | 'kind'> & { head?: unknown; body?: Buffer | Buffer[] }

/** Frames written in one turn of the event loop leave in one system call. */
export function createFrameWriter(socket: Writer): (frame: FrameToSend) => void {
  let corked = false
  return ({ id, kind, head, body = noBytes }) => {
    if (socket.destroyed) return
    const pieces = Array.isArray(body) ? body : [body]
    const bodyBytes = pieces.reduce((sum, piece) => sum + piece.length, 0)
    const headBytes = head === undefined ? noBytes : Buffer.from(JSON.stringify(head))
    const prefix = Buffer.allocUnsafe(prefixBytes + headBytes.length)
    prefix.writeUInt32LE(prefixBytes - 4 + headBytes.length + bodyBytes, 0)
    prefix.writeUInt32LE(id, 4)
    prefix.writeUInt8(frameKinds.indexOf(kind), 8)
    prefix.writeUInt32LE(headBytes.length, 9)
    headBytes.copy(prefix, prefixBytes)
    if (!corked) {
      corked = true
      socket.cork()
      setImmediate(() => {
        corked = false
        socket.uncork()
      })
    }
    socket.write(prefix)
    for (const piece of pieces) if (piece.length > 0) socket.write(piece)
  }
}

/** Takes bytes as they arrive and calls back once per whole frame. */
export function createFrameReader(onFrame: (frame: Frame) => void): (bytes: Buffer) => void {
  let pending: Buffer = noBytes
  // A frame that spans many reads is collected in one buffer of its final size: joining at each read is quadratic.
  let large: { buffer: Buffer; filled: number } | null = null
  return (bytes) => {
    let rest = bytes
    if (large !== null) {
      const taken = rest.copy(large.buffer, large.filled)
      large.filled += taken
      if (large.filled < large.buffer.length) return
      rest = rest.subarray(taken)
      const { buffer } = large
      large = null
      onFrame(decode(buffer))
    }
    if (pending.length > 0) rest = Buffer.concat([pending, rest])
    pending = noBytes
    while (rest.length >= 4) {
      const size = rest.readUInt32LE(0)
      if (size > maxFrameBytes || size < prefixBytes - 4) throw new Error(`frame of ${size} bytes`)
      if (rest.length < 4 + size) {
        const buffer = Buffer.allocUnsafe(size)
        large = { buffer, filled: rest.copy(buffer, 0, 4) }
        return
      }
      onFrame(decode(rest.subarray(4, 4 + size)))
      rest = rest.subarray(4 + size)
    }
    pending = rest
  }
}

function decode(bytes: Buffer): Frame {
  const kind = frameKinds[bytes.readUInt8(4)]
  if (kind === undefined) throw new Error('frame of an unknown kind')
  const headEnd = prefixBytes - 4 + bytes.readUInt32LE(5)
  const head: unknown =
    headEnd === prefixBytes - 4 ? undefined : JSON.parse(bytes.toString('utf8', prefixBytes - 4, headEnd))
  return { id: bytes.readUInt32LE(0), kind, head, body: bytes.subarray(headEnd) }
}
