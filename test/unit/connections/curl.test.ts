import { describe, expect, test } from 'vitest'
import { importCurl } from '../../../server/connections/import/curl.ts'
import { splitCommand } from '../../../server/connections/import/shell-words.ts'
import { Failure } from '../../../server/failure.ts'

const url = 'https://api.example/v1'

describe('words', () => {
  test.each([
    ['curl \'a b\' "c d" e\\ f', ['curl', 'a b', 'c d', 'e f']],
    ['curl \\\n  -X \\\r\n POST', ['curl', '-X', 'POST']],
    ["curl $'it\\'s\\n\\u00e9\\x41\\101'", ['curl', "it's\néAA"]],
    ['curl "a\\"b\\\\c\\n" \'\'', ['curl', 'a"b\\c\\n', '']],
    ['curl a\'b\'"c"', ['curl', 'abc']],
    ['curl "https://x/?a=1&b=2" \'$HOME\'', ['curl', 'https://x/?a=1&b=2', '$HOME']],
  ])('%j', (command, words) => {
    expect(splitCommand(command)).toEqual(words)
  })

  test.each([
    'curl $HOME',
    'curl "$TOKEN"',
    'curl x | jq .',
    'curl `id`',
    'curl x; rm y',
    "curl 'open",
    'curl "open',
    "curl $'open",
    'curl $(id)',
  ])('%s is for a shell alone', (command) => {
    expect(() => splitCommand(command)).toThrow(Failure)
  })
})

describe('commands', () => {
  test.each([
    [`curl ${url}`, { url, method: 'GET' }],
    ['curl api.example/x', { url: 'http://api.example/x', method: 'GET' }],
    [`curl -sSL --compressed -X PUT "${url}"`, { url, method: 'PUT' }],
    [`curl -XDELETE --url=${url}`, { url, method: 'DELETE' }],
    [`curl -I ${url}`, { url, method: 'HEAD' }],
    [
      `curl ${url} -H 'Accept: text/csv' -A me -e https://from/`,
      { url, method: 'GET', headers: { Accept: 'text/csv', 'User-Agent': 'me', Referer: 'https://from/' } },
    ],
    [
      `curl ${url} -H 'Authorization: Bearer abc'`,
      { url, method: 'GET', authType: 'Bearer Token', auth: { token: 'abc' } },
    ],
    [
      `curl ${url} -H 'Authorization: Token abc'`,
      { url, method: 'GET', authType: 'Bearer Token', auth: { token: 'abc', prefix: 'Token' } },
    ],
    [
      `curl ${url} -H 'authorization: Basic dTpwOnE='`,
      { url, method: 'GET', authType: 'Basic Auth', auth: { username: 'u', password: 'p:q' } },
    ],
    [`curl ${url} -u u:p`, { url, method: 'GET', authType: 'Basic Auth', auth: { username: 'u', password: 'p' } }],
    [
      'curl https://u:p@api.example/v1',
      { url, method: 'GET', authType: 'Basic Auth', auth: { username: 'u', password: 'p' } },
    ],
    [
      `curl ${url} -H 'X-Api-Key: abc'`,
      { url, method: 'GET', authType: 'API Key', auth: { key: 'X-Api-Key', value: 'abc', in: 'header' } },
    ],
    [`curl ${url} -b 'a=1; b=2'`, { url, method: 'GET', headers: { Cookie: 'a=1; b=2' } }],
    [`curl ${url} -d a=1 -d b=2`, { url, method: 'POST', body: { type: 'form', content: 'a=1&b=2' } }],
    [`curl -G ${url}?x=0 -d a=1 --data-urlencode 'b=x y&'`, { url: `${url}?x=0&a=1&b=x+y%26`, method: 'GET' }],
    [
      `curl ${url} -H 'Content-Type: application/json' --data-raw '{"a":1}'`,
      { url, method: 'POST', body: { type: 'json', content: { a: 1 } } },
    ],
    [
      `curl ${url} --json '{"a":1}'`,
      { url, method: 'POST', headers: { Accept: 'application/json' }, body: { type: 'json', content: { a: 1 } } },
    ],
    [
      `curl ${url} -H 'Content-Type: text/xml' -d '<x/>'`,
      { url, method: 'POST', body: { type: 'raw', content: '<x/>', content_type: 'text/xml' } },
    ],
    [
      `curl ${url} -F a=1 -F b=2 -F b=3`,
      { url, method: 'POST', body: { type: 'multipart', content: { a: ['1'], b: ['2', '3'] } } },
    ],
    [`curl ${url} -o out.json --max-time 5 -w '%{http_code}'`, { url, method: 'GET' }],
  ])('%s', (command, configuration) => {
    expect(importCurl(command).configuration).toEqual(configuration)
  })

  test.each([
    ['wget https://x', 'start with curl'],
    ['curl', 'no URL'],
    [`curl ${url} https://other`, 'more than one URL'],
    [`curl -k ${url}`, 'certificate checks'],
    [`curl ${url} -d @file.json`, 'file'],
    [`curl ${url} -F a=@file`, 'file'],
    [`curl ${url} --data-urlencode a@file`, 'file'],
    [`curl ${url} --unheard-of 1`, '--unheard-of'],
    [`curl ${url} -H`, 'needs a value'],
    [`curl -X TRACE ${url}`, 'must be one of'],
    [`curl -x proxy:1 ${url}`, 'proxy'],
  ])('%s is refused in words', (command, words) => {
    expect(() => importCurl(command)).toThrow(words)
  })
})
