import { DatabaseSync } from 'node:sqlite'
import type { Order } from './server.ts'

/** The orders in a file of SQLite that a server of another process reads, too. */
export function sqliteOrders(file: string) {
  const within = <Value>(act: (database: DatabaseSync) => Value): Value => {
    const database = new DatabaseSync(file, { timeout: 10_000 })
    try {
      return act(database)
    } finally {
      database.close()
    }
  }
  return {
    all: (): Order[] =>
      within((database) =>
        database
          .prepare('select id, customer, amount, updated_at from orders order by id')
          .all()
          .map((row) => ({ ...row }) as Order),
      ),
    put: (orders: Order[]): void =>
      within((database) => {
        const statement = database.prepare(
          'insert or replace into orders (id, customer, amount, updated_at) values (?, ?, ?, ?)',
        )
        database.exec('begin')
        for (const { id, customer, amount, updated_at: at } of orders) statement.run(id, customer, amount, at)
        database.exec('commit')
      }),
    run: (sql: string): void => within((database) => database.exec(sql)),
  }
}
