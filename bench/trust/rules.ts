import type { Encoder, ProjectIndex } from '../../server/router/index.ts'
import type { RuleName } from '../../server/router/rules.ts'
import { verdicts, type Asked } from './judge.ts'

/** The same index with one rule switched off: nothing but a benchmark can do so. */
export function withoutRule(index: ProjectIndex, rule: RuleName): ProjectIndex {
  const linker = { ...index.linker, readsParts: rule !== 'parts of names' }
  return { ...index, linker, rulesOff: new Set([rule]) }
}

/** An encoder and reader that remember what they have read: with a rule off nearly every question is read as before. */
export function rememberingEncoder(encoder: Encoder): Encoder {
  const vectors = new Map<string, Promise<Float32Array[]>>()
  const logits = new Map<string, Promise<Float32Array>>()
  const once = <Value>(known: Map<string, Value>, key: string, make: () => Value): Value => {
    const value = known.get(key) ?? make()
    known.set(key, value)
    return value
  }
  const { reader } = encoder
  return {
    ...encoder,
    encode: async (texts) =>
      (await Promise.all(texts.map((text) => once(vectors, text, () => encoder.encode([text]))))).flat(),
    reader:
      reader === null
        ? null
        : { ...reader, score: (input) => once(logits, JSON.stringify(input), () => reader.score(input)) },
  }
}

/** What became of questions because a rule is there: each figure is with the rule less without it. */
export function printRules(asked: Asked[], without: Map<RuleName, Asked[]>): void {
  console.log(`\n${'rule'.padEnd(30)} moved  worlds  ${verdicts.map((each) => each.padStart(7)).join(' ')}`)
  for (const [rule, others] of without) {
    const moved = asked.flatMap((each, at) => {
      const other = others[at]
      return other === undefined || other.verdict === each.verdict ? [] : [{ each, other }]
    })
    const worlds = new Set(moved.map(({ each }) => each.world)).size
    const gains = verdicts.map((verdict) => {
      const gain =
        moved.filter(({ each }) => each.verdict === verdict).length -
        moved.filter(({ other }) => other.verdict === verdict).length
      return `${gain > 0 ? '+' : ''}${gain}`.padStart(7)
    })
    console.log(
      `${rule.padEnd(30)} ${String(moved.length).padStart(5)}  ${String(worlds).padStart(6)}  ${gains.join(' ')}`,
    )
  }
}
