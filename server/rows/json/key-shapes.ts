import { Failure } from '../../failure.ts'
import { kinds, newShape } from './shape.ts'
import type { KeyNode, Shape } from './shape-tree.ts'

/**
 * Which keys the objects of a stream have and what stands under them, learned while they pass. Objects that repeat the
 * same keys in the same order walk the same nodes, so that a known key costs one comparison of bytes; what is unknown
 * is looked at once.
 */

const maxNodes = 20_000
/** Beyond this an object is a map: its further keys share one shape. */
const maxFields = 20_001
/** In all, so that no answer can fill the memory with keys. */
const maxShapes = 200_000
const none = new Uint8Array(0)

export type KeyShapes = ReturnType<typeof createKeyShapes>

// Over 70 lines: its methods share the table of shapes and the caches over it.
export function createKeyShapes() {
  let nodes = 0
  let shapes = 0
  let duplicates = false
  const rows = newShape()
  rows.kinds = kinds.object

  function fieldOf(owner: Shape, name: string): Shape {
    const found = owner.fields.get(name)
    if (found !== undefined) return found
    if (owner.fields.size >= maxFields) return (owner.others ??= newShape())
    shapes += 1
    if (shapes > maxShapes) throw tooManifold()
    const made = newShape()
    owner.fields.set(name, made)
    return made
  }

  function newNode(owner: Shape, shape: Shape, parent: KeyNode | null): KeyNode {
    return { raw: none, name: '', parent, owner, shape, next: null, known: null }
  }

  function precedes(node: KeyNode, name: string): boolean {
    for (let at: KeyNode | null = node; at !== null && at.parent !== null; at = at.parent) {
      if (at.name === name) return true
    }
    return false
  }

  /** The node after `raw`, the key as sent; `null` when there are too many shapes to remember. */
  function follow(node: KeyNode, raw: Buffer): KeyNode | null {
    const key = raw.toString('latin1')
    const known = node.known?.get(key)
    if (known !== undefined) {
      node.next = known
      return known
    }
    if (nodes >= maxNodes) return null
    const name = JSON.parse(raw.toString()) as string
    if (precedes(node, name)) duplicates = true
    const made = newNode(node.owner, fieldOf(node.owner, name), node)
    made.raw = Uint8Array.from(raw)
    made.name = name
    node.known ??= new Map()
    node.known.set(key, made)
    node.next = made
    nodes += 1
    return made
  }

  /** The slow way once shapes are too many: `seen` holds the keys of this one object. */
  function followLoose(node: KeyNode, raw: Buffer, seen: Set<string>): KeyNode {
    const name = JSON.parse(raw.toString()) as string
    if (seen.has(name)) duplicates = true
    seen.add(name)
    const shape = fieldOf(node.owner, name)
    // A loose node never predicts: it has no `next` and no `known`.
    shape.loose ??= newNode(node.owner, shape, enter(node.owner))
    return shape.loose
  }

  function namesUpTo(node: KeyNode): Set<string> {
    const names = new Set<string>()
    for (let at: KeyNode | null = node; at !== null && at.parent !== null; at = at.parent) names.add(at.name)
    return names
  }

  /** Where an object of this shape starts. */
  function enter(shape: Shape): KeyNode {
    shape.root ??= newNode(shape, shape, null)
    return shape.root
  }

  return {
    rows,
    follow,
    followLoose,
    namesUpTo,
    enter,
    /** The shape under one key of the rows, for rows that arrive column by column. */
    column: (name: string) => fieldOf(rows, name),
    hasDuplicates: () => duplicates,
  }
}

function tooManifold(): Failure {
  return new Failure('upstream_error', {
    reason: 'not_tabular',
    message:
      'The answer has too many different keys to be a table. Point responsePathExtractor at the list of rows inside it.',
  })
}
