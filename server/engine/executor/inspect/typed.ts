import type { DuckDBPreparedStatement } from '@duckdb/node-api'
import { prepare, type OpenConnection } from '../instance/instances.ts'
import { sqlFailure } from '../instance/sql-failure.ts'
import { castSlots, replaceSlots } from '../instance/sql-text.ts'
import { tokenize, type Token } from '../instance/sql-tokens.ts'

/** Types to propose for a slot whose own does not fit, the likeliest first. */
const proposed = ['DOUBLE', 'DATE', 'TIMESTAMP', 'TIME', 'BOOLEAN', 'VARCHAR']

/**
 * A statement with its slots cast. A slot of the wrong type hides mistakes of the SQL behind an error of the cast, and the
 * other way round: where the statement does not bind, the mistake of the SQL itself is told first, then the slot to blame.
 */
export async function prepareTyped(
  lease: OpenConnection,
  sql: string,
  castOf: (name: string) => string,
): Promise<DuckDBPreparedStatement> {
  try {
    return await prepare(lease, castSlots(sql, castOf))
  } catch (error) {
    const slots = slotsOf(sql)
    if (slots.size === 0 || !isBinding(error)) throw error
    // NULL fits everywhere, so what fails with it is no matter of types.
    const ownMistake = await mistakeOf(
      lease,
      replaceSlots(sql, () => 'NULL'),
    )
    if (ownMistake !== null) throw isBinding(ownMistake) ? ownMistake : error
    for (const [name, { text, start }] of slots) {
      const fits = async (type: string): Promise<boolean> => {
        const alone = replaceSlots(sql, (each) => (each === name ? `CAST(NULL AS ${type})` : 'NULL'))
        return (await mistakeOf(lease, alone)) === null
      }
      if (await fits(castOf(name))) continue
      for (const type of proposed) {
        if (await fits(type)) throw sqlFailure(sql, `Say what ${text} is, as in ${text}::${type}.`, start)
      }
      throw sqlFailure(sql, `Say what ${text} is: no value of one type fits all its places.`, start)
    }
    throw error
  }
}

/** The slots by their names, where each stands first. */
function slotsOf(sql: string): Map<string, Token> {
  const slots = tokenize(sql).filter(({ kind }) => kind === 'slot')
  return new Map(slots.toReversed().map((token) => [token.text.slice(1).toLowerCase(), token]))
}

async function mistakeOf(lease: OpenConnection, sql: string): Promise<Error | null> {
  try {
    await prepare(lease, sql)
    return null
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error))
  }
}

function isBinding(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('Binder Error')
}
