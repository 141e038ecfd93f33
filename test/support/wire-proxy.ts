import { EventEmitter, once } from 'node:events'
import { after, before } from 'node:test'

import { statementOf, type WireMessage } from '../../src/testing/messages.ts'
import type { Link } from '../../src/testing/link.ts'
import { type Relay, startRelay } from '../../src/testing/relay.ts'

/**
 * What becomes of the next COMMIT, or another statement, and its answer:
 * - `lost before`: it never reaches the server, which notices that the client is gone.
 * - `lost before, unnoticed`: likewise, but the server does not notice.
 * - `lost behind`: the server commits, and its answer never reaches the client.
 * - `stalled before`, `stalled behind`: likewise, but nobody notices: from then on nothing passes on
 *   that connection, in no direction.
 * - `fails`: the server is sent a statement that fails in its place, and what travels behind it as well.
 *   Of statements without parameters.
 * - a refusal: the server commits, and a pooler between them says something else.
 */
export type CommitFate =
  | 'lost before'
  | 'lost before, unnoticed'
  | 'lost behind'
  | 'stalled before'
  | 'stalled behind'
  | 'fails'
  | Refusal

/** An answer that a pooler makes up, and whether it closes the connection or goes on. */
export interface Refusal {
  readonly severity: 'ERROR' | 'FATAL' | 'PANIC'
  readonly code: string
  readonly closes: boolean
}

/** Stands between client and server, and understands enough to meddle with a COMMIT. */
export interface WireProxy {
  /** The same database through the proxy. */
  readonly url: () => string
  /** For the next COMMIT, or the next statement that begins so, of any connection. */
  meddle(fate: CommitFate, statement?: string): void
  /** Waits until something has been meddled with, from now on. */
  untilMeddled(): Promise<void>
  /** Turns new connections away, until it is called again with false. */
  refuse(refusing: boolean): void
  /** Waits until somebody has been turned away, from now on. */
  untilRefused(): Promise<void>
  /** Lets the server notice that the clients are gone which it believes to be there. */
  notice(): void
  /** Cuts every connection there is, on both sides. */
  cut(): void
}

interface Plan {
  readonly fate: CommitFate
  /** How it begins. */
  readonly statement: string
}

/** What ends a transaction can travel behind other statements, whose answers come first. */
const endings: Readonly<Record<string, readonly string[]>> = {
  commit: ['COMMIT', 'ROLLBACK'],
  rollback: ['ROLLBACK'],
}

function isAnswerTo(statement: string, { type, bytes }: WireMessage): boolean {
  if (type !== 'CommandComplete') return false
  const tag = bytes.toString('latin1', 5, bytes.length - 1)
  return endings[statement]?.includes(tag) ?? true
}

/** To be called at the top of a test file. */
export function wireProxy(url: string): WireProxy {
  const plans: Plan[] = []
  const answering = new WeakMap<Link, Plan>()
  const executions = new WeakMap<Link, Executions>()
  const events = new EventEmitter()
  let relay: Relay | undefined

  const handle = (message: WireMessage, link: Link) => {
    const awaited = answering.get(link)
    if (awaited && isAnswerTo(awaited.statement, message)) {
      answering.delete(link)
      meddleWithAnswer(message, link, awaited.fate)
      events.emit('meddled')
      return
    }
    let executed = executions.get(link)
    if (!executed) executions.set(link, (executed = new Executions()))
    const statement = executed.of(message)
    const planned = plans.findIndex((plan) => statement?.startsWith(plan.statement))
    const [plan] = planned < 0 ? [] : plans.splice(planned, 1)
    if (plan?.fate === 'fails') {
      link.pass(message, failing(message))
      events.emit('meddled')
      return
    }
    if (plan?.fate === 'lost before') link.cut()
    else if (plan?.fate === 'lost before, unnoticed') link.loseClient()
    else if (plan?.fate === 'stalled before') link.goDeaf()
    else if (plan) answering.set(link, plan)
    if (plan && !answering.has(link)) events.emit('meddled')
    link.pass(message)
  }
  const links = () => relay?.links ?? []

  before(async () => {
    relay = await startRelay(url, handle, () => events.emit('refused'))
  })
  after(() => relay?.close())
  return {
    url() {
      if (!relay) throw new Error('the proxy is there inside of tests, and not before')
      return relay.url
    },
    meddle(fate, statement = 'commit') {
      plans.push({ fate, statement })
    },
    async untilMeddled() {
      await once(events, 'meddled')
    },
    refuse(refusing) {
      if (relay) relay.refusing = refusing
    },
    async untilRefused() {
      await once(events, 'refused')
    },
    notice() {
      for (const link of links()) if (link.isClientGone) link.cut()
    },
    cut() {
      for (const link of links()) link.cut()
    },
  }
}

function meddleWithAnswer(message: WireMessage, link: Link, fate: CommitFate): void {
  if (fate === 'stalled behind') link.goDeaf()
  else if (typeof fate === 'string') link.cut()
  else {
    link.pass(message, errorResponse(fate))
    if (fate.closes) link.cut()
  }
}

/** What is refused in the place of a statement, as one is that is cancelled late. */
function failing({ type }: WireMessage): Buffer {
  const fails = 'select 1 / 0\0'
  if (type === 'Query') return framed('Q', fails)
  const unnamed = '\0'
  const none = '\0\0'
  const parse = framed('P', `${unnamed}${fails}${none}`)
  return Buffer.concat([parse, framed('B', `${unnamed}${unnamed}${none}${none}${none}`)])
}

/** Knows by their names the statements that were prepared on a connection. */
class Executions {
  readonly #prepared = new Map<string, string | undefined>()

  /** What the server is to execute by a message. */
  of(message: WireMessage): string | undefined {
    const { type, bytes } = message
    if (type === 'Query') return statementOf(message)
    const texts = bytes.toString('utf8', 5).split('\0', 2)
    if (type === 'Parse') this.#prepared.set(texts[0] ?? '', statementOf(message))
    // A portal has the name of the statement behind its own.
    return type === 'Bind' ? this.#prepared.get(texts[1] ?? '') : undefined
  }
}

function errorResponse({ severity, code }: Refusal): Buffer {
  const fields = { S: severity, V: severity, C: code, M: 'server conn crashed?' }
  const body = Object.entries(fields).map(([field, text]) => `${field}${text}\0`)
  return framed('E', `${body.join('')}\0`)
}

function framed(letter: string, body: string): Buffer {
  const message = Buffer.from(`${letter}\0\0\0\0${body}`)
  message.writeUInt32BE(message.length - 1, 1)
  return message
}
