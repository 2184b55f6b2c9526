import {
  ActionIcon,
  Button,
  Checkbox,
  CloseButton,
  Group,
  Pill,
  Popover,
  Stack,
  Text,
  TextInput,
  UnstyledButton,
} from '@mantine/core'
import { ArrowDown, ArrowUp, Columns3, Copy, Download as DownloadMark, Search } from 'lucide-react'
import { useState, type ReactNode } from 'react'
import { sayCount, sayNumber } from '../../text/words.ts'
import { sayFilter } from './column-filter.tsx'
import { copyForms, type CopyForm } from '../cells/copy-text.ts'
import classes from './grid.module.css'
import { fileFormats, wholeView, type Download, type FileFormat, type GridSource } from '../cells/model.ts'
import type { GridColumns } from './use-columns.ts'
import { Waiting } from '../text/waiting.tsx'

type Props = {
  label: string
  source: GridSource
  columns: GridColumns
  download: Download | undefined
  onCopy: (form: CopyForm) => void
  onDownload: (format: FileFormat) => void
}

const formWords: Record<CopyForm, string> = {
  csv: 'CSV',
  tsv: 'TSV, for spreadsheets',
  markdown: 'Markdown',
  json: 'JSON',
}
const formatWords: Record<FileFormat, string> = {
  xlsx: 'Excel',
  csv: 'CSV',
  json: 'JSON',
  ndjson: 'NDJSON, a row a line',
  parquet: 'Parquet',
  arrow: 'Arrow',
}
/** Formats that the browser itself can write. */
const ownFormats: FileFormat[] = ['csv', 'json', 'ndjson']

/** The acts on the rows as a whole. */
export function Toolbar({ label, source, columns, download, onCopy, onDownload }: Props) {
  const { view, onView, count, total } = source
  const isPart = count !== total
  const formats = download?.fetch === undefined ? ownFormats : fileFormats
  return (
    // oxlint-disable-next-line jsx-a11y/prefer-tag-over-role -- a fieldset has a border and a width of its own
    <div role="group" aria-label={`Tools for ${label}`} className={classes.tools}>
      <TextInput
        className={classes.search ?? ''}
        size="xs"
        type="search"
        aria-label={`Search in ${label}`}
        placeholder="Search"
        leftSection={<Search size={14} aria-hidden />}
        rightSection={
          source.pending ? (
            <Waiting size={12} says="Searching" />
          ) : (
            view.search !== '' && (
              <CloseButton size="xs" aria-label="Clear the search" onClick={() => onView({ ...view, search: '' })} />
            )
          )
        }
        value={view.search}
        onChange={(event) => onView({ ...view, search: event.currentTarget.value })}
      />
      <Text size="xs" c="dimmed" className="numbers" aria-live="polite">
        {isPart ? `${sayNumber(count)} of ${sayCount(total, 'row')}` : sayCount(total, 'row')}
      </Text>
      <Group gap={4} className={classes.menus ?? ''}>
        <Choice icon={<Columns3 size={15} aria-hidden />} words="Columns">
          {() => <ColumnsChoice columns={columns} />}
        </Choice>
        <Choice icon={<Copy size={15} aria-hidden />} words="Copy">
          {(close) =>
            copyForms.map((form) => (
              <Act key={form} words={formWords[form]} onClick={() => onCopy(form)} close={close} />
            ))
          }
        </Choice>
        {download !== undefined && (
          <Choice icon={<DownloadMark size={15} aria-hidden />} words="Download">
            {(close) =>
              formats.map((format) => (
                <Act key={format} words={formatWords[format]} onClick={() => onDownload(format)} close={close} />
              ))
            }
          </Choice>
        )}
      </Group>
      {(view.filters.length > 0 || view.sort !== null) && <Narrowed source={source} columns={columns} />}
    </div>
  )
}

/** How the rows are sorted and filtered, each to be taken back. */
function Narrowed({ source: { view, onView }, columns }: Pick<Props, 'source' | 'columns'>) {
  const removed = (label: string) => ({ 'aria-label': label, 'aria-hidden': false, tabIndex: 0 })
  return (
    <Group gap={6} w="100%">
      {view.sort !== null && (
        <Pill
          withRemoveButton
          onRemove={() => onView({ ...view, sort: null })}
          removeButtonProps={removed(`Do not sort by ${view.sort.column}`)}
        >
          {view.sort.descending ? '↓' : '↑'} {view.sort.column}
        </Pill>
      )}
      {view.filters.map((filter) => {
        const type = columns.ordered.find(({ name }) => name === filter.column)?.type ?? ''
        const words = sayFilter(filter, type)
        return (
          <Pill
            key={words}
            withRemoveButton
            onRemove={() => onView({ ...view, filters: view.filters.filter((each) => each !== filter) })}
            removeButtonProps={removed(`Remove: ${words}`)}
          >
            {words}
          </Pill>
        )
      })}
      <Button size="compact-xs" variant="subtle" color="gray" onClick={() => onView(wholeView)}>
        Show all rows as they came
      </Button>
    </Group>
  )
}

type ChoiceProps = { icon: ReactNode; words: string; children: (close: () => void) => ReactNode }

function Choice({ icon, words, children }: ChoiceProps) {
  const [open, setOpen] = useState(false)
  return (
    <Popover opened={open} onChange={setOpen} position="bottom-end" shadow="md" trapFocus returnFocus>
      <Popover.Target>
        <Button
          size="compact-sm"
          variant="subtle"
          color="gray"
          className={classes.tool ?? ''}
          leftSection={icon}
          onClick={() => setOpen(!open)}
        >
          {words}
        </Button>
      </Popover.Target>
      <Popover.Dropdown p="xs" aria-label={words}>
        {children(() => setOpen(false))}
      </Popover.Dropdown>
    </Popover>
  )
}

function Act({ words, onClick, close }: { words: string; onClick: () => void; close: () => void }) {
  return (
    <UnstyledButton
      className={classes.act ?? ''}
      onClick={() => {
        close()
        onClick()
      }}
    >
      {words}
    </UnstyledButton>
  )
}

function ColumnsChoice({ columns }: { columns: GridColumns }) {
  const { ordered, hidden, shown } = columns
  return (
    <Stack gap={2} className={classes.choice ?? ''}>
      {ordered.map(({ name }) => {
        const isShown = !hidden.has(name)
        const at = shown.findIndex((each) => each.name === name)
        return (
          <Group key={name} gap={2} wrap="nowrap" justify="space-between">
            <Checkbox
              size="xs"
              label={name}
              checked={isShown}
              disabled={isShown && shown.length === 1}
              onChange={() => columns.toggle(name)}
            />
            <Group gap={0} wrap="nowrap">
              <Move words={`Move ${name} left`} disabled={!isShown || at === 0} onClick={() => columns.shift(name, -1)}>
                <ArrowUp size={13} aria-hidden />
              </Move>
              <Move
                words={`Move ${name} right`}
                disabled={!isShown || at === shown.length - 1}
                onClick={() => columns.shift(name, 1)}
              >
                <ArrowDown size={13} aria-hidden />
              </Move>
            </Group>
          </Group>
        )
      })}
      {columns.isChanged && (
        <Button size="compact-xs" variant="subtle" color="gray" mt={4} onClick={columns.reset}>
          Reset columns
        </Button>
      )}
    </Stack>
  )
}

type MoveProps = { words: string; disabled: boolean; onClick: () => void; children: ReactNode }

function Move({ words, disabled, onClick, children }: MoveProps) {
  return (
    <ActionIcon variant="subtle" color="gray" size="sm" aria-label={words} disabled={disabled} onClick={onClick}>
      {children}
    </ActionIcon>
  )
}
