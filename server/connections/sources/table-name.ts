import { invalidField } from '../../failure.ts'

/** Words that SQL would not read as the name of a table. */
const reserved = new Set(
  (
    'all analyse analyze and any array as asc asymmetric both case cast check collate column constraint create default ' +
    'deferrable desc describe distinct do else end except false fetch for foreign from grant group having in initially ' +
    'intersect into lambda lateral leading limit not null offset on only or order pivot placing primary qualify ' +
    'references returning select show some summarize symmetric table then to trailing true union unique unpivot using ' +
    'variadic when where window with'
  ).split(' '),
)

/** Letters that do not come apart into a plain one and a mark. */
const plainLetters: Record<string, string> = { ł: 'l', ø: 'o', đ: 'd', ß: 'ss', æ: 'ae', œ: 'oe', þ: 'th', ð: 'd' }

/** A table name made from what a person called the datasource: `Sales (EU)` becomes `sales_eu`. */
export function tableNameFor(name: string): string {
  const plain = name
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[łøđßæœþð]/g, (letter) => plainLetters[letter] ?? letter)
  const slug = plain.replaceAll(/[^a-z0-9]+/g, '_').replaceAll(/^_+|_+$/g, '')
  const led = /^[a-z]/.test(slug) ? slug : `table_${slug}`
  const safe = reserved.has(led) ? `${led}_data` : led
  return safe.slice(0, 60).replace(/_+$/, '')
}

/** The first of `name`, `name_2`, `name_3`, … that is free. */
export function firstFree(name: string, taken: ReadonlySet<string>): string {
  if (!taken.has(name)) return name
  for (let count = 2; ; count += 1) {
    const next = `${name}_${count}`
    if (!taken.has(next)) return next
  }
}

export function refuseReserved(name: string): void {
  if (!reserved.has(name)) return
  const message = `is a word of SQL; perhaps ${name}_data`
  throw invalidField('table_name', message)
}
