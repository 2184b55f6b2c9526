import { guessPagination } from './pagination-guess.ts'
import {
  headersOf,
  list,
  methods,
  record,
  text,
  type Imported,
  type Fields,
  type Operation,
  type DocumentReader,
} from './imported.ts'

type Found = Operation & { entry: Fields }

/** What a browser saw while a page was open. Only what answered with data is listed. */
export function readHar(document: Fields): DocumentReader {
  const entries = list(record(document['log'])['entries']).map(record)
  const found = entries.flatMap((entry): Found[] => {
    const request = record(entry['request'])
    const [method, url] = [text(request['method']).toUpperCase(), text(request['url'])]
    const type = text(record(record(entry['response'])['content'])['mimeType'])
    const isData = /json|csv|xml|ndjson|parquet|tab-separated/i.test(type) && !/svg|xhtml/i.test(type)
    if (!isData || !methods.includes(method.toLowerCase()) || !URL.canParse(url)) return []
    const id = String(entries.indexOf(entry) + 1)
    return [{ id, method, url, summary: `${method} ${new URL(url).pathname}`, entry }]
  })
  return {
    operations: found.map(({ id, method, url, summary }) => ({ id, method, url: url.split('?')[0] ?? url, summary })),
    take(id) {
      const one = found.find((each) => each.id === id)
      return one === undefined ? null : take(one)
    },
  }
}

function take({ entry, method, url, summary }: Found): Imported {
  const request = record(entry['request'])
  const response = record(entry['response'])
  const notes: string[] = []
  const pairs = list(request['headers']).map((each): [string, string] => [
    text(record(each)['name']),
    text(record(each)['value']),
  ])
  const headers = headersOf(pairs)
  if (Object.keys(headers).some((name) => /^cookie$/i.test(name))) {
    notes.push('The request carries the cookies of a session, which ends. Ask the API for a key of its own.')
  }
  const query = list(request['queryString']).map(record)
  const post = record(request['postData'])
  const body = method === 'GET' || method === 'HEAD' ? '' : text(post['text'])
  const type = text(post['mimeType'])
  const { rows, pagination } = guessPagination(answerOf(response), {
    parameters: query.map((each) => ({ name: text(each['name']) })),
    hasLinks: list(response['headers']).some(
      (each) => /^link$/i.test(text(record(each)['name'])) && /rel="?next/.test(text(record(each)['value'])),
    ),
    hasGraphql: /"query"\s*:/.test(body),
  })
  const values = new Map<string, string[]>()
  for (const each of query)
    values.set(text(each['name']), [...(values.get(text(each['name'])) ?? []), decoded(text(each['value']))])
  return {
    name: summary,
    configuration: {
      url: url.split('?')[0] ?? url,
      method,
      ...(values.size > 0 && {
        parameters: Object.fromEntries(
          [...values].map(([name, all]) => [
            decoded(name),
            { value: all.length === 1 ? all[0] : all, required: false },
          ]),
        ),
      }),
      ...(Object.keys(headers).length > 0 && { headers }),
      ...(body !== '' && { body: bodyOf(body, type) }),
      ...(rows !== null && rows.path !== '' && { responsePathExtractor: rows.path }),
    },
    pagination,
    notes,
  }
}

function bodyOf(body: string, type: string): Fields {
  if (/json/i.test(type)) return { type: 'json', content: body }
  if (/x-www-form-urlencoded/i.test(type)) return { type: 'form', content: body }
  return { type: 'raw', content: body, ...(type !== '' && { content_type: type }) }
}

function answerOf(response: Fields): unknown {
  const { text: given, encoding } = record(response['content'])
  try {
    return JSON.parse(encoding === 'base64' ? Buffer.from(text(given), 'base64').toString() : text(given)) as unknown
  } catch {
    return null
  }
}

function decoded(value: string): string {
  try {
    return decodeURIComponent(value.replaceAll('+', ' '))
  } catch {
    return value
  }
}
