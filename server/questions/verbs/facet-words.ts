import type { SqlFacets } from '../../engine/index.ts'
import { stem, words } from '../../language/index.ts'
import { spoken } from '../../router/index.ts'

/** Something that a query computes, and how people say it. */
export type SaidFacet = {
  kind: 'measure' | 'group' | 'grain' | 'order' | 'filter'
  /** In the middle of a sentence: "a row for each month". */
  means: string
  /** The words that a description without it could end with. */
  ending: string
  /** Whether words of a text say it. */
  isDescribed: (described: Set<string>) => boolean
}

const set = (list: string): Set<string> => new Set(list.split(' ').map(stem))

const measureWords = {
  total: set('total sum overall revenue turnover altogether volume amount spent spend earned cost sales'),
  average: set('average mean typical avg usual'),
  count: set('many number count counts often frequency'),
  lowest: set('lowest smallest minimum min least cheapest earliest oldest first shortest'),
  highest: set('highest largest biggest maximum max most latest newest last longest'),
  median: set('median middle typical'),
} satisfies Record<SqlFacets['measures'][number]['kind'], Set<string>>

const measureEndings = {
  total: 'in total',
  average: 'on average',
  count: 'how many there are',
  lowest: 'the lowest',
  highest: 'the highest',
  median: 'the median',
} satisfies Record<SqlFacets['measures'][number]['kind'], string>

const grainWords = new Map([
  ['hour', set('hour hourly hours')],
  ['day', set('day daily days weekday date')],
  ['week', set('week weekly weeks')],
  ['month', set('month monthly months')],
  ['quarter', set('quarter quarterly quarters')],
  ['year', set('year yearly annual annually years')],
])

const firstWords = {
  descending: set(
    'top best most highest largest biggest newest latest recent dearest longest last leading greatest priciest heaviest',
  ),
  ascending: set(
    'bottom worst least lowest smallest oldest earliest fewest cheapest shortest first next upcoming alphabetical',
  ),
}

/** Facets that a query computes, to compare its texts with. */
export function facetsToSay(facets: SqlFacets): SaidFacet[] {
  return [
    ...facets.measures.map(measureFacet),
    ...facets.grains.map(grainFacet),
    ...facets.groups.map(groupFacet),
    // A query that only sorts all of its rows answers the same question in any order.
    ...(facets.order !== null && facets.isLimited ? [orderFacet(facets.order)] : []),
    ...facets.filters.map(filterFacet),
  ]
}

function measureFacet({ kind, column }: SqlFacets['measures'][number]): SaidFacet {
  const of = column === null || kind === 'count' ? '' : ` ${spoken(column)}`
  return {
    kind: 'measure',
    means: kind === 'count' ? 'counts rows' : `gives the ${kind}${of}`,
    ending: measureEndings[kind],
    isDescribed: (described) => says(described, measureWords[kind]),
  }
}

function grainFacet(grain: string): SaidFacet {
  return {
    kind: 'grain',
    means: `gives a row for each ${grain}`,
    ending: `by ${grain}`,
    isDescribed: (described) => says(described, grainWords.get(grain) ?? set(grain)),
  }
}

function groupFacet(column: string): SaidFacet {
  const name = spoken(column)
  const own = stemsOf(name)
  return {
    kind: 'group',
    means: `gives a row for each ${name}`,
    ending: `by ${name}`,
    isDescribed: (described) => says(described, own),
  }
}

function orderFacet({ column, direction }: NonNullable<SqlFacets['order']>): SaidFacet {
  const name = spoken(column)
  const end = direction === 'descending' ? 'highest' : 'lowest'
  return {
    kind: 'order',
    means: `gives those with the ${end} ${name} only`,
    ending: `${end} ${name} first`,
    isDescribed: (described) => says(described, firstWords[direction]),
  }
}

function filterFacet({ column, values }: SqlFacets['filters'][number]): SaidFacet {
  const name = spoken(column)
  const isFlag = values.length === 1 && values[0] === 'true'
  const named = values.map(spoken).join(' or ')
  const own = isFlag ? stemsOf(name) : stemsOf(values.map(spoken).join(' '))
  return {
    kind: 'filter',
    means: isFlag ? `gives only what is ${name}` : `gives only rows whose ${name} is ${named}`,
    ending: isFlag ? `only ${name}` : `only with ${name} ${named}`,
    isDescribed: (described) => says(described, own),
  }
}

export function stemsOf(text: string): Set<string> {
  return new Set(words(text).map((word) => word.stem))
}

function says(described: Set<string>, any: Set<string>): boolean {
  return [...any].some((word) => described.has(word))
}
