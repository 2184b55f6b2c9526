import { hash, verify } from '@node-rs/argon2'

/** OWASP's argon2id floor of 19 MiB and two passes, doubled in memory. The library's default algorithm is argon2id. */
const cost = { memoryCost: 38_912, timeCost: 2, parallelism: 1 }

/** Verified against when there is no such user, so that an unknown e-mail takes as long as a wrong password. */
let decoy: Promise<string> | undefined

export async function hashPassword(password: string): Promise<string> {
  return hash(password, cost)
}

export async function passwordMatches(stored: string | null, password: string): Promise<boolean> {
  if (stored === null) {
    decoy ??= hashPassword('nobody has this password')
    await verify(await decoy, password)
    return false
  }
  return verify(stored, password)
}
