import type { Encoder, ProjectIndex } from '../../server/router/index.ts'
import { ruleNames, type RuleName } from '../../server/router/project/rules.ts'
import { verdicts, type Asked } from './judge.ts'

/** The same index with one rule switched off: nothing but a benchmark can do so. */
export function withoutRule(index: ProjectIndex, rule: RuleName): ProjectIndex {
  const linker = { ...index.linker, readsParts: rule !== 'parts of names' }
  return { ...index, linker, rulesOff: new Set([rule]) }
}

/** The same index that tells which rules had a say in an answer: only those can change it when they are switched off. */
export function tellingRules(index: ProjectIndex): { index: ProjectIndex; taken: () => Set<RuleName> } {
  let said = new Set<RuleName>()
  const rulesOff = new Set<RuleName>()
  rulesOff.has = (rule) => {
    said.add(rule)
    return false
  }
  const linker = {
    ...index.linker,
    get readsParts() {
      said.add('parts of names')
      return true
    },
  }
  const taken = (): Set<RuleName> => {
    const own = said
    said = new Set()
    return own
  }
  return { index: { ...index, rulesOff, linker }, taken }
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

/** A question with a rule and without it. */
export type Compared = { each: Asked; other: Asked }

/** What became of questions because a rule is there: each figure is with the rule less without it. */
export function printRules(without: Map<RuleName, Compared[]>): void {
  const head = verdicts.map((each) => each.padStart(7)).join(' ')
  console.log(`\n${'rule'.padEnd(30)}   had a say  moved  worlds  ${head}`)
  for (const rule of ruleNames) {
    const said = without.get(rule) ?? []
    const moved = said.filter(({ each, other }) => each.verdict !== other.verdict)
    const worlds = new Set(moved.map(({ each }) => each.world)).size
    const gains = verdicts.map((verdict) => {
      const gain =
        moved.filter(({ each }) => each.verdict === verdict).length -
        moved.filter(({ other }) => other.verdict === verdict).length
      return `${gain > 0 ? '+' : ''}${gain}`.padStart(7)
    })
    const [many, others, places] = [said.length, moved.length, worlds].map(String)
    console.log(
      `${rule.padEnd(30)} ${many?.padStart(11)}  ${others?.padStart(5)}  ${places?.padStart(6)}  ${gains.join(' ')}`,
    )
  }
}
