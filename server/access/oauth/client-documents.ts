import { clientDocument } from '../../../api/authorization-server.ts'
import { type Failure, invalidField } from '../../failure.ts'

/** A program that acts for people who let it: an assistant that is given a link. */
export type RegisteredClient = { id: string; name: string; redirectUris: string[] }

/** A port: reads what is at an address that somebody else chose, safely. */
export type ClientDocuments = { read(url: string): Promise<unknown> }

/** Whether a client is named by the address of what it says of itself, instead of having registered. */
export function isClientAddress(clientId: string): boolean {
  return /^https:/i.test(clientId)
}

/** Reads a client that is named by an address. Its document must be about that very address. */
export async function readClientDocument(
  { clientDocuments }: { clientDocuments: ClientDocuments },
  clientId: string,
): Promise<RegisteredClient> {
  refuseOddAddress(clientId)
  const parsed = clientDocument.safeParse(await clientDocuments.read(clientId))
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    throw refused(`what it says of itself is not right: ${issue?.path.join('.') ?? ''} ${issue?.message ?? ''}`.trim())
  }
  if (parsed.data.client_id !== clientId) throw refused('what is there is about another client')
  return { id: clientId, name: parsed.data.client_name, redirectUris: parsed.data.redirect_uris }
}

/** One spelling for each client, and no way to hide whose it is. */
function refuseOddAddress(clientId: string): void {
  const url = URL.parse(clientId)
  if (url === null || url.href !== clientId) throw refused('its address is not written as a URL is')
  if (url.pathname === '/') throw refused('its address has no path')
  if (url.hash !== '' || url.username !== '' || url.password !== '') {
    throw refused('its address may have neither a fragment nor a name and password')
  }
}

function refused(why: string): Failure {
  return invalidField('client_id', why, { message: `This client cannot be let in: ${why}.` })
}
