import { usualEnvironment } from '../../../browser/paths.ts'

/** Where a call goes: to one query, or to whichever answers a question. */
export type CallTarget = { kind: 'direct' | 'question'; projectId: string; environment: string; name?: string }

export type Language = 'curl' | 'typescript' | 'python'

export function pathOf({ kind, name }: CallTarget): string {
  return kind === 'direct' ? `/v1/queries/${name}` : '/v1/query'
}

/** Beside the key, which never stands in a snippet: it is read from the environment. */
export function headersOf({ kind, projectId, environment }: CallTarget): Record<string, string> {
  return {
    'Content-Type': 'application/json',
    // A question names its project in the body.
    ...(kind === 'direct' && { 'X-Sluice-Project': projectId }),
    ...(environment !== usualEnvironment && { 'X-Sluice-Environment': environment }),
  }
}

/** A call that works when pasted, with what each language brings along and nothing to install. */
export function writeSnippet(language: Language, origin: string, target: CallTarget, body: object): string {
  const url = `${origin}${pathOf(target)}`
  const headers = Object.entries(headersOf(target))
  if (language === 'curl') {
    return [
      `curl -sS ${shell(url)}`,
      '-H "Authorization: Bearer $SLUICE_API_KEY"',
      ...headers.map(([name, value]) => `-H ${shell(`${name}: ${value}`)}`),
      `-d ${shell(JSON.stringify(body))}`,
    ].join(' \\\n  ')
  }
  if (language === 'typescript') {
    return `const response = await fetch(${quoted(url)}, {
  method: 'POST',
  headers: {
    Authorization: \`Bearer \${process.env.SLUICE_API_KEY}\`,
${headers.map(([name, value]) => `    ${quoted(name)}: ${quoted(value)},`).join('\n')}
  },
  body: JSON.stringify(${JSON.stringify(body)}),
})
if (!response.ok) throw new Error(await response.text())
const { data } = await response.json()
console.log(data)`
  }
  return `import json, os, urllib.request

request = urllib.request.Request(
    ${JSON.stringify(url)},
    data=json.dumps(json.loads(${JSON.stringify(JSON.stringify(body))})).encode(),
    headers={
        "Authorization": f"Bearer {os.environ['SLUICE_API_KEY']}",
${headers.map(([name, value]) => `        ${JSON.stringify(name)}: ${JSON.stringify(value)},`).join('\n')}
    },
)
with urllib.request.urlopen(request, timeout=30) as response:
    print(json.load(response)["data"])`
}

function shell(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`
}

function quoted(text: string): string {
  return `'${text.replaceAll(/['\\]/g, String.raw`\$&`)}'`
}
