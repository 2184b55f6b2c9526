import type { Config } from '../../../config.ts'
import { createHmac } from 'node:crypto'
import type { Transporter } from 'nodemailer'
import type { ChannelType } from '../../../store/index.ts'
import type { Message } from '../measure/alert.ts'
import { htmlOf, slackText, subjectOf, textOf } from './words.ts'
import type { Post } from './post.ts'

/** Sealed secrets of a channel. `previous` still signs until it expires. */
export type ChannelSecrets = {
  url?: string
  secret?: string
  previous?: { secret: string; untilMs: number }
}

export type Outgoing = {
  /** The same at every attempt, so that a receiver can tell a repetition. */
  id: string
  type: ChannelType
  target: string
  secrets: ChannelSecrets
  message: Message
}

/** `final`: another attempt cannot succeed. */
export type SendOutcome =
  | { ok: true; status: number | null }
  | { ok: false; status: number | null; error: string; final: boolean }

export type Sender = {
  send(outgoing: Outgoing, options: { at: Date; signal: AbortSignal }): Promise<SendOutcome>
  /** Whether there is a mail server. */
  sendsMail: boolean
  close(): void
}

export type SenderConfig = Pick<Config, 'smtpUrl' | 'mailFrom' | 'limits'>

export function openSender({ post, config }: { post: Post; config: SenderConfig }): Sender {
  const { smtpUrl, mailFrom } = config
  const timeoutMs = config.limits.webhookTimeoutMs
  const mail = smtpUrl === undefined ? null : createMail(smtpUrl, timeoutMs)

  async function send(url: string, headers: Record<string, string>, options: { body: string; signal: AbortSignal }) {
    const answer = await post.send(url, { headers, timeoutMs, ...options })
    if (!answer.ok) {
      const { code, message } = answer
      return { ok: false as const, status: null, error: message, final: code === 'url_not_allowed' }
    }
    const { status } = answer
    if (status >= 200 && status < 300) return { ok: true as const, status }
    // 410 says that nobody is there any more (Standard Webhooks).
    return { ok: false as const, status, error: `The receiver answered ${status}.`, final: status === 410 }
  }

  async function sendMail({ id, target, message }: Outgoing): Promise<SendOutcome> {
    if (mail === null) {
      return { ok: false, status: null, error: 'There is no mail server: SLUICE_SMTP_URL is not set.', final: true }
    }
    try {
      const transport = await mail.open()
      await transport.sendMail({
        from: mailFrom,
        to: target,
        subject: subjectOf(message),
        text: textOf(message),
        html: htmlOf(message),
        headers: { 'X-Sluice-Delivery': id },
      })
      return { ok: true, status: null }
    } catch (error) {
      const status = error instanceof Error && 'responseCode' in error ? Number(error.responseCode) : null
      const words = error instanceof Error ? error.message.slice(0, 300) : 'unknown'
      return { ok: false, status, error: `The mail server did not take it: ${words}`, final: false }
    }
  }

  return {
    sendsMail: mail !== null,
    async send(outgoing, { at, signal }) {
      const { type, secrets, message, id } = outgoing
      if (type === 'email') return sendMail(outgoing)
      const { url = '' } = secrets
      if (type === 'slack') return send(url, {}, { body: JSON.stringify({ text: slackText(message) }), signal })
      const body = JSON.stringify(message)
      const timestamp = Math.floor(at.getTime() / 1000)
      const keys = [secrets.secret, previousAt(secrets, at)].filter((secret) => secret !== undefined)
      const headers = {
        'webhook-id': id,
        'webhook-timestamp': String(timestamp),
        'webhook-signature': keys.map((key) => signatureOf(key, `${id}.${timestamp}.${body}`)).join(' '),
      }
      return send(url, headers, { body, signal })
    },
    close: () => mail?.close(),
  }
}

function previousAt({ previous }: ChannelSecrets, at: Date): string | undefined {
  return previous !== undefined && previous.untilMs > at.getTime() ? previous.secret : undefined
}

function signatureOf(secret: string, content: string): string {
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
  return `v1,${createHmac('sha256', key).update(content).digest('base64')}`
}

/** The library is loaded for the first message. */
function createMail(url: string, timeoutMs: number): { open: () => Promise<Transporter>; close: () => void } {
  let transport: Transporter | undefined
  const open = async (): Promise<Transporter> => {
    const { createTransport } = await import('nodemailer')
    transport ??= createTransport({
      url,
      connectionTimeout: timeoutMs,
      greetingTimeout: timeoutMs,
      socketTimeout: timeoutMs,
      dnsTimeout: timeoutMs,
      // A message is made of what people named things: nothing in it is ever a file or an address to fetch.
      disableFileAccess: true,
      disableUrlAccess: true,
    })
    return transport
  }
  return { open, close: () => transport?.close() }
}
