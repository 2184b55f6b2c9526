import { Button, Text } from '@mantine/core'
import { Wand } from 'lucide-react'
import { useState } from 'react'
import { sayCount } from '../../../../text/words.ts'
import type { Pagination, Tested } from '../../shared/wire.ts'
import type { Draft } from '../fields/draft.ts'
import { bodyText } from '../fields/lines.ts'
import { completed } from '../fields/paginations.ts'
import { isDocument } from './response.ts'
import classes from '../fields/connection.module.css'

type Change = (part: Partial<Draft>) => void

/** Applies the recognised parts of an answer where nothing was chosen yet; can be undone. */
export function useRecognised({ change, isNew }: { change: Change; isNew: boolean }) {
  const [before, setBefore] = useState<Partial<Draft> | null>(null)
  const [isDeclined, setDeclined] = useState(false)
  const apply = (part: Partial<Draft>, draft: Draft): void => {
    setBefore(Object.fromEntries(Object.keys(part).map((name) => [name, draft[name as keyof Draft]])))
    change(part)
  }
  return {
    apply,
    applyIfUnset: (tested: Tested, draft: Draft) => {
      const part = tested.problem === undefined && !isDocument(tested.data) ? partOf(tested, draft) : null
      const isUnset = draft.extractor === '' && draft.pagination === null && draft.load.key.length === 0
      if (isNew && isUnset && !isDeclined && part !== null) apply(part, draft)
    },
    undo:
      before === null
        ? null
        : () => {
            change(before)
            setBefore(null)
            setDeclined(true)
          },
  }
}

/** The part of the form that the answer fills; null where it tells nothing. */
function partOf({ detected }: Tested, draft: Draft): Partial<Draft> | null {
  if (detected === undefined) return null
  const { rows, pagination: pages, body, included, primary_key: key, columns } = detected
  const pagination = pages === null ? null : completed(pages)
  const part = {
    // A list at the top needs no path, and one page nothing to go on by.
    ...(rows !== null && rows.path !== '' && { extractor: rows.path }),
    ...(pagination !== null && { pagination }),
    ...(body !== undefined && { bodyType: 'graphql', body: bodyText(body) }),
    ...(included !== undefined && { included }),
    ...(key !== undefined && { load: { ...draft.load, key } }),
    ...(columns !== undefined && { columns }),
  }
  return Object.keys(part).length === 0 ? null : part
}

type Props = { tested: Tested; draft: Draft; isNew: boolean; recognised: ReturnType<typeof useRecognised> }

/** The recognised shape of the answer: in use, or applied with one click. */
export function Recognised({ tested, draft, isNew, recognised: { apply, undo } }: Props) {
  const part = partOf(tested, draft)
  if (part === null || tested.detected === undefined) return null
  const { extractor, pagination, body, included, load, columns } = part
  const isTaken =
    (extractor === undefined || draft.extractor === extractor) &&
    (!pagination || draft.pagination?.type === pagination.type) &&
    (included === undefined || draft.included) &&
    // Types are the table's own, and the key that of its mode, once it is stored.
    (!isNew || load === undefined || draft.load.key.length > 0) &&
    (!isNew || columns === undefined || draft.columns.length > 0)
  const parts = [
    ...(extractor === undefined ? [] : [`${sayCount(tested.detected.rows?.count ?? 0, 'row')} at ${extractor}`]),
    ...(pagination ? [sayPages(pagination)] : []),
    ...(body === undefined ? [] : ['the query is given pageInfo and after for them']),
    ...(included === undefined ? [] : ['resources to join in “included”']),
    ...(load === undefined ? [] : [`rows are told by ${load.key.join(', ')}`]),
    ...(columns === undefined ? [] : [`types of ${sayCount(columns.length, 'column')}`]),
  ]
  return (
    <output className={classes.recognised}>
      <Wand size={16} aria-hidden />
      <Text className={classes.found ?? ''}>
        {isTaken ? 'In use' : 'Recognised'}: {parts.join('; ')}.
      </Text>
      {!isTaken && (
        <Button size="xs" onClick={() => apply(part, draft)}>
          Use it
        </Button>
      )}
      {isTaken && undo !== null && (
        <Button size="xs" variant="default" onClick={undo}>
          Undo
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
