/* oxlint-disable jsx-a11y/prefer-tag-over-role, jsx-a11y/interactive-supports-focus -- of a grid, which has the focus and takes the keys */
import { ActionIcon, Divider, Popover, Stack, Text, UnstyledButton } from '@mantine/core'
import { ArrowDown, ArrowLeft, ArrowRight, ArrowUp, ChevronDown, EyeOff } from 'lucide-react'
import type { KeyboardEvent, PointerEvent, ReactNode } from 'react'
import { ColumnFigures } from './column-figures.tsx'
import { sayNumber, sayType } from '../../text/words.ts'
import { kindOf } from '../cells/cell-text.ts'
import { ColumnFilter } from './column-filter.tsx'
import classes from './grid.module.css'
import { MiniSpread } from './mini-spread.tsx'
import type { ColumnProfile, GridColumn, GridSource } from '../cells/model.ts'
import type { GridColumns } from './use-columns.ts'

type Props = {
  id: string
  at: number
  column: GridColumn
  columns: GridColumns
  source: GridSource
  width: number
  isActive: boolean
  isOpen: boolean
  onOpen: (open: boolean) => void
  onSort: () => void
}

/** The name of a column, what stands in it, and what can be done with it. */
export function HeaderCell({ id, at, column, columns, source, width, isActive, isOpen, onOpen, onSort }: Props) {
  const { name, type } = column
  const { sort } = source.view
  const isSorted = sort?.column === name
  const profile = source.profileOf(name)
  const about = `${sayType(type)}${profile === undefined ? '' : sayShort(profile, source.profiledRows)}`
  return (
    <div
      role="columnheader"
      id={id}
      // Without it each cell would be read with the names of the buttons above it.
      aria-label={`${name}, ${about}`}
      aria-colindex={at + 2}
      aria-sort={isSorted ? (sort.descending ? 'descending' : 'ascending') : 'none'}
      className={classes.column}
      data-active={isActive || undefined}
      style={{ width }}
      draggable
      onDragStart={(event) => event.dataTransfer.setData(dragged, name)}
      onDragOver={(event) => event.dataTransfer.types.includes(dragged) && event.preventDefault()}
      onDrop={(event) => {
        event.preventDefault()
        columns.moveTo(event.dataTransfer.getData(dragged), name)
      }}
    >
      <div className={classes.title}>
        <UnstyledButton
          className={classes.name ?? ''}
          tabIndex={-1}
          title={`${name}: ${type}. Click to sort.`}
          onClick={onSort}
        >
          <span className={classes.word}>{name}</span>
          {isSorted && (sort.descending ? <ArrowDown size={12} aria-hidden /> : <ArrowUp size={12} aria-hidden />)}
        </UnstyledButton>
        <ColumnPopover {...{ column, columns, source, isOpen, onOpen }} />
      </div>
      <span className={classes.type}>{about}</span>
      <MiniSpread profile={profile} rowCount={source.profiledRows} />
      <Handle name={name} width={width} onResize={(wide) => columns.resize(name, wide)} />
    </div>
  )
}

const dragged = 'application/x-sluice-column'

type PopoverProps = Pick<Props, 'column' | 'columns' | 'source' | 'isOpen' | 'onOpen'>

function ColumnPopover({ column, columns, source, isOpen, onOpen }: PopoverProps) {
  const { name } = column
  return (
    <Popover opened={isOpen} onChange={onOpen} position="bottom-start" width={280} shadow="md" trapFocus returnFocus>
      <Popover.Target>
        <ActionIcon
          variant="subtle"
          color="gray"
          size={20}
          tabIndex={-1}
          aria-label={`Column ${name}`}
          onClick={() => onOpen(!isOpen)}
        >
          <ChevronDown size={13} aria-hidden />
        </ActionIcon>
      </Popover.Target>
      <Popover.Dropdown p="sm" aria-label={`Column ${name}`}>
        <ColumnMenu
          column={column}
          columns={columns}
          source={source}
          profile={source.profileOf(name)}
          onDone={() => onOpen(false)}
        />
      </Popover.Dropdown>
    </Popover>
  )
}

/** The one thing to know of a column before one looks at its values. */
function sayShort(
  { type, null_count: nulls, distinct_count: distinct, min, max }: ColumnProfile,
  rows: number,
): string {
  const missing = nulls === 0 || rows === 0 ? '' : `, ${sayShare(nulls / rows)} null`
  const kind = kindOf(type)
  const isRange = kind === 'number' || kind === 'date' || kind === 'time'
  if (isRange && min !== null && max !== null) {
    // A time is shortened to its day at a glance.
    const say = kind === 'number' ? shorten : (text: string): string => text.slice(0, 10)
    return `, ${say(min)} to ${say(max)}${missing}`
  }
  return `${distinct === 0 ? '' : `, ${sayNumber(distinct)} different`}${missing}`
}

function sayShare(share: number): string {
  return share < 0.01 ? '<1 %' : `${Math.round(share * 100)} %`
}

function shorten(text: string): string {
  const number = Number(text)
  return text !== '' && Number.isFinite(number)
    ? new Intl.NumberFormat('en', {
        notation: Math.abs(number) >= 100_000 ? 'compact' : 'standard',
        maximumFractionDigits: 1,
      }).format(number)
    : text
}

type MenuProps = {
  column: GridColumn
  columns: GridColumns
  source: GridSource
  profile: ColumnProfile | undefined
  onDone: () => void
}

function ColumnMenu({ column, columns, source, profile, onDone }: MenuProps) {
  const { name } = column
  const { view, onView } = source
  const at = columns.shown.findIndex((each) => each.name === name)
  const act = (icon: ReactNode, words: string, run: () => void, disabled = false): ReactNode => (
    <UnstyledButton
      key={words}
      className={classes.act ?? ''}
      disabled={disabled}
      onClick={() => {
        run()
        onDone()
      }}
    >
      {icon}
      {words}
    </UnstyledButton>
  )
  const sortBy = (descending: boolean) => () => onView({ ...view, sort: { column: name, descending } })
  return (
    <Stack gap="xs">
      <div>
        {act(<ArrowUp size={14} aria-hidden />, 'Sort upwards', sortBy(false))}
        {act(<ArrowDown size={14} aria-hidden />, 'Sort downwards', sortBy(true))}
        {view.sort?.column === name &&
          act(<span className={classes.blank} />, 'As it came', () => onView({ ...view, sort: null }))}
        {act(<ArrowLeft size={14} aria-hidden />, 'Move left', () => columns.shift(name, -1), at === 0)}
        {act(
          <ArrowRight size={14} aria-hidden />,
          'Move right',
          () => columns.shift(name, 1),
          at === columns.shown.length - 1,
        )}
        {act(<EyeOff size={14} aria-hidden />, 'Hide', () => columns.toggle(name), columns.shown.length === 1)}
      </div>
      <Divider />
      <ColumnFilter
        column={column}
        onAdd={(filter) => {
          onView({ ...view, filters: [...view.filters, filter] })
          onDone()
        }}
      />
      {profile !== undefined && (
        <>
          <Divider />
          <Text size="xs" c="dimmed">
            Of {sayNumber(source.profiledRows)} {source.profiledRows === 1 ? 'row' : 'rows'}
          </Text>
          <ColumnFigures column={profile} rowCount={source.profiledRows} />
        </>
      )}
    </Stack>
  )
}

/** Drawn with the pointer; with the keyboard the header takes Ctrl and an arrow. */
function Handle({ name, width, onResize }: { name: string; width: number; onResize: (width: number) => void }) {
  const follow = (down: PointerEvent<HTMLSpanElement>): void => {
    down.preventDefault()
    const handle = down.currentTarget
    handle.setPointerCapture(down.pointerId)
    const move = (event: globalThis.PointerEvent): void => onResize(width + event.clientX - down.clientX)
    const end = (): void => {
      handle.removeEventListener('pointermove', move)
      handle.removeEventListener('lostpointercapture', end)
    }
    handle.addEventListener('pointermove', move)
    handle.addEventListener('lostpointercapture', end)
  }
  return (
    <span
      className={classes.handle}
      data-resizes={name}
      aria-hidden
      onPointerDown={follow}
      onDragStart={(event) => event.preventDefault()}
    />
  )
}

const stepPx = 16

/** Ctrl and an arrow make the column of a header wider or narrower. */
export function resizeByKey(event: KeyboardEvent, width: number, onResize: (width: number) => void): void {
  if (!(event.ctrlKey || event.metaKey)) return
  if (event.key !== 'ArrowLeft' && event.key !== 'ArrowRight') return
  event.preventDefault()
  onResize(width + (event.key === 'ArrowLeft' ? -stepPx : stepPx))
}
