import { showRows, type View } from './answer-view.ts'
import { button, make } from './dom.ts'
import { createAsker, fetchGrant, type Answer, type Grant, type Outcome, type Refusal, type Wish } from './service.ts'
import { styles } from './styles.ts'
import { englishTexts, say, type Texts } from './texts.ts'
import { quoted, showCaveat, showUnderstood, showUnknown } from './told-view.ts'
import { createValueForm } from './value-form.ts'

const maxQuestionChars = 2_000
/** Where this script came from is where the service is. */
const ownOrigin = new URL(import.meta.url).origin

/**
 * `<sluice-ask>`: a box for questions, and the answers. Attributes: `token-url` (the page's server, which gives a browser
 * token) or `token` with `project`; `service`, `environment`, `strict`, `view`, `theme`, `label`, `placeholder`. Events:
 * `sluice-answer` and `sluice-refusal`.
 */
export class SluiceAsk extends HTMLElement {
  static observedAttributes = ['token', 'token-url', 'project', 'service', 'label', 'placeholder']
  /** Instead of `token-url`, for a page that gets its token in a way of its own. */
  getToken: (() => Promise<Grant | string>) | undefined
  #texts: Texts = englishTexts
  #asker = createAsker(() => ({
    serviceUrl: this.getAttribute('service') ?? ownOrigin,
    projectId: this.getAttribute('project') ?? undefined,
    environment: this.getAttribute('environment') ?? undefined,
    strict: this.hasAttribute('strict'),
    getGrant: () => this.#grant(),
  }))
  #pending: AbortController | undefined
  #input = make('input', {
    id: 'question',
    type: 'text',
    autocomplete: 'off',
    maxlength: maxQuestionChars,
    required: true,
  })
  #label = make('label', { for: 'question' })
  #submit = make('button', { type: 'submit', class: 'main' })
  #status = make('p', { class: 'status', role: 'status' })
  #outcome = make('div', { class: 'outcome', part: 'outcome' })

  constructor() {
    super()
    const root = this.attachShadow({ mode: 'open', delegatesFocus: true })
    const sheet = new CSSStyleSheet()
    sheet.replaceSync(styles)
    root.adoptedStyleSheets = [sheet]
    const form = make(
      'form',
      { class: 'question', role: 'search', part: 'question' },
      this.#label,
      this.#input,
      this.#submit,
    )
    form.addEventListener('submit', (event) => {
      event.preventDefault()
      if (this.#pending !== undefined) this.#pending.abort()
      else if (this.#input.value.trim() !== '') void this.ask(this.#input.value)
    })
    root.append(form, this.#status, this.#outcome)
  }

  connectedCallback(): void {
    this.#showTexts()
  }

  disconnectedCallback(): void {
    this.#pending?.abort()
  }

  attributeChangedCallback(name: string): void {
    if (name === 'label' || name === 'placeholder') this.#showTexts()
    else this.#asker.forget()
  }

  get texts(): Texts {
    return this.#texts
  }

  set texts(changed: Partial<Texts>) {
    this.#texts = { ...this.#texts, ...changed }
    this.#showTexts()
  }

  /** Asks as if it had been typed. Done when the answer, or what stands in its way, is on the page. */
  async ask(question: string): Promise<void> {
    this.#input.value = question
    await this.#ask({ question })
  }

  async #ask(wish: Wish): Promise<void> {
    this.#pending?.abort()
    const pending = new AbortController()
    this.#pending = pending
    this.#showBusy(true)
    try {
      const outcome = await this.#asker.ask(wish, pending.signal)
      if (this.#pending === pending) this.#show(wish, outcome)
    } catch {
      // Stopped by whoever asked: nothing to say.
      if (this.#pending === pending) this.#status.textContent = ''
    } finally {
      if (this.#pending === pending) {
        this.#pending = undefined
        this.#showBusy(false)
      }
    }
  }

  async #grant(): Promise<Grant> {
    if (this.getToken !== undefined) {
      const given = await this.getToken()
      return typeof given === 'string' ? { token: given } : given
    }
    const url = this.getAttribute('token-url')
    if (url !== null) return fetchGrant(url)
    const token = this.getAttribute('token')
    if (token === null) throw new Error('<sluice-ask> has neither token-url nor token.')
    return { token }
  }

  #show(wish: Wish, outcome: Outcome): void {
    const { texts } = this
    if (outcome.kind === 'answer') return this.#showAnswer(wish, outcome.answer)
    if (outcome.kind === 'refusal') return this.#showRefusal(wish, outcome.refusal)
    this.#showProblem(outcome.kind === 'no-access' ? texts.noAccess : texts.unreachable)
  }

  #showAnswer(wish: Wish, answer: Answer): void {
    const { texts } = this
    const language = this.closest('[lang]')?.getAttribute('lang') ?? navigator.language
    const view = (this.getAttribute('view') ?? 'auto') as View
    this.#status.textContent = ''
    const caveat = showCaveat(answer, texts)
    const unknown = showUnknown(answer, texts)
    const told = caveat === null ? unknown : [caveat, ...unknown]
    this.#outcome.replaceChildren(
      ...told,
      showRows({
        rows: answer.data,
        truncated: answer.truncated,
        set: answer.chart ?? null,
        question: wish.question,
        view,
        texts,
        language,
        roomPx: this.clientWidth,
      }),
      showUnderstood(answer, { texts, language }),
    )
    // For ears: that it is there, and how much.
    const rows = answer.data.length === 1 ? texts.row : say(texts.rows, { count: answer.data.length })
    this.#status.replaceChildren(
      make(
        'span',
        { class: 'hidden' },
        [`${texts.answer}: ${rows}`, ...told.map((each) => each.textContent)].join('. '),
      ),
    )
    this.#tell('sluice-answer', { question: wish.question, answer })
  }

  #showRefusal(wish: Wish, refusal: Refusal): void {
    const { texts } = this
    this.#tell('sluice-refusal', { question: wish.question, refusal })
    if (refusal.error === 'rate_limit_exceeded') {
      return this.#showProblem(say(texts.tooMany, { seconds: refusal.retry_after ?? 60 }))
    }
    if (refusal.reason === 'missing_slots' && refusal.schema !== undefined) return this.#showForm(wish, refusal)
    if (refusal.reason === 'ambiguous') return this.#offerQueries(wish, refusal)
    if (refusal.reason === 'unexpressed' || refusal.reason === 'unsure') return this.#offerWithout(wish, refusal)
    if (refusal.reason === 'no_match') return this.#offerExamples(refusal)
    const isTheirs = refusal.error === 'invalid_query'
    this.#showProblem(
      isTheirs ? refusal.message : refusal.error === 'permission_denied' ? texts.noAccess : texts.failed,
    )
  }

  /** The right query was found and a value is missing: asked for, not guessed. */
  #showForm(wish: Wish, refusal: Refusal): void {
    const submit = (values: Record<string, unknown>): void => {
      const again: Wish = { ...wish, parameters: { ...wish.parameters, ...values } }
      void this.#ask(refusal.query_used === undefined ? again : { ...again, queryName: refusal.query_used })
    }
    this.#status.textContent = ''
    this.#outcome.replaceChildren(createValueForm(refusal, { texts: this.texts, submit }))
  }

  #offerQueries(wish: Wish, { candidates = [] }: Refusal): void {
    const offers = candidates.map(({ name, description }) =>
      button(description, () => void this.#ask({ ...wish, queryName: name }), { class: 'quiet' }),
    )
    this.#offer(this.texts.whichOne, offers)
  }

  #offerWithout(wish: Wish, { reason, message, unexpressed = [] }: Refusal): void {
    const { texts } = this
    const words = quoted(unexpressed.map(({ text }) => text))
    const act = (): void => void this.#ask({ ...wish, partial: true })
    const why = reason === 'unsure' ? texts.unsure : words === '' ? message : texts.leftOut
    const heading = words === '' ? why : `${why}: ${words}`
    const without = words === '' ? texts.anyway : say(texts.withoutThem, { words })
    this.#offer(heading, [button(without, act, { class: 'quiet' })])
  }

  #offerExamples({ candidates = [] }: Refusal): void {
    const { texts } = this
    const examples = [...new Set(candidates.map(({ example }) => example))].filter((each) => each !== '')
    const offers = examples.map((each) => button(each, () => void this.ask(each), { class: 'quiet' }))
    const why = make('p', { class: 'problem' }, texts.noMatch)
    this.#offer(texts.tryThese, offers)
    this.#outcome.prepend(why)
  }

  #offer(heading: string, offers: HTMLButtonElement[]): void {
    this.#status.textContent = ''
    const list = make('div', { class: 'offers', role: 'group', 'aria-label': heading }, ...offers)
    list.prepend(make('p', { class: 'heading' }, heading))
    this.#outcome.replaceChildren(...(offers.length === 0 ? [] : [list]))
    offers[0]?.focus()
  }

  #showProblem(text: string): void {
    this.#status.textContent = ''
    this.#outcome.replaceChildren(make('p', { class: 'problem', role: 'alert' }, text))
  }

  #showBusy(isBusy: boolean): void {
    this.#outcome.setAttribute('aria-busy', String(isBusy))
    this.#submit.textContent = isBusy ? this.texts.stop : this.texts.ask
    if (isBusy) this.#status.textContent = this.texts.asking
  }

  #showTexts(): void {
    this.#label.textContent = this.getAttribute('label') ?? this.texts.label
    this.#input.placeholder = this.getAttribute('placeholder') ?? this.texts.placeholder
    this.#submit.textContent = this.texts.ask
  }

  #tell(name: string, detail: unknown): void {
    this.dispatchEvent(new CustomEvent(name, { detail, bubbles: true, composed: true }))
  }
}
