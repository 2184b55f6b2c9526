import { Button, Text } from '@mantine/core'
import { Wand } from 'lucide-react'
import { sayCount } from '../../../../text/words.ts'
import type { Pagination, Tested } from '../../shared/wire.ts'
import type { Draft } from '../fields/draft.ts'
import { bodyText } from '../fields/lines.ts'
import { completed } from '../fields/paginations.ts'
import classes from '../fields/connection.module.css'

type Props = { tested: Tested; draft: Draft; onChange: (part: Partial<Draft>) => void }

/** The recognised shape of the answer, with its rows and pagination: applied with one click. */
export function Recognised({ tested: { detected }, draft, onChange }: Props) {
  if (detected === undefined) return null
  const pagination = detected.pagination === null ? null : completed(detected.pagination)
  // A list at the top needs no path, and one page nothing to go on by.
  const rows = detected.rows !== null && detected.rows.path !== '' ? detected.rows : null
  const { body, included, primary_key: key } = detected
  if (rows === null && pagination === null && key === undefined) return null
  const taken =
    (rows === null || draft.extractor === rows.path) &&
    (pagination === null || draft.pagination?.type === pagination.type) &&
    (key === undefined || draft.load.key.length > 0) &&
    (included === undefined || draft.included)
  const parts = [
    ...(rows === null ? [] : [`${sayCount(rows.count, 'row')} at ${rows.path}`]),
    ...(pagination === null ? [] : [sayPages(pagination)]),
    ...(body === undefined ? [] : ['the query is given pageInfo and after for them']),
    ...(included === undefined ? [] : ['resources to join in “included”']),
    ...(key === undefined ? [] : [`rows are told by ${key.join(', ')}`]),
  ]
  return (
    <output className={classes.recognised}>
      <Wand size={16} aria-hidden />
      <Text className={classes.found ?? ''}>
        {taken ? 'In use' : 'Recognised'}: {parts.join('; ')}.
      </Text>
      {!taken && (
        <Button
          size="xs"
          onClick={() =>
            onChange({
              ...(rows !== null && { extractor: rows.path }),
              ...(pagination !== null && { pagination }),
              ...(body !== undefined && { bodyType: 'graphql', body: bodyText(body) }),
              ...(included !== undefined && { included }),
              ...(key !== undefined && { load: { ...draft.load, key } }),
            })
          }
        >
          Use it
        </Button>
      )}
    </output>
  )
}

/** How further pages are asked for, as the end of a sentence. */
function sayPages(pagination: Pagination): string {
  switch (pagination.type) {
    case 'link_header':
      return 'more pages by the Link header'
    case 'next_link':
      return `more pages by the address at ${pagination.path}`
    case 'cursor':
      return pagination.from === 'last_row'
        ? `more pages behind the ${pagination.path} of the last row, sent as ${pagination.parameter}`
        : `more pages by the cursor at ${pagination.path}, sent as ${pagination.parameter}`
    case 'offset':
      return `more pages by ${pagination.parameter} and ${pagination.limit_parameter}, ${pagination.limit} rows each`
    case 'page':
      return `more pages by their number, sent as ${pagination.parameter}`
    default:
      return pagination satisfies never
  }
}
