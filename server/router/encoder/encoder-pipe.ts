/**
 * The wire between the encoder's process and its parent, as 32-bit words. To the process: the number of a text, how
 * many of its tokens are a question to be read beside a card (none: a text to be encoded), and the tokens. Back: that
 * number and the vector or the logits. Number 0 means ready; no words, that a text failed. Plain words, because Node's
 * messages cost a third of what encoding does.
 */
export const headBytes = 8

/** One message: its number, how many words follow, and those. */
export function packWords(id: number, words: Int32Array | Float32Array): Buffer {
  const bytes = Buffer.allocUnsafe(headBytes + words.byteLength)
  bytes.writeUInt32LE(id, 0)
  bytes.writeUInt32LE(words.length, 4)
  Buffer.from(words.buffer, words.byteOffset, words.byteLength).copy(bytes, headBytes)
  return bytes
}

/** Takes bytes as they arrive and calls back once per message, with words in memory of their own. */
export function createWordReader(onWords: (id: number, words: ArrayBuffer) => void): (bytes: Buffer) => void {
  let pending: Buffer = Buffer.alloc(0)
  return (bytes) => {
    pending = pending.length === 0 ? bytes : Buffer.concat([pending, bytes])
    while (pending.length >= headBytes) {
      const end = headBytes + pending.readUInt32LE(4) * 4
      if (pending.length < end) return
      const words = new ArrayBuffer(end - headBytes)
      pending.copy(new Uint8Array(words), 0, headBytes, end)
      onWords(pending.readUInt32LE(0), words)
      pending = pending.subarray(end)
    }
  }
}
