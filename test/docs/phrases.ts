/** Phrases that must not come back, each with the better word. `*` is a value or a few words. */
export const phrases: Record<string, string> = {
  '9* of 100 within': 'p95, p99',
  '9* within * ms': 'p95, p99',
  'however called': 'all call types',
  'every outcome': 'all results',
  'turned away': 'rejected',
  'against last week': 'vs last week',
  'takes: a moment': 'Type: date and time',
  'keep answers': 'cache',
  'never beyond new data': 'until the data changes',
  'will questions find it': 'question check',
  'looked for after each save': 'runs after each save',
  'has its field here once': 'fix the SQL to fill in its slots',
  'is mended': 'is fixed',
  'it all the same': 'anyway',
  'I know whom this concerns': 'the callers above know',
  'asked again: each still goes': 'same results as before',
  'callers that were there': 'no breaking change',
  'take back': 'roll back',
  'takes * back by itself': 'rolls back by itself',
  'taken back': 'rolled back',
  'answer everyone': 'roll out to all',
  'answered * of the keys, since': 'serving * of keys since',
  'run it behind': 'run alongside, or in the background',
  'behind the calls': 'alongside, or in the background',
  'no gate could hold': 'failed checks were overridden',
  'where it does not stand on its own': 'follow-up to',
  'start anew': 'new question',
  'not expressed:': 'cannot be applied here',
  'not in whole': 'partly covered',
  'set aside': 'ignore',
  'how it asks who': 'authentication',
  'table is called after it': 'also names the table',
  'finer points': 'advanced',
  'well again': 'resolved',
  'judge from': 'minimum calls',
  'keeps watch': 'alert created',
  'it is good for': 'expires',
  'see what is marked above': 'nothing: the field says it',
  'hide the next step': 'hide',
  'told all at once': 'reported together',
  'rows as they are made': 'stream rows',
  'never for the whole': 'never treat a partial answer as complete',
  'told by their first bytes': 'recognised by their first bytes',
  'another request starts over': 'if you change the request, the next load starts from the first page',
  'no row comes twice': 'no row is loaded twice',
  'go on behind the last': 'continue after the last',
  'goes on behind the last': 'continues after the last',
  'what a key does not reach': 'a call outside the permissions of a key',
  'waits for no gate': 'skips all checks',
  'nobody is here to be asked': 'not a terminal, so nobody can confirm',
  'say --yes': 'add --yes',
  'load what is new': 'incremental load',
  'put in place': 'applied',
  'puts * in place': 'applies',
}

/** The phrases in a text, whatever its case, line breaks, quotes, tags or string pieces. */
export function phrasesIn(text: string): string[] {
  const plain = plainWords(text)
  return Object.keys(phrases).filter((phrase) => patternOf(phrase).test(plain))
}

function patternOf(phrase: string): RegExp {
  const parts = plainWords(phrase.replaceAll('*', '\u0001')).trim().split('\u0001')
  const escaped = parts.map((part) => part.replaceAll(/[\\^$.|?+()[\]]/g, String.raw`\$&`))
  return new RegExp(`(?<![\\w-])${escaped.join('.{0,24}?')}(?![\\w-])`)
}

/** Lower-case words with one blank between them; what only a program sees is gone. */
function plainWords(text: string): string {
  return text
    .normalize('NFKC')
    .replaceAll(/[\u00AD\u200B-\u200D\u2060\uFEFF]/g, '')
    .replaceAll(/[‐‑‒–]/g, '-')
    .replaceAll(/&(?:nbsp|thinsp);/g, ' ')
    .replaceAll(/<\/?[A-Za-z][^<>]*>/g, ' ')
    .replaceAll(/\{\s*(['"`])(\s*)\1\s*\}/g, ' ')
    .replaceAll(/(['"`])\s*\+\s*(['"`])/g, '')
    .replaceAll(/["'`´“”„‘’‚«»*_{}]/g, '')
    .replaceAll(/\s+/g, ' ')
    .toLowerCase()
}

/** A program without its comments: those are for whoever changes it. */
export function withoutComments(source: string): string {
  return source.replaceAll(/\/\*[\s\S]*?\*\/|(?<![:\w'"`/])\/\/[^\n]*/g, ' ')
}
