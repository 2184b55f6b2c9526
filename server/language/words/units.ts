/** Unit of a number. Units of one dimension convert by their sizes; money never does. */
export type Unit = { name: string; dimension: string; size: number }

const table: Record<string, Array<[size: number, words: string]>> = {
  time: [
    [0.001, 'ms msec millisecond milliseconds'],
    [1, 'seconds sec secs s'],
    [60, 'minute minutes mins'],
    [3_600, 'hour hours hr hrs h'],
    [86_400, 'day days d'],
    [86_400, 'night nights'],
    [604_800, 'week weeks'],
    [1_209_600, 'fortnight fortnights'],
  ],
  // No number of days is a month.
  calendar: [
    [1, 'month months'],
    [3, 'quarters'],
    [12, 'year years'],
  ],
  mass: [
    [0.001, 'mg milligram milligrams'],
    [1, 'g gram grams'],
    [28.349523125, 'oz ounces'],
    [453.59237, 'lb lbs'],
    [1_000, 'kg kgs kilo kilos kilogram kilograms'],
    [1_000_000, 'tonne tonnes ton tons'],
  ],
  length: [
    [1, 'mm millimetres millimeters'],
    [10, 'cm centimetres centimeters'],
    [25.4, 'inches'],
    [304.8, 'ft feet'],
    [1_000, 'metre metres meter meters'],
    [1_000_000, 'km kilometre kilometres kilometer kilometers'],
    [1_609_344, 'mile miles'],
  ],
  volume: [
    [1, 'ml millilitres milliliters'],
    [10, 'cl centilitres centiliters'],
    [1_000, 'litre litres liter liters'],
    [100_000, 'hl hectolitres hectoliters'],
  ],
  speed: [
    [1, 'kmh kph km/h'],
    [1.609344, 'mph'],
    [1.852, 'kn knot knots'],
    [3.6, 'm/s'],
  ],
  area: [
    [1, 'hectare hectares'],
    [0.40468564224, 'acre acres'],
  ],
  energy: [
    [0.001, 'wh'],
    [1, 'kwh'],
    [1_000, 'mwh'],
    [1_000_000, 'gwh'],
    [1_000_000_000, 'twh'],
  ],
  power: [
    [0.001, 'watt watts'],
    [1, 'kw kilowatt kilowatts'],
    [1_000, 'mw megawatt megawatts'],
    [1_000_000, 'gw gigawatt gigawatts'],
  ],
  data: [
    [0.000_001, 'byte bytes'],
    [0.001, 'kb kilobyte kilobytes'],
    [1, 'mb megabyte megabytes'],
    [1_000, 'gb gigabyte gigabytes'],
    [1_000_000, 'tb terabyte terabytes'],
    [1_000_000_000, 'pb petabyte petabytes'],
  ],
  pressure: [
    [0.001, 'mbar millibar millibars hpa'],
    [0.01, 'kpa'],
    [0.0689475729, 'psi'],
    [1, 'bar bars'],
  ],
  share: [[1, '% percent pct percentage']],
  // A rate is nothing that a question knows.
  euro: [
    [1, '€ eur euro euros'],
    [1_000, 'keur'],
    [1_000_000, 'meur'],
  ],
  dollar: [
    [1, '$ usd dollar dollars'],
    [1_000, 'kusd'],
    [1_000_000, 'musd'],
  ],
  pound: [
    [1, '£ gbp pound pounds quid'],
    [1_000, 'kgbp'],
    [1_000_000, 'mgbp'],
  ],
  cent: [[1, 'cent cents']],
}

const units = new Map<string, Unit>()
for (const [dimension, sizes] of Object.entries(table)) {
  for (const [size, words] of sizes) {
    const all = words.split(' ')
    const name = all.toSorted((a, b) => b.length - a.length)[0] ?? dimension
    for (const word of all) units.set(word, { name, dimension, size })
  }
}

/** Units that are written right behind the digits: "50kg"; and the sign of "2.5x". */
export const gluedUnits =
  'km\\/?h|kph|mph|m\\/s|kgs?|mg|lbs?|oz|km|cm|mm|ft|[mch]l|[kmgt]wh|[kg]w|[kgtp]b|ms|mins?|hrs?|[hsdx]'

// `year` holds the number of a year and `meter_id` that of a meter; `years` and `meters` count them.
const counting = /^(?:[a-z]{3,}s|percent|percentage|euro|[km](?:eur|usd|gbp)|(?!day)[a-z]{1,3})$/
const inThousands = /\bthousands?\s+(?:of\s+)?([a-z€$£]+)/iu
const inUnits = /\bin ([a-z%€$£]+)/iu

/** Unit of a slot, by its name, its title, or what its description says behind "in" or as its only unit. */
export function unitNamed(names: string, description: string): Unit | null {
  const scaled = inThousands.exec(description)?.[1]?.toLowerCase()
  const thousand = scaled === undefined ? undefined : units.get(scaled)
  if (thousand !== undefined) return { ...thousand, name: `thousand ${thousand.name}`, size: 1_000 * thousand.size }
  for (const word of [...names.split(' '), inUnits.exec(description)?.[1]?.toLowerCase() ?? '']) {
    const unit = units.get(word)
    if (unit !== undefined && counting.test(word)) return unit
  }
  const said = description.toLowerCase().match(/[a-z]{4,}s\b/g) ?? []
  const [only, ...others] = new Set(said.flatMap((word) => units.get(word) ?? []))
  return others.length === 0 ? (only ?? null) : null
}

/** Unit that a word names; null where it names none. */
export function unitOf(word: string): Unit | null {
  return units.get(word) ?? null
}

export function isUnit(word: string): boolean {
  return units.has(word)
}

/** The number as another unit counts it; null where there is no such number. */
export function convertUnit(value: number, from: Unit, to: Unit): number | null {
  if (from.dimension !== to.dimension) return null
  // Digits that only rounding made are cut.
  return from.size === to.size ? value : Number(((value * from.size) / to.size).toPrecision(12))
}

const kindred = [new Set(['time', 'calendar']), new Set(['euro', 'dollar', 'pound', 'cent'])]

/** Whether two units measure the same thing, though one may have no number for the other: weeks and months. */
export function isSameQuantity(left: Unit, right: Unit): boolean {
  return kindred.some((kind) => kind.has(left.dimension) && kind.has(right.dimension))
}
