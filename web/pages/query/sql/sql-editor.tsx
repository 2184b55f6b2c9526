import {
  autocompletion,
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
  type CompletionSource,
} from '@codemirror/autocomplete'
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands'
import { sql as sqlLanguage, SQLDialect } from '@codemirror/lang-sql'
import { bracketMatching, HighlightStyle, syntaxHighlighting } from '@codemirror/language'
import { setDiagnostics } from '@codemirror/lint'
import { Compartment, EditorState, Prec, type Extension } from '@codemirror/state'
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from '@codemirror/view'
import { tags } from '@lezer/highlight'
import { useEffect, useEffectEvent, useRef, type RefObject } from 'react'
import colours from './sql-colours.module.css'
import classes from './sql-editor.module.css'
import { sqlWords } from './sql-words.ts'

/** Text that replaces a coloured word gets the colour of that word from Chromium, as a style of its line, for good. */
function plainLines(content: HTMLElement): void {
  for (const line of content.querySelectorAll('.cm-line[style]')) line.removeAttribute('style')
}

/** Where the server says the mistake is. */
export type SqlMistake = { message: string; line: number | null; column: number | null; word: string }

type Props = {
  value: string
  onChange: (sql: string) => void
  onRun: () => void
  tables: Record<string, string[]>
  slots: string[]
  mistake: SqlMistake | null
  readOnly: boolean
  /** Filled with the way to write something where the cursor stands. */
  insert?: RefObject<((text: string) => void) | null>
}

/** The grammar of one SELECT. `$name` is a slot. */
const dialect = SQLDialect.define({ ...sqlWords, specialVar: '$', doubleQuotedStrings: false })

const highlightStyle = HighlightStyle.define([
  { tag: tags.keyword, class: colours.keyword ?? '' },
  { tag: [tags.string, tags.special(tags.string)], class: colours.string ?? '' },
  { tag: [tags.number, tags.bool, tags.null], class: colours.number ?? '' },
  { tag: tags.special(tags.name), class: colours.slot ?? '' },
  { tag: [tags.typeName, tags.standard(tags.name)], class: colours.builtin ?? '' },
  { tag: tags.comment, class: colours.comment ?? '' },
])

const nonce = document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? ''

/** SQL with the project's own names to complete it. */
export function SqlEditor(props: Props) {
  const { value, tables, slots, mistake, readOnly } = props
  const place = useRef<HTMLDivElement>(null)
  const view = useRef<EditorView>(null)
  const language = useRef(new Compartment())
  const change = useEffectEvent((text: string) => props.onChange(text))
  const run = useEffectEvent(() => props.onRun())
  const latestSlots = useEffectEvent(() => slots)

  useEffect(() => {
    if (place.current === null) return undefined
    const made = new EditorView({
      parent: place.current,
      state: EditorState.create({
        doc: value,
        extensions: extensionsOf({
          language: language.current,
          readOnly,
          onRun: () => run(),
          onChange: (text) => change(text),
        }),
      }),
    })
    view.current = made
    if (props.insert !== undefined && !readOnly) {
      props.insert.current = (text) => {
        made.dispatch(made.state.replaceSelection(text))
        made.focus()
      }
    }
    return () => {
      made.destroy()
      view.current = null
    }
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- made once; what changes later is told to it below
  }, [readOnly])

  const known = JSON.stringify(tables)
  useEffect(() => {
    const support = sqlLanguage({ dialect, schema: JSON.parse(known) as Record<string, string[]> })
    view.current?.dispatch({
      effects: language.current.reconfigure([
        support,
        dialect.language.data.of({ autocomplete: slotSource(latestSlots) }),
        dialect.language.data.of({ autocomplete: columnSource(JSON.parse(known) as Record<string, string[]>) }),
      ]),
    })
  }, [known, readOnly])

  useEffect(() => {
    const state = view.current?.state
    if (state === undefined) return
    view.current?.dispatch(
      setDiagnostics(
        state,
        mistake === null ? [] : [{ ...rangeOf(state, mistake), severity: 'error', message: mistake.message }],
      ),
    )
  }, [mistake])

  return <div ref={place} className={classes.editor} />
}

type Wiring = { language: Compartment; readOnly: boolean; onRun: () => void; onChange: (text: string) => void }

function extensionsOf({ language, readOnly, onRun, onChange }: Wiring): Extension[] {
  return [
    EditorView.cspNonce.of(nonce),
    Prec.highest(keymap.of([{ key: 'Mod-Enter', run: () => (onRun(), true) }])),
    lineNumbers(),
    history(),
    drawSelection(),
    bracketMatching(),
    closeBrackets(),
    highlightActiveLine(),
    autocompletion(),
    syntaxHighlighting(highlightStyle),
    EditorView.lineWrapping,
    language.of([]),
    EditorState.readOnly.of(readOnly),
    EditorView.editable.of(!readOnly),
    EditorView.contentAttributes.of({
      'aria-label': 'SQL',
      'aria-description': 'Escape, then Tab, leaves the editor.',
      spellcheck: 'false',
      tabindex: '0',
    }),
    EditorView.updateListener.of(({ docChanged, state }) => docChanged && onChange(state.doc.toString())),
    EditorView.updateListener.of(({ view }) => plainLines(view.contentDOM)),
    // Escape, then Tab, leaves the editor by the keyboard.
    keymap.of([...closeBracketsKeymap, ...completionKeymap, ...historyKeymap, ...defaultKeymap, indentWithTab]),
  ]
}

function rangeOf(state: EditorState, { line, column, word }: SqlMistake): { from: number; to: number } {
  if (line === null || column === null || line > state.doc.lines) return { from: 0, to: state.doc.length }
  const at = state.doc.line(line)
  const from = Math.min(at.from + column - 1, at.to)
  // A mistake at the very end has no word of its own: the one before it is marked.
  const to = Math.min(from + Math.max(word.length, 1), state.doc.length)
  return from === to ? { from: Math.max(from - 1, 0), to } : { from, to }
}

function slotSource(slots: () => string[]): CompletionSource {
  return (context) => {
    const word = context.matchBefore(/\$\w*/)
    if (word === null) return null
    return {
      from: word.from,
      options: slots().map((name) => ({ label: `$${name}`, type: 'variable', detail: ' slot' })),
    }
  }
}

/** Columns without their table, of the tables that the SQL names. */
function columnSource(tables: Record<string, string[]>): CompletionSource {
  return (context) => {
    const word = context.matchBefore(/\w+/)
    if (word === null || context.state.sliceDoc(word.from - 1, word.from) === '.') return null
    const text = context.state.doc.toString().toLowerCase()
    const options = Object.entries(tables)
      .filter(([table]) => text.includes(table))
      .flatMap(([table, columns]) =>
        columns.map((label) => ({ label, type: 'property', detail: ` ${table}`, boost: 1 })),
      )
    return { from: word.from, options }
  }
}
