/* oxlint-disable jsx-a11y/prefer-tag-over-role, jsx-a11y/interactive-supports-focus -- of a grid, whose keys the grid itself takes */
import { ActionIcon } from '@mantine/core'
import { Maximize2 } from 'lucide-react'
import type { PointerEvent } from 'react'
import { sayNumber, sayValue } from '../../words.ts'
import { isNothing, type CellFormat } from './cell-text.ts'
import classes from './grid.module.css'
import type { GridColumn, GridRow, RowLook } from './model.ts'
import type { ActiveCell } from './use-active-cell.ts'

type Props = {
  id: string
  at: number
  top: number
  number: number
  row: GridRow | undefined
  look: RowLook | undefined
  shown: GridColumn[]
  formats: Map<string, CellFormat>
  /** Which columns are drawn. */
  cells: number[]
  widths: number[]
  indexWidth: number
  /** Room of the columns that are out of sight to the left. */
  before: number
  active: ActiveCell
  onExpand: (column: number) => void
}

export function GridRowView(props: Props) {
  const { at, top, number, row, look, indexWidth, before, cells } = props
  return (
    <div
      role="row"
      aria-rowindex={at + 2}
      className={classes.row}
      data-kind={look?.kind}
      style={{ transform: `translateY(${top}px)` }}
    >
      <div role="rowheader" aria-colindex={1} className={classes.index} style={{ width: indexWidth }}>
        {sayNumber(number + 1)}
      </div>
      {look?.says === undefined ? (
        <>
          <div role="presentation" style={{ width: before, flex: 'none' }} />
          {cells.map((column) => (
            <Cell key={column} {...props} column={column} row={row} />
          ))}
        </>
      ) : (
        <div role="gridcell" aria-colindex={2} className={classes.says}>
          {look.says}
        </div>
      )}
    </div>
  )
}

function Cell({ id, at, column, row, look, shown, formats, widths, active, onExpand }: Props & { column: number }) {
  const name = shown[column]?.name ?? ''
  const format = formats.get(name)
  const value = row?.[name]
  const text = format?.say(value) ?? ''
  const exact = sayValue(value)
  const isActive = active.at?.row === at && active.at.column === column
  const { range } = active
  const isPicked =
    range !== null && at >= range.top && at <= range.bottom && column >= range.left && column <= range.right
  const onPress = (event: PointerEvent): void => {
    if (event.button !== 0) return
    // A finger has no second button and no Enter: what it touches again is opened.
    if (isActive && event.pointerType === 'touch') return onExpand(column)
    active.goTo({ row: at, column }, event.shiftKey)
  }
  const isMarked = look?.marked?.includes(name) === true
  const shownText = row !== undefined && isNothing(value) ? <i className={classes.none}>null</i> : text
  return (
    <div
      role="gridcell"
      id={`${id}-${at}-${column}`}
      aria-colindex={column + 2}
      aria-selected={isPicked}
      className={classes.cell}
      title={exact === text ? text : `${text}\n${exact}`}
      data-active={isActive || undefined}
      data-end={format?.kind === 'number' || undefined}
      style={{ width: widths[column] }}
      onPointerDown={onPress}
      onDoubleClick={() => onExpand(column)}
    >
      {isMarked ? <mark>{shownText}</mark> : shownText}
      {isActive && (
        <ActionIcon
          className={classes.expand ?? ''}
          variant="default"
          size={20}
          tabIndex={-1}
          aria-label={`Open ${name}`}
          onPointerDown={(event) => event.stopPropagation()}
          onClick={() => onExpand(column)}
        >
          <Maximize2 size={11} aria-hidden />
        </ActionIcon>
      )}
    </div>
  )
}
