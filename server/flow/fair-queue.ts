/** A name that waits for or holds something, such as a project, and a part of it, such as a key or a query. */
export type Holder = readonly [name: string, part?: string | undefined]

/** Gives back what was held. Calling it twice gives back once. */
export type Release = () => void

/** Counts of all holders (level 0), of one name (1) or of one part (2). */
export type Level = {
  readonly depth: number
  readonly name: string
  readonly parent: Level | null
  /** The amount that is held, by entries and by `hold`. */
  readonly held: number
  /** The entries that are inside. */
  readonly entered: number
  readonly waiting: number
}

/** Limits of the next entry: `enter` is asked for each level from the top, `run` for one item. */
type May<Item> = { enter: (level: Level) => boolean; run?: (item: Item) => boolean }

type Entry<Item> = { item: Item; amount: number }
/** `branches` are in the order of their turns; `entries` are at the lowest level only. */
type Branch<Item> = Level & {
  held: number
  entered: number
  waiting: number
  readonly parent: Branch<Item> | null
  readonly branches: Map<string, Branch<Item>>
  entries: Entry<Item>[]
}

/** Items of one part that are looked at in one turn: thousands may wait. */
const lookedAt = 64

/**
 * Items that wait, and the amounts that their holders hold. Names take turns, and so do the parts of a name: a holder
 * with a thousand waiting items delays another by one. Items of one part keep their order.
 */
// Over 70 lines: its methods share the tree of holders.
export function createFairQueue<Item>() {
  const root = newBranch<Item>(null, '')

  function leafOf([name, part = '']: Holder): Branch<Item> {
    return below(below(root, name), part)
  }

  /** Changes the counts of a part and of all above it. A branch that is left with nothing goes. */
  function count(leaf: Branch<Item>, held: number, entered: number, waiting: number): void {
    for (let at: Branch<Item> | null = leaf; at !== null; at = at.parent) {
      at.held += held
      at.entered += entered
      at.waiting += waiting
      if (at.held !== 0 || at.entered !== 0 || at.waiting !== 0) continue
      if (at.parent?.branches.get(at.name) === at) at.parent.branches.delete(at.name)
    }
  }

  function holdAt(leaf: Branch<Item>, amount: number, entered: 0 | 1, waiting: 0 | -1): Release {
    count(leaf, amount, entered, waiting)
    let isHeld = true
    return () => {
      if (isHeld) count(leaf, -amount, -entered, 0)
      isHeld = false
    }
  }

  function takeFrom(branch: Branch<Item>, may: May<Item>): { item: Item; leave: Release } | undefined {
    if (branch.waiting === 0 || !may.enter(branch)) return undefined
    for (let at = 0; at < branch.entries.length && at < lookedAt; at += 1) {
      const { item, amount } = branch.entries[at] as Entry<Item>
      if (may.run?.(item) === false) continue
      branch.entries.splice(at, 1)
      return { item, leave: holdAt(branch, amount, 1, -1) }
    }
    for (const next of branch.branches.values()) {
      const taken = takeFrom(next, may)
      if (taken === undefined) continue
      branch.branches.delete(next.name)
      branch.branches.set(next.name, next)
      return taken
    }
    return undefined
  }

  function remove(holder: Holder, item: Item): boolean {
    const leaf = leafOf(holder)
    const at = leaf.entries.findIndex((entry) => entry.item === item)
    if (at !== -1) leaf.entries.splice(at, 1)
    count(leaf, 0, 0, at === -1 ? 0 : -1)
    return at !== -1
  }

  return {
    push(holder: Holder, item: Item, amount = 1): void {
      const leaf = leafOf(holder)
      leaf.entries.push({ item, amount })
      count(leaf, 0, 0, 1)
    },
    /** Enters the next item that may; its name and part go to the end of their rounds. */
    take: (may: May<Item>) => takeFrom(root, may),
    /** Enters without an item, if every level may and nothing of the holder waits. */
    tryEnter(holder: Holder, amount: number, mayEnter: May<Item>['enter']): Release | undefined {
      const leaf = leafOf(holder)
      let isFree = leaf.waiting === 0
      for (let at: Branch<Item> | null = leaf; at !== null && isFree; at = at.parent) isFree = mayEnter(at)
      if (isFree) return holdAt(leaf, amount, 1, 0)
      count(leaf, 0, 0, 0)
      return undefined
    },
    /** Counts an amount as held, whatever the limits; as an entry, too, where `entered` is 1. */
    hold: (holder: Holder, amount: number, entered: 0 | 1) => holdAt(leafOf(holder), amount, entered, 0),
    /** Removes an item before its turn. */
    remove,
    /** The number of waiting items, of all or of one name. */
    waiting: (name?: string) => (name === undefined ? root : root.branches.get(name))?.waiting ?? 0,
  }
}

function below<Item>(parent: Branch<Item>, name: string): Branch<Item> {
  let branch = parent.branches.get(name)
  if (branch === undefined) parent.branches.set(name, (branch = newBranch(parent, name)))
  return branch
}

/** Parts have no branches; one map for all of them. */
const none = new Map<string, never>()

function newBranch<Item>(parent: Branch<Item> | null, name: string): Branch<Item> {
  const depth = parent === null ? 0 : parent.depth + 1
  return { depth, name, parent, held: 0, entered: 0, waiting: 0, branches: depth === 2 ? none : new Map(), entries: [] }
}
