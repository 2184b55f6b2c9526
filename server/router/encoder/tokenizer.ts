import { readFile } from 'node:fs/promises'

/** Splits text into the encoder's own vocabulary. `tokenize` gives the ids with the start and end marks. */
export type Tokenizer = {
  tokenize: (text: string) => number[]
  /** Whether the word stands in the vocabulary as a whole: a cheap test for "an ordinary English word". */
  knows: (word: string) => boolean
}

type TokenizerFile = {
  truncation: { max_length: number } | null
  model: { vocab: Record<string, number>; unk_token: string; max_input_chars_per_word: number }
}

export async function readTokenizer(path: string): Promise<Tokenizer> {
  return makeTokenizer(JSON.parse(await readFile(path, 'utf8')) as TokenizerFile)
}

function makeTokenizer({ truncation, model }: TokenizerFile): Tokenizer {
  const vocabulary = new Map(Object.entries(model.vocab))
  const idOf = (token: string): number => vocabulary.get(token) ?? 0
  const [start, end, unknown] = [idOf('[CLS]'), idOf('[SEP]'), idOf(model.unk_token)]
  const maxWordChars = model.max_input_chars_per_word
  const room = (truncation?.max_length ?? 128) - 2

  const pieces = (word: string): number[] => {
    const whole = vocabulary.get(word)
    if (whole !== undefined) return [whole]
    const characters = Array.from(word)
    if (characters.length > maxWordChars) return [unknown]
    const ids: number[] = []
    let from = 0
    while (from < characters.length) {
      let to = characters.length
      let found: number | undefined
      while (to > from) {
        const piece = characters.slice(from, to).join('')
        found = vocabulary.get(from === 0 ? piece : `##${piece}`)
        if (found !== undefined) break
        to -= 1
      }
      if (found === undefined) return [unknown]
      ids.push(found)
      from = to
    }
    return ids
  }

  return {
    tokenize: (text) => {
      const ids: number[] = []
      for (const word of basicWords(text)) {
        ids.push(...pieces(word))
        if (ids.length >= room) break
      }
      return [start, ...ids.slice(0, room), end]
    },
    knows: (word) => vocabulary.has(word),
  }
}

// A caller's text must not become one of the encoder's own marks.
const special = /\[(?:PAD|UNK|CLS|SEP|MASK)\]/g
const dropped = /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Cs}\u{fffd}]/gu
const spaces = /[\t\n\r\p{Zs}\p{Zl}\p{Zp}]/gu
// The ranges that BERT's own normaliser calls Chinese: ideographs only, so Japanese kana and Hangul stay joined.
const ideograph =
  /[\u{4e00}-\u{9fff}\u{3400}-\u{4dbf}\u{20000}-\u{2a6df}\u{2a700}-\u{2b73f}\u{2b740}-\u{2b81f}\u{2b920}-\u{2ceaf}\u{f900}-\u{faff}\u{2f800}-\u{2fa1f}]/gu
const punctuation = /([!-/:-@[-`{-~\p{P}])/gu

const plainText = /^[\t\n\r -~]*$/
const plainWords = /[a-z\d]+|[^a-z\d\s]/g

/** The words and punctuation marks that the vocabulary is then searched for, in the order BERT's normaliser works. */
function basicWords(text: string): string[] {
  // Nearly every question is plain ASCII, for which all that follows comes to this.
  if (plainText.test(text)) return text.replaceAll(special, ' ').toLowerCase().match(plainWords) ?? []
  return (
    text
      .replaceAll(special, ' ')
      .replaceAll(spaces, ' ')
      .replaceAll(dropped, '')
      .replaceAll(ideograph, ' $& ')
      .normalize('NFD')
      .replaceAll(/\p{Mn}/gu, '')
      // JavaScript lowers a final sigma to ς, the tokenizer the vocabulary was made with never does.
      .replaceAll('Σ', 'σ')
      .toLowerCase()
      .replaceAll(punctuation, ' $1 ')
      .split(' ')
      .filter((word) => word !== '')
  )
}
