import { CommandFailure } from '../../terminal/exit.ts'

/** Values of slots as they are typed: `name=value`. */
export function valuesOf(pairs: string[]): Array<[name: string, value: string]> {
  return pairs.map((pair) => {
    const at = pair.indexOf('=')
    if (at >= 1) return [pair.slice(0, at), pair.slice(at + 1)]
    throw new CommandFailure('usage', `${pair} is no value: write name=value.`, {
      hint: 'sluice call sales_by_region region=north',
    })
  })
}
