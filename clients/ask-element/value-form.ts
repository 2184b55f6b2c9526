import { make } from './dom.ts'
import type { Refusal, Row, SlotSchema } from './service.ts'
import type { Texts } from './texts.ts'
import { titleOf } from './values.ts'

type Field = { element: HTMLElement; focus: () => void; read: () => unknown }
type Control = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement

/** A form for the values that a question left open, each with the control that fits it. */
export function createValueForm(
  { schema, details = [] }: Pick<Refusal, 'schema' | 'details'>,
  { texts, submit }: { texts: Texts; submit: (values: Row) => void },
): HTMLFormElement {
  const { properties, required } = schema ?? { properties: {}, required: [] }
  const fields = Object.entries(properties).map(([name, slot]): [string, Field] => {
    const message = details.find(({ field }) => field === name)?.message
    // “is required” is what the form itself says by being there.
    const complaint = message === undefined || message === 'is required' ? null : message
    return [name, createField({ name, slot, complaint, isRequired: required.includes(name), texts })]
  })
  const heading = make('p', { class: 'heading', id: 'needed' }, fields.length > 1 ? texts.neededMore : texts.needed)
  const send = make('button', { type: 'submit', class: 'main' }, texts.showAnswer)
  const form = make(
    'form',
    { class: 'values', part: 'values', 'aria-labelledby': 'needed' },
    heading,
    ...fields.map(([, { element }]) => element),
    send,
  )
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    submit(Object.fromEntries(fields.map(([name, field]) => [name, field.read()])))
  })
  // When it is on the page.
  queueMicrotask(() => fields[0]?.[1].focus())
  return form
}

type Wanted = { name: string; slot: SlotSchema; complaint: string | null; isRequired: boolean; texts: Texts }

function createField(wanted: Wanted): Field {
  const { slot } = wanted
  if (slot.type === 'array' && slot.items?.enum !== undefined) return createChoices(wanted, slot.items.enum)
  const { name, complaint, isRequired, texts } = wanted
  const { control, read } = createControl(slot, texts)
  const hints = [slot.description, slot.type === 'array' ? texts.oneEachLine : undefined].filter(
    (hint) => hint !== undefined,
  )
  const id = `value-${name}`
  control.id = id
  control.name = name
  control.required = isRequired
  const described: string[] = []
  const notes: HTMLElement[] = []
  if (hints.length > 0) {
    notes.push(make('p', { class: 'hint', id: `${id}-hint` }, hints.join(' ')))
    described.push(`${id}-hint`)
  }
  if (complaint !== null) {
    notes.push(make('p', { class: 'complaint', id: `${id}-complaint` }, complaint))
    described.push(`${id}-complaint`)
    control.setAttribute('aria-invalid', 'true')
  }
  if (described.length > 0) control.setAttribute('aria-describedby', described.join(' '))
  const label = make('label', { for: id }, slot.title ?? titleOf(name))
  if (!isRequired) label.append(' ', make('span', { class: 'hint' }, `(${texts.optional})`))
  return { element: make('div', { class: 'field' }, label, control, ...notes), focus: () => control.focus(), read }
}

/** Several of a few: boxes to tick. */
function createChoices({ name, slot, isRequired, texts }: Wanted, choices: Array<string | number>): Field {
  const boxes = choices.map((choice) => ({ choice, box: make('input', { type: 'checkbox', name }) }))
  const legend = make('legend', {}, slot.title ?? titleOf(name))
  const labels = boxes.map(({ choice, box }) => make('label', { class: 'choice' }, box, ` ${choice}`))
  const hint = slot.description === undefined ? null : make('p', { class: 'hint' }, slot.description)
  const [first] = boxes
  const element = make('fieldset', { class: 'field' }, legend, ...labels, hint)
  const check = (): void =>
    first?.box.setCustomValidity(isRequired && boxes.every(({ box }) => !box.checked) ? texts.choose : '')
  element.addEventListener('change', check)
  check()
  return {
    element,
    focus: () => first?.box.focus(),
    read: () => boxes.filter(({ box }) => box.checked).map(({ choice }) => choice),
  }
}

type Made = { control: Control; read: () => unknown }

function createControl(slot: SlotSchema, texts: Texts): Made {
  if (slot.enum !== undefined)
    return createSelect(
      slot.enum.map((choice) => [String(choice), choice]),
      texts,
    )
  if (slot.type === 'boolean') {
    return createSelect(
      [
        [texts.yes, true],
        [texts.no, false],
      ],
      texts,
    )
  }
  if (slot.type === 'array') {
    const control = make('textarea', { rows: 3 })
    const item = slot.items ?? { type: 'string' }
    const lines = (): string[] => control.value.split('\n').flatMap((line) => (line.trim() === '' ? [] : [line.trim()]))
    return { control, read: () => lines().map((line) => valueOf(line, item)) }
  }
  const control = make('input', inputKind(slot))
  return { control, read: () => valueOf(control.value, slot) }
}

function createSelect(choices: Array<[string, unknown]>, texts: Texts): Made {
  const empty = make('option', { value: '' }, texts.choose)
  const control = make('select', {}, empty, ...choices.map(([text], at) => make('option', { value: at }, text)))
  return { control, read: () => (control.value === '' ? null : choices[Number(control.value)]?.[1]) }
}

const formats: Record<string, string> = { date: 'date', 'date-time': 'datetime-local', time: 'time' }

function inputKind({ type, format = '', minimum, maximum }: SlotSchema): Record<string, string | number | undefined> {
  if (type === 'integer' || type === 'number') {
    return { type: 'number', step: type === 'integer' ? 1 : 'any', min: minimum, max: maximum, inputmode: 'decimal' }
  }
  return { type: formats[format] ?? 'text', step: format === 'date-time' || format === 'time' ? 1 : undefined }
}

/** What was typed as the value that the service takes. Nothing typed is nothing said. */
function valueOf(text: string, { type, format }: SlotSchema): unknown {
  if (text === '') return null
  if (type === 'integer' || type === 'number') {
    const number = Number(text)
    // Beyond 2^53 digits would be lost; the service takes them as text.
    return type === 'integer' && !Number.isSafeInteger(number) ? text : number
  }
  return format === 'date-time' ? new Date(text).toISOString() : text
}
