import type { Word } from './words/text.ts'

/** Something a text is about, of which another text can be about the contrary. */
export type Contrast = {
  /** Texts of one row and different sides ask for different things. */
  row: number
  side: number
  text: string
  /** An end of an order: the top, the longest. Other rows are measures, grains and states. */
  isOrder: boolean
}

/** Each side of a row in words that people use for it; several words of one expression are joined by `_`. */
const rowsOf = (kind: 'order' | 'other', rows: string[][]): Array<{ kind: string; sides: string[][][] }> =>
  rows.map((sides) => ({
    kind,
    sides: sides.map((side) => side.split(' ').map((expression) => expression.split('_'))),
  }))

const grains = ['hour hourly', 'day daily', 'week weekly', 'month monthly', 'quarter quarterly', 'year annual']

const rows = [
  ...rowsOf('order', [
    ['top best', 'bottom worst'],
    ['biggest largest highest most greatest maximum max', 'smallest lowest least fewest minimum min'],
    ['longest tallest', 'shortest'],
    ['priciest dearest', 'cheapest'],
    ['latest newest', 'oldest earliest'],
  ]),
  ...rowsOf('other', [
    ['average avg mean', 'median', 'total sum'],
    ['revenue turnover takings sales', 'profit margin', 'cost costs expenses spending'],
    grains.map((grain) => {
      const [noun = '', ...adverbs] = grain.split(' ')
      return [...adverbs, ...['per', 'by', 'each'].map((by) => `${by}_${noun}`)].join(' ')
    }),
    ['open unresolved unsolved pending', 'closed resolved solved completed finished'],
    ['unpaid overdue outstanding owing owed', 'paid settled'],
    ['late delayed overdue', 'on_time punctual punctually'],
    ['approved accepted', 'rejected declined refused'],
    ['free vacant available', 'occupied taken'],
  ]),
]

/** The subjects of a text that have a known contrary. */
export function contrastsIn(words: Word[]): Contrast[] {
  return words.flatMap((word, at) => {
    if ((word.text === 'most' || word.text === 'least') && words[at - 1]?.text === 'at') return []
    return rows.flatMap(({ kind, sides }, row) =>
      sides.flatMap((side, number): Contrast[] => {
        const said = side.find((expression) => expression.every((part, next) => words[at + next]?.text === part))
        return said === undefined ? [] : [{ row, side: number, text: said.join(' '), isOrder: kind === 'order' }]
      }),
    )
  })
}

const counted =
  /\b(?:how many|number of|count of)\b(?!\s+(?:degrees|euros|dollars|pounds|kilo|hours|minutes|days|nights|kwh|square|km|kilom|lit|ton|points|miles|met))/i
const measuring = new Set(
  'count counts number numbers many much how total totals sum amount average share rate percent percentage per by each every volume statistics figures kpi quantity occupancy headcount tally breakdown summary top most'.split(
    ' ',
  ),
)
const listing = new Set(
  'list lists listed which who every all details newest oldest latest earliest first row sorted ordered'.split(' '),
)

/** Whether a text asks how many there are. */
export function asksForCount(text: string): boolean {
  return counted.test(text)
}

/** Whether the words of a query tell that its rows are the things themselves, and no figures of them. */
export function isList(words: Word[]): boolean {
  return words.some(({ text }) => listing.has(text)) && !words.some(({ text }) => measuring.has(text))
}
