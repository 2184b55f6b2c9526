/** What the figures of a run become: verdicts, a table, a page. Pure. */

/** What a row must reach. `less` may not be reached itself. */
export type Goal = { atLeast: number } | { atMost: number } | { less: number }

/** Of one thing measured: our amount, what it was held against, and the figure that the goal is about. */
export type Figure = {
  what: string
  against: string
  ours: string
  theirs: string
  value: number
  unit: '×' | 'ms' | 's' | 'MB' | '%'
  /** None where the figure explains another one. */
  goal: Goal | null
}

/** What could not be measured here, and why. */
export type Missing = { what: string; why: string }

/** What differs by more is no repetition. */
const sameWithin = 0.15

export function isMet({ value, goal }: Pick<Figure, 'value' | 'goal'>): boolean {
  if (goal === null) return true
  if ('atLeast' in goal) return value >= goal.atLeast
  return 'atMost' in goal ? value <= goal.atMost : value < goal.less
}

export function median(values: number[]): number {
  return values.toSorted((left, right) => left - right)[Math.floor(values.length / 2)] ?? NaN
}

/** The middle of what neighbours are to each other: each pair was measured at the same speed of the machine. */
export function ratioOf(ours: number[], theirs: number[]): number {
  return median(ours.map((each, at) => each / (theirs[at] ?? NaN)))
}

/** How far two runs lie apart, as a share of their mean. */
export function apart(first: number, second: number): number {
  const mean = (Math.abs(first) + Math.abs(second)) / 2
  return mean === 0 ? 0 : Math.abs(first - second) / mean
}

export function shown(value: number, unit: Figure['unit']): string {
  const digits = unit === '×' || unit === 's' ? 2 : Math.abs(value) < 10 ? 1 : 0
  return unit === '×' ? `${value.toFixed(digits)}×` : `${value.toFixed(digits)} ${unit}`
}

function goalText({ goal, unit }: Figure): string {
  if (goal === null) return '–'
  const [sign, value] =
    'atLeast' in goal ? ['≥', goal.atLeast] : 'atMost' in goal ? ['≤', goal.atMost] : ['<', goal.less]
  return unit === '×' ? `${sign} ${value}×` : `${sign} ${value} ${unit}`
}

function verdict(figure: Figure): string {
  if (figure.goal === null) return '–'
  return isMet(figure) ? 'yes' : '**no**'
}

/** One line a figure; a second run adds what it gave, and how far that is apart. */
export function tableOf(first: Figure[], second: Figure[] | null): string {
  const head = ['what', 'against, in the same run', 'ours', 'theirs', 'figure', 'goal', 'met']
  const lines = first.map((figure) => {
    const cells = [figure.what, figure.against, figure.ours, figure.theirs]
    cells.push(shown(figure.value, figure.unit), goalText(figure), verdict(figure))
    if (second !== null) cells.push(againText(figure, second))
    return cells
  })
  const rows = [second === null ? head : [...head, 'second run'], ...lines]
  const [titles = [], ...others] = rows.map((cells) => `| ${cells.join(' | ')} |`)
  return [titles, `|${' --- |'.repeat(rows[0]?.length ?? 0)}`, ...others].join('\n')
}

/** The goals that were missed, in a line; the reasons are in bench/notes.md, which people write. */
export function missedText(figures: Figure[]): string {
  const missed = figures.filter((figure) => !isMet(figure)).map(({ what, against }) => `${what} (${against})`)
  return missed.length === 0
    ? 'No goal is missed.'
    : `Missed, for the reasons in [bench/notes.md](../bench/notes.md): ${missed.join('; ')}.`
}

function againText(figure: Figure, second: Figure[]): string {
  const again = second.find(({ what, against }) => what === figure.what && against === figure.against)
  if (again === undefined) return 'not measured'
  const share = apart(figure.value, again.value)
  return `${shown(again.value, again.unit)} (${Math.round(share * 100)} % apart)`
}

/** Of the ratios, which are what a second run must give again; times and sizes are the machine's. */
export function repeatText(first: Figure[], second: Figure[]): string {
  const ratios = first.filter(({ unit }) => unit === '×')
  const far = ratios.filter((figure) => {
    const again = second.find(({ what, against }) => what === figure.what && against === figure.against)
    return again === undefined || apart(figure.value, again.value) > sameWithin
  })
  const names = far.map(({ what, against }) => `${what} (${against})`).join('; ')
  return `Of ${ratios.length} ratios, the second run gave ${ratios.length - far.length} again within 15 %${far.length === 0 ? '.' : `; not: ${names}.`}`
}

/** Puts `text` between the marks of that name on a page that people write, and leaves the rest as it is. */
export function replacePart(page: string, name: string, text: string): string {
  const [begin, end] = [`<!-- ${name}: written by npm run bench -->`, `<!-- end of ${name} -->`]
  const [from, to] = [page.indexOf(begin), page.indexOf(end)]
  if (from === -1 || to < from) throw new Error(`The page has no part "${name}" between its two marks.`)
  return `${page.slice(0, from + begin.length)}\n\n${text}\n\n${page.slice(to)}`
}
