import { readFile } from 'node:fs/promises'

/** Splits text into the encoder's own vocabulary. `tokenize` gives the ids with the start and end marks. */
export type Tokenizer = {
  tokenize: (text: string) => number[]
  /** All of a text without those marks, each piece with its place in the text. */
  pieces: (text: string) => Piece[]
  /** Whether the word stands in the vocabulary as a whole: a cheap test for "an ordinary English word". */
  knows: (word: string) => boolean
}

export type Piece = { id: number; start: number; end: number }

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

  /** The pieces of a word, by how many of its characters they end after. */
  const split = (word: string): Array<{ id: number; to: number }> => {
    const characters = Array.from(word)
    const whole = vocabulary.get(word)
    if (whole !== undefined) return [{ id: whole, to: characters.length }]
    if (characters.length > maxWordChars) return [{ id: unknown, to: characters.length }]
    const found: Array<{ id: number; to: number }> = []
    let from = 0
    while (from < characters.length) {
      let to = characters.length
      let id: number | undefined
      while (to > from) {
        const piece = characters.slice(from, to).join('')
        id = vocabulary.get(from === 0 ? piece : `##${piece}`)
        if (id !== undefined) break
        to -= 1
      }
      if (id === undefined) return [{ id: unknown, to: characters.length }]
      found.push({ id, to })
      from = to
    }
    return found
  }

  return {
    tokenize: (text) => {
      const ids: number[] = []
      for (const word of basicWords(text)) {
        for (const { id } of split(word)) ids.push(id)
        if (ids.length >= room) break
      }
      return [start, ...ids.slice(0, room), end]
    },
    pieces: (text) => (plainText.test(text) ? plainPieces(text, split) : placedPieces(text, split)),
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
  return separated(text.replaceAll(special, ' ')).filter((word) => word !== '')
}

type Split = (word: string) => Array<{ id: number; to: number }>

function plainPieces(text: string, split: Split): Piece[] {
  const found: Piece[] = []
  const blank = text.replaceAll(special, (mark) => ' '.repeat(mark.length)).toLowerCase()
  for (const { 0: word, index } of blank.matchAll(plainWords)) {
    let from = 0
    for (const { id, to } of split(word)) {
      found.push({ id, start: index + from, end: index + to })
      from = to
    }
  }
  return found
}

function placedPieces(text: string, split: Split): Piece[] {
  return placedWords(text).flatMap(({ characters, places }) => {
    let from = 0
    return split(characters.join('')).map(({ id, to }) => {
      const piece = { id, start: places[from]?.start ?? 0, end: places[to - 1]?.end ?? 0 }
      from = to
      return piece
    })
  })
}

type PlacedWord = { characters: string[]; places: Array<{ start: number; end: number }> }

/** The same words character by character, so that each keeps its place in the text. */
function placedWords(text: string): PlacedWord[] {
  const found: PlacedWord[] = []
  let open: PlacedWord | null = null
  let start = 0
  for (const character of text.replaceAll(special, (mark) => ' '.repeat(mark.length))) {
    const place = { start, end: start + character.length }
    start = place.end
    for (const [at, word] of separated(character).entries()) {
      // A space, and whatever stands for itself, ends the word before it.
      if (at > 0) open = null
      for (const each of word) {
        if (open === null) found.push((open = { characters: [], places: [] }))
        open.characters.push(each)
        open.places.push(place)
      }
    }
  }
  return found
}

/** A text cut at spaces and at whatever stands for itself; of one character, the parts on its two sides and between. */
function separated(text: string): string[] {
  return (
    text
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
  )
}
