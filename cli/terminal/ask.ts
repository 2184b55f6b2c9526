import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'

type Terminal = { input: NodeJS.ReadStream; output: NodeJS.WriteStream }

export async function confirm({ input, output }: Terminal, question: string): Promise<boolean> {
  const lines = createInterface({ input, output })
  try {
    return /^\s*(y|yes)\s*$/i.test(await lines.question(`${question} [y/N] `))
  } finally {
    lines.close()
  }
}

/** Typed characters are not shown. */
export async function askSecret({ input, output }: Terminal, question: string): Promise<string> {
  output.write(`${question} `)
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() })
  const lines = createInterface({ input, output: silent, terminal: true })
  try {
    return (await lines.question('')).trim()
  } finally {
    lines.close()
    output.write('\n')
  }
}
