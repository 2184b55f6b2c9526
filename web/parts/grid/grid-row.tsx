/* oxlint-disable jsx-a11y/prefer-tag-over-role, jsx-a11y/click-events-have-key-events, jsx-a11y/interactive-supports-focus -- of a grid, whose keys the grid itself takes */
import { ActionIcon } from '@mantine/core'
import { Maximize2 } from 'lucide-react'
import type { MouseEvent, PointerEvent } from 'react'
import { sayBeginning, sayNumber } from '../../text/words.ts'
import { isNothing } from '../cells/cell-text.ts'
import classes from './grid.module.css'
import type { GridRow, RowLook } from '../cells/model.ts'
import type { GridState } from './use-grid.ts'

type Props = {
  grid: GridState
  at: number
  top: number
  number: number
  row: GridRow | undefined
  look: RowLook | undefined
}

export function GridRowView(props: Props) {
  const { grid, at, top, number, look } = props
  return (
    <div
      role="row"
      aria-rowindex={at + 2}
      className={classes.row}
      data-kind={look?.kind}
      style={{ transform: `translateY(${top}px)` }}
    >
      <div role="rowheader" aria-colindex={1} className={classes.index} style={{ width: grid.indexWidth }}>
        {sayNumber(number + 1)}
      </div>
      {look?.says === undefined ? (
        <>
          <div role="presentation" style={{ width: grid.before, flex: 'none' }} />
          {grid.cells.map((column) => (
            <Cell key={column} {...props} column={column} />
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

function Cell({ grid, at, column, row, look }: Props & { column: number }) {
  const { active } = grid
  const name = grid.columns.shown[column]?.name ?? ''
  const format = grid.formats.get(name)
  const expand = (): void => grid.setExpanded({ row: at, column })
  const value = row?.[name]
  const exact = sayBeginning(value)
  const isLong = typeof value === 'object' || exact.length > 200
  const text = isLong ? exact : (format?.say(value) ?? '')
  const isActive = active.at?.row === at && active.at.column === column
  const { range } = active
  const isPicked =
    range !== null && at >= range.top && at <= range.bottom && column >= range.left && column <= range.right
  const onPress = (event: PointerEvent): void => {
    if (event.button === 0 && event.pointerType === 'mouse') active.goTo({ row: at, column }, event.shiftKey)
  }
  // A finger that goes down may be about to scroll, and has no Enter: what it taps again is opened.
  const onTap = ({ nativeEvent }: MouseEvent): void => {
    if ((nativeEvent as globalThis.PointerEvent).pointerType === 'mouse') return
    if (isActive) expand()
    else active.goTo({ row: at, column })
  }
  const isMarked = look?.marked?.includes(name) === true
  const shownText = row !== undefined && isNothing(value) ? <i className={classes.none}>null</i> : text
  return (
    <div
      role="gridcell"
      id={`${grid.id}-${at}-${column}`}
      aria-colindex={column + 2}
      aria-selected={isPicked}
      className={classes.cell}
      title={exact === text ? text : `${text}\n${exact}`}
      data-active={isActive || undefined}
      data-end={format?.kind === 'number' || undefined}
      style={{ width: grid.widths[column] }}
      onPointerDown={onPress}
      onClick={onTap}
      onDoubleClick={expand}
    >
      {isMarked ? <mark>{shownText}</mark> : shownText}
      {isActive && (
        <ActionIcon
          className={classes.expand ?? ''}
          variant="default"
          size={20}
          tabIndex={-1}
          // For the mouse: Enter does the same, and the cell is called by its value alone.
          aria-hidden
          title={`Open ${name}`}
          onPointerDown={(event) => event.stopPropagation()}
          onClick={(event) => {
            event.stopPropagation()
            expand()
          }}
        >
          <Maximize2 size={11} aria-hidden />
        </ActionIcon>
      )}
    </div>
  )
}
