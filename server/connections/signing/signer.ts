/** The parts of a call that a signature may be over. */
export type Signable = {
  url: string
  method: string
  headers: Record<string, string>
  body?: Buffer
  secretHeaders: string[]
}

/** Proves each single call, over what is in it: made again for every try, page and redirect of the same origin. */
export type Signer = {
  sign<Request extends Signable>(request: Request, nowMs: number): Request
  /** Takes the challenge of a refusal; true where a call signed by it may be taken. */
  challenged?(header: string): boolean
}

export function withHeaders<Request extends Signable>(request: Request, headers: Record<string, string>): Request {
  const names = Object.keys(headers)
  const secretHeaders = [...new Set([...request.secretHeaders, ...names])]
  return { ...request, headers: { ...request.headers, ...headers }, secretHeaders }
}

export const noBytes = Buffer.alloc(0)
