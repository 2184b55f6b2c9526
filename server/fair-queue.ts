/**
 * Who is next. Work waits by a path, such as project and key, and at each level of it the branches take turns: one with
 * a thousand waiting delays another by one. Pure: whoever takes says what may run now.
 */
export type FairQueue<Item> = {
  push(path: readonly string[], item: Item): void
  /** The next item whose branches are open and that may run; its branches go to the end of their rounds. */
  take(may?: May<Item>): Item | undefined
  /** Items of one path that go along with one of it that was taken; they need no turn of their own. */
  takeAlong(path: readonly string[], goesAlong: (item: Item) => boolean, most: number): Item[]
  /** Takes an item out before its turn. */
  remove(path: readonly string[], item: Item): boolean
  size(): number
}

export type May<Item> = {
  /** Whether a branch, named by the path to it, may have one more taken from it. */
  enter?: (path: readonly string[]) => boolean
  run?: (item: Item) => boolean
}

/** `branches` in the order of their turns; `items` where a path ends. */
type Branch<Item> = { branches: Map<string, Branch<Item>>; items: Item[] }

/** How far into the items of one path is looked: they may be thousands. */
const lookedAt = 64

export function createFairQueue<Item>(): FairQueue<Item> {
  const root: Branch<Item> = newBranch()
  let size = 0

  function takeFrom(branch: Branch<Item>, path: readonly string[], may: May<Item>): Item | undefined {
    const index = branch.items.findIndex((item, at) => at === lookedAt || may.run?.(item) !== false)
    if (index !== -1 && index !== lookedAt) return branch.items.splice(index, 1)[0]
    for (const [name, next] of branch.branches) {
      const nextPath = [...path, name]
      if (may.enter?.(nextPath) === false) continue
      const item = takeFrom(next, nextPath, may)
      if (item === undefined) continue
      branch.branches.delete(name)
      if (!isEmpty(next)) branch.branches.set(name, next)
      return item
    }
    return undefined
  }

  /** In place: what stays keeps its turn. */
  function pick(path: readonly string[], from: (items: Item[]) => Item[]): Item[] {
    const branches = [root]
    for (const name of path) {
      const next = branches.at(-1)?.branches.get(name)
      if (next === undefined) return []
      branches.push(next)
    }
    const picked = from(branches.at(-1)?.items ?? [])
    size -= picked.length
    for (let depth = path.length; depth > 0; depth -= 1) {
      const branch = branches[depth]
      if (branch === undefined || !isEmpty(branch)) break
      branches[depth - 1]?.branches.delete(path[depth - 1] ?? '')
    }
    return picked
  }

  return {
    push(path, item) {
      let branch = root
      for (const name of path) {
        let next = branch.branches.get(name)
        if (next === undefined) branch.branches.set(name, (next = newBranch()))
        branch = next
      }
      branch.items.push(item)
      size += 1
    },
    take(may = {}) {
      const item = takeFrom(root, [], may)
      if (item !== undefined) size -= 1
      return item
    },
    takeAlong: (path, goesAlong, most) =>
      pick(path, (items) => {
        const taken = items.slice(0, lookedAt).filter(goesAlong).slice(0, most)
        if (taken.length === 0) return taken
        const gone = new Set(taken)
        items.splice(0, items.length, ...items.filter((item) => !gone.has(item)))
        return taken
      }),
    remove: (path, item) =>
      pick(path, (items) => {
        const index = items.indexOf(item)
        return index === -1 ? [] : items.splice(index, 1)
      }).length > 0,
    size: () => size,
  }
}

function newBranch<Item>(): Branch<Item> {
  return { branches: new Map(), items: [] }
}

function isEmpty<Item>({ branches, items }: Branch<Item>): boolean {
  return items.length === 0 && branches.size === 0
}
