import { describe, expect, test } from 'vitest'
import { chartFor, chooseChart, isTelling, kindsOf, layOut, type Chart } from '../../../clients/chart/index.ts'

type Rows = Array<Record<string, unknown>>
const choose = (rows: Rows): Chart | null => chooseChart(kindsOf(Object.keys(rows[0] ?? {}), rows), rows)
const days = ['2024-01-02', '2024-01-01', '2024-01-03']

describe('a chart is chosen by the kinds of columns and the shape of rows', () => {
  test('a number along days is a line, and one for each name where days repeat', () => {
    expect(choose(days.map((day, at) => ({ day, revenue: at })))).toMatchObject({
      type: 'line',
      x: 'day',
      y: ['revenue'],
    })
    const both = days.flatMap((day) => ['north', 'south'].map((region) => ({ day, region, revenue: 1 })))
    expect(choose(both)).toMatchObject({ type: 'line', x: 'day', y: ['revenue'], series: 'region' })
  })

  test('a number for each name is a bar, also for each of two names', () => {
    const named = [
      { city: 'Gent', id: 1, orders: 3 },
      { city: 'Lyon', id: 2, orders: 4 },
    ]
    expect(choose(named)).toMatchObject({ type: 'bar', x: 'city', y: ['orders'], series: null })
    const two = named.flatMap((row) => ['tea', 'coffee'].map((kind) => ({ city: row.city, kind, orders: 1 })))
    expect(choose(two)).toMatchObject({ type: 'bar', x: 'city', series: 'kind' })
    const many = Array.from({ length: 100 }, (_, at) => ({ name: `n${at}`, orders: at }))
    expect(choose(many)).toBeNull()
  })

  test('only numbers of one size share a scale; two numbers alone are points', () => {
    const rows = [
      { city: 'Gent', revenue: 90_000, costs: 50_000, orders: 3 },
      { city: 'Lyon', revenue: 80_000, costs: 60_000, orders: 4 },
    ]
    expect(choose(rows)?.y).toEqual(['revenue', 'costs'])
    expect(choose(rows.map(({ revenue, costs }) => ({ revenue, costs })))?.type).toBe('scatter')
  })

  test('what has no numbers is counted, and what says nothing is no chart', () => {
    const rows = ['a', 'b', 'a'].map((kind) => ({ kind }))
    expect(choose(rows)).toMatchObject({ type: 'bar', x: 'kind', y: [] })
    expect(choose([{ kind: 'a' }])).toBeNull()
    expect(choose([{ kind: 'a' }, { kind: 'b' }])).toBeNull()
  })

  test('it stands for the rows only where it leaves nothing out and adds nothing up', () => {
    const telling = (rows: Rows): boolean | undefined => {
      const columns = kindsOf(Object.keys(rows[0] ?? {}), rows)
      const chart = chooseChart(columns, rows)
      return chart === null ? undefined : isTelling(chart, columns, rows)
    }
    expect(telling(days.map((day, at) => ({ day, revenue: at })))).toBe(true)
    expect(telling([...days, ...days].map((day, at) => ({ day, revenue: at })))).toBe(false)
    expect(telling(days.map((day, at) => ({ day, customer: `c${at}`, revenue: at })))).toBe(false)
  })

  test('of several numbers those that the question names are drawn', () => {
    const months = ['2024-01-01', '2024-02-01'].map((month) => ({ month, orders: 3, average_price: 2, revenue: 900 }))
    const columns = kindsOf(Object.keys(months[0] ?? {}), months)
    expect(chooseChart(columns, months, 'Revenue by month')).toMatchObject({ x: 'month', y: ['revenue'] })
    expect(chooseChart(columns, months, 'average prices and orders')).toMatchObject({ y: ['average_price', 'orders'] })
    expect(chooseChart(columns, months, 'how are we doing')).toMatchObject({ y: ['orders', 'average_price'] })
    const set: Chart = { type: 'bar', x: 'month', y: ['orders'], series: null, stacked: false }
    expect(chartFor(set, columns, months, 'revenue by month')).toEqual({ ...set, y: ['revenue'] })
    expect(chartFor(set, columns, months, 'orders and revenue by month')).toEqual(set)
    expect(chartFor(set, columns, months, 'by month')).toEqual(set)
  })

  test('what was set stands as long as the result has its columns', () => {
    const rows = [{ city: 'Gent', orders: 3, day: '2024-01-01' }]
    const columns = kindsOf(['city', 'orders', 'day'], rows)
    const set: Chart = { type: 'pie', x: 'city', y: ['orders', 'gone'], series: 'gone', stacked: false }
    expect(chartFor(set, columns, rows)).toEqual({ ...set, y: ['orders'], series: null })
    expect(chartFor({ ...set, x: 'gone' }, columns, rows)).toBeNull()
  })
})

describe('points', () => {
  test('go along time in its order, and what belongs to one mark and line is added up', () => {
    const rows = [...days, '2024-01-01'].map((day, at) => ({
      day,
      region: at % 2 === 0 ? 'north' : 'south',
      n: at + 1,
    }))
    const chart: Chart = { type: 'line', x: 'day', y: ['n'], series: 'region', stacked: false }
    const { axis, marks, lines, isSum } = layOut(chart, rows)
    expect(isSum).toBe(true)
    expect(layOut(chart, rows.slice(0, 3)).isSum).toBe(false)
    expect(axis).toBe('time')
    expect(marks.map(({ label }) => label)).toEqual(['2024-01-01', '2024-01-02', '2024-01-03'])
    expect(lines).toEqual([
      { name: 'north', values: [null, 1, 3] },
      { name: 'south', values: [6, null, null] },
    ])
    expect(layOut({ ...chart, y: [], series: null }, rows).lines).toEqual([{ name: 'rows', values: [2, 1, 1] }])
  })

  test('of a cloud stay apart, and there are never more than can be drawn', () => {
    const rows = Array.from({ length: 5000 }, (_, at) => ({ a: at % 7, b: at, c: `c${at}` }))
    const cloud = layOut({ type: 'scatter', x: 'a', y: ['b'], series: null, stacked: false }, rows)
    expect(cloud).toMatchObject({ axis: 'number', isCut: true })
    expect(cloud.marks).toHaveLength(1000)
    const lines = layOut({ type: 'line', x: 'a', y: ['b'], series: 'c', stacked: false }, rows)
    expect(lines.lines).toHaveLength(12)
    expect(lines.isCut).toBe(true)
  })
})
