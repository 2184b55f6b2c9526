import { highlightCode, tagHighlighter } from '@lezer/highlight'
import type { ReactNode } from 'react'
import { Scroll } from '../../../parts/table/scroll.tsx'
import { colours, dialect } from './sql-dialect.ts'

const highlighter = tagHighlighter(colours)

/** SQL to be read, in the colours in which it was written. */
export function SqlText({ sql, label }: { sql: string; label: string }) {
  const parts: ReactNode[] = []
  highlightCode(
    sql,
    dialect.language.parser.parse(sql),
    highlighter,
    (text, classes) =>
      parts.push(
        classes === '' ? (
          text
        ) : (
          <span key={parts.length} className={classes}>
            {text}
          </span>
        ),
      ),
    () => parts.push('\n'),
  )
  return (
    <Scroll look="code" label={label}>
      {parts}
    </Scroll>
  )
}
