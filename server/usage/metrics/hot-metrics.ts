/**
 * Counters and histograms in Prometheus's text form. prom-client finds a child by its labels and a bucket by comparing
 * texts each time, which costs a call more than recording it; here the counting code may hold its child, and adding is
 * adding.
 */
export type HotMetric<Child> = {
  /** The child of a set of values; callers hold on to it. */
  child(...values: string[]): Child
  render(): string
}

export type HotCounter = { inc(by?: number): void }
export type HotHistogram = { observe(seconds: number): void }

export function hotCounter(name: string, help: string, labels: string[]): HotMetric<HotCounter> {
  const children = childrenOf(() => {
    let count = 0
    return { inc: (by = 1) => void (count += by), lines: (of: string[]) => [`${name}${braces(of)} ${count}`] }
  })
  return { child: children.get, render: () => textOf({ name, help, type: 'counter' }, children.lines(labels)) }
}

/** `bounds` in ascending order. */
export function hotHistogram(
  name: string,
  help: string,
  { labels, bounds }: { labels: string[]; bounds: number[] },
): HotMetric<HotHistogram> {
  const children = childrenOf(() => {
    const counts = bounds.map(() => 0)
    let sum = 0
    let count = 0
    return {
      observe(seconds: number) {
        sum += seconds
        count += 1
        for (let at = bounds.length - 1; at >= 0 && seconds <= (bounds[at] ?? 0); at -= 1)
          counts[at] = (counts[at] ?? 0) + 1
      },
      lines: (of: string[]) => [
        ...bounds.map((bound, at) => `${name}_bucket${braces([`le="${bound}"`, ...of])} ${counts[at]}`),
        `${name}_bucket${braces(['le="+Inf"', ...of])} ${count}`,
        `${name}_sum${braces(of)} ${sum}`,
        `${name}_count${braces(of)} ${count}`,
      ],
    }
  })
  return { child: children.get, render: () => textOf({ name, help, type: 'histogram' }, children.lines(labels)) }
}

function childrenOf<Child extends { lines(of: string[]): string[] }>(make: () => Child) {
  const children = new Map<string, { values: string[]; child: Child }>()
  return {
    get: (...values: string[]): Child => {
      const key = values.join('\n')
      const found = children.get(key) ?? { values, child: make() }
      children.set(key, found)
      return found.child
    },
    lines: (labels: string[]): string[] =>
      [...children.values()].flatMap(({ values, child }) =>
        child.lines(labels.map((label, at) => `${label}="${escaped(values[at] ?? '')}"`)),
      ),
  }
}

function textOf({ name, help, type }: { name: string; help: string; type: string }, lines: string[]): string {
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.map((line) => `${line}\n`).join('')}`
}

function braces(of: string[]): string {
  return of.length === 0 ? '' : `{${of.join(',')}}`
}

function escaped(value: string): string {
  return value.replaceAll(/[\\"\n]/g, (character) => (character === '\n' ? String.raw`\n` : `\\${character}`))
}
