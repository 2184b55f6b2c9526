import type { ChangeLoad, Datasource } from '../../shared/wire.ts'

/** How new data comes to the table, as it stands in the form. */
export type LoadDraft = {
  mode: Datasource['load']['mode']
  key: string[]
  cursorField: string
  cursorParameter: string
  initialValue: string
  lookBack: string
  windowStart: string
  windowSize: string
  deleteField: string
  deleteValue: string
}

export const emptyLoad: LoadDraft = {
  mode: 'replace',
  key: [],
  cursorField: '',
  cursorParameter: '',
  initialValue: '',
  lookBack: '',
  windowStart: '',
  windowSize: '1m',
  deleteField: '',
  deleteValue: '',
}

export function loadDraftOf(load: Datasource['load']): LoadDraft {
  const { mode, primary_key: key, cursor, windows, delete_marker: marker } = load
  return {
    mode,
    key: key ?? [],
    cursorField: cursor?.field ?? '',
    cursorParameter: cursor?.parameter ?? '',
    initialValue: String(cursor?.initial_value ?? ''),
    lookBack: String(cursor?.look_back ?? ''),
    windowStart: windows?.start ?? '',
    windowSize: windows?.size ?? '1m',
    deleteField: marker?.field ?? '',
    deleteValue: String(marker?.value ?? ''),
  }
}

/** The wire form of a load. Fields of another mode are left out. */
export function loadOf(draft: LoadDraft): ChangeLoad {
  const start = draft.windowStart.trim()
  const windows = start === '' ? {} : { windows: { start, size: draft.windowSize.trim() } }
  if (draft.mode === 'replace') return { mode: 'replace', ...windows }
  const { mode, key, cursorField: field, cursorParameter: parameter, initialValue, lookBack } = draft
  return {
    mode,
    ...windows,
    ...(key.length > 0 && { primary_key: key }),
    ...(field.trim() !== '' && {
      cursor: {
        field: field.trim(),
        ...(parameter.trim() !== '' && { parameter: parameter.trim() }),
        ...(initialValue.trim() !== '' && { initial_value: initialValue.trim() }),
        ...(lookBack.trim() !== '' && { look_back: numberOr(lookBack.trim()) }),
      },
    }),
    ...(mode === 'merge' &&
      draft.deleteField.trim() !== '' && {
        delete_marker: { field: draft.deleteField.trim(), value: scalarOf(draft.deleteValue.trim()) },
      }),
  }
}

/** Time spans have a unit; what has none is a number. */
function numberOr(text: string): number | string {
  return /^\d+(\.\d+)?$/.test(text) ? Number(text) : text
}

function scalarOf(text: string): string | number | boolean {
  return text === 'true' ? true : text === 'false' ? false : numberOr(text)
}
