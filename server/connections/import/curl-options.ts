import { refuseCommand } from './shell-words.ts'

/** A `curl` command as far as its options have been read. */
export type CurlDraft = {
  url: string | null
  method: string | null
  headers: [string, string][]
  data: string[]
  form: [string, string][]
  user: string | null
  isGet: boolean
  isHead: boolean
  isJson: boolean
  notes: string[]
}

const noFile = 'The command sends a file, which is on your machine; paste its content instead.'

function addData(draft: CurlDraft, value: string): void {
  if (value.startsWith('@')) throw refuseCommand(noFile)
  draft.data.push(value)
}

function addHeader(draft: CurlDraft, value: string): void {
  const at = value.indexOf(':')
  if (at > 0) draft.headers.push([value.slice(0, at).trim(), value.slice(at + 1).trim()])
  else draft.notes.push(`The header ${JSON.stringify(value)} has no value and was left out.`)
}

/** `name=value` with the value encoded; `value` alone and `=value` encode without a name. */
function encodeData(draft: CurlDraft, value: string): void {
  const at = value.indexOf('=')
  if (at < 0 && value.includes('@')) throw refuseCommand(noFile)
  const encode = (text: string) => encodeURIComponent(text).replaceAll('%20', '+')
  draft.data.push(at > 0 ? `${value.slice(0, at)}=${encode(value.slice(at + 1))}` : encode(value.slice(at + 1)))
}

function addForm(draft: CurlDraft, value: string): void {
  const at = value.indexOf('=')
  if (at <= 0) throw refuseCommand(`The form field ${JSON.stringify(value)} has no name.`)
  draft.form.push([value.slice(0, at), value.slice(at + 1)])
}

/** Options with a value, by their long name. */
const valued: Record<string, (draft: CurlDraft, value: string) => void> = {
  '--request': (draft, value) => void (draft.method = value.toUpperCase()),
  '--url': (draft, value) => void (draft.url = value),
  '--user': (draft, value) => void (draft.user = value),
  '--header': addHeader,
  '--data': addData,
  '--data-ascii': addData,
  '--data-binary': addData,
  '--data-raw': (draft, value) => void draft.data.push(value),
  '--data-urlencode': encodeData,
  '--json': (draft, value) => {
    draft.isJson = true
    addData(draft, value)
  },
  '--form': (draft, value) => {
    if (/^[^=]*=[@<]/.test(value)) throw refuseCommand(noFile)
    addForm(draft, value)
  },
  '--form-string': addForm,
  '--oauth2-bearer': (draft, value) => addHeader(draft, `Authorization: Bearer ${value}`),
  '--cookie': (draft, value) => addHeader(draft, `Cookie: ${value}`),
  '--user-agent': (draft, value) => addHeader(draft, `User-Agent: ${value}`),
  '--referer': (draft, value) => addHeader(draft, `Referer: ${value}`),
}

const flags: Record<string, (draft: CurlDraft) => void> = {
  '--get': (draft) => void (draft.isGet = true),
  '--head': (draft) => void (draft.isHead = true),
}

const refused: Record<string, string> = {
  '--insecure':
    'The command switches certificate checks off (-k); Sluice does not do that. Give the API a certificate that can be checked.',
  '--proxy': 'The command goes through a proxy; Sluice calls the API directly.',
  '--cert': 'The command uses a client certificate, which is not supported.',
}

/** Redirects and compression are always on here; the rest concerns the terminal of the person who ran it. */
const ignoredFlags = new Set(
  (
    '--location --compressed --silent --show-error --verbose --include --fail --fail-with-body --progress-bar ' +
    '--no-progress-meter --no-buffer --globoff --http1.0 --http1.1 --http2 --ipv4 --ipv6 --path-as-is --tcp-nodelay'
  ).split(' '),
)
const ignoredValues = new Set(
  (
    '--output --write-out --max-time --connect-timeout --retry --retry-delay --retry-max-time --max-redirs ' +
    '--cookie-jar --dump-header'
  ).split(' '),
)

const longNames = new Map<string, string>(
  (
    'X--request H--header d--data F--form u--user b--cookie A--user-agent e--referer G--get I--head k--insecure ' +
    'x--proxy E--cert L--location s--silent S--show-error v--verbose i--include f--fail #--progress-bar ' +
    'N--no-buffer g--globoff 0--http1.0 4--ipv4 6--ipv6 o--output w--write-out m--max-time c--cookie-jar D--dump-header'
  )
    .split(' ')
    .map((pair) => [`-${pair.slice(0, 1)}`, pair.slice(1)] as const),
)

/** Takes every word of the command into the draft, or says which one it cannot. */
export function readCurlOptions(draft: CurlDraft, words: string[]): void {
  // The first last: taking from the front of a long list moves all that is behind.
  const rest = words.toReversed()
  for (let word = rest.pop(); word !== undefined; word = rest.pop()) {
    if (!word.startsWith('-') || word === '-') {
      if (draft.url !== null) throw refuseCommand('The command calls more than one URL; import them one by one.')
      draft.url = word
      continue
    }
    const isLong = word.startsWith('--')
    const written = isLong ? word.replace(/=.*$/s, '') : word.slice(0, 2)
    // Behind a short name its value, or further short flags, may follow at once: -XPUT, -sSL.
    const joined = isLong ? word.slice(written.length + 1) : word.slice(2)
    const name = longNames.get(written) ?? written
    if (Object.hasOwn(refused, name)) throw refuseCommand(refused[name] ?? '')
    const apply = Object.hasOwn(valued, name) ? valued[name] : undefined
    if (apply !== undefined || ignoredValues.has(name)) {
      const value = joined === '' ? rest.pop() : joined
      if (value === undefined) throw refuseCommand(`The option ${written} of curl needs a value.`)
      apply?.(draft, value)
      continue
    }
    if (Object.hasOwn(flags, name)) flags[name]?.(draft)
    else if (!ignoredFlags.has(name)) {
      throw refuseCommand(`The option ${written} of curl is not known here; remove it and try again.`)
    }
    if (!isLong && joined !== '') rest.push(`-${joined}`)
  }
}
