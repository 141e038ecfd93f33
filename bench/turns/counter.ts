import { setImmediate as afterPolling } from 'node:timers/promises'

import type { Link } from '../../src/testing/link.ts'
import { statementOf, type WireMessage } from '../../src/testing/messages.ts'
import { startRelay } from '../../src/testing/relay.ts'

/** The statements that a client sent before it needed an answer to any of them. */
export type Turn = readonly string[]

/** Stands between a client and a server, and counts how often the client waits for the server. */
export interface TurnCounter {
  /** The same database through the counter. */
  readonly url: string
  /** Since the last `restart`: those whose answers the client has been given. */
  readonly turns: readonly Turn[]
  restart(): void
  close(): Promise<void>
}

/**
 * How long a client is silent that waits for its answers. Too long a time costs time; too short a one
 * would split what travels together, which cannot happen where it is written in one go.
 */
const SILENCE_MS = 5

/**
 * Holds every answer back until the server owes none and the client has gone silent. A client that
 * needs an answer cannot go on without, so what it has sent by then is one turn, however the network
 * packs it and however fast the server is. What comes before a session, such as a password, is none.
 */
export async function startTurnCounter(url: string): Promise<TurnCounter> {
  let turns: Turn[] = []
  const sessions = new WeakMap<Link, Session>()
  const relay = await startRelay(url, (message, link) => {
    const session = sessions.get(link) ?? new Session(link, (turn) => turns.push(turn))
    sessions.set(link, session)
    session.take(message)
  })
  return {
    url: relay.url,
    get turns() {
      return turns
    },
    restart() {
      turns = []
    },
    close: () => relay.close(),
  }
}

/** One connection of a client. */
class Session {
  readonly #link: Link
  readonly #counted: (turn: Turn) => unknown
  readonly #prepared = new Map<string, string>()
  #started = false
  #owed = 0
  #answers: WireMessage[] = []
  #statements: string[] = []
  #heard = 0
  #silence: NodeJS.Timeout | undefined

  constructor(link: Link, counted: (turn: Turn) => unknown) {
    this.#link = link
    this.#counted = counted
  }

  take(message: WireMessage): void {
    if (!this.#started) {
      this.#started = message.type === 'ReadyForQuery'
      this.#link.pass(message)
    } else if (message.direction === 'to server') {
      this.#note(message)
      this.#heard += 1
      this.#link.pass(message)
    } else {
      this.#answers.push(message)
      if (message.type === 'ReadyForQuery') this.#owed -= 1
    }
    clearTimeout(this.#silence)
    if (this.#owed === 0 && this.#answers.length > 0) {
      this.#silence = setTimeout(() => void this.#release(), SILENCE_MS)
    }
  }

  async #release(): Promise<void> {
    const heard = this.#heard
    // What was sent while this process had no time is read first.
    await afterPolling()
    if (heard !== this.#heard) return
    // What the server says unasked is nobody's wait.
    if (this.#statements.length > 0) this.#counted(this.#statements)
    this.#statements = []
    for (const answer of this.#answers.splice(0)) this.#link.pass(answer)
  }

  #note(message: WireMessage): void {
    const statement = statementOf(message)
    if (message.type === 'Query' || message.type === 'Sync') this.#owed += 1
    if (message.type === 'Query') this.#statements.push(String(statement))
    if (message.type === 'Parse') this.#prepared.set(textAt(message, 0), String(statement))
    // A statement that was prepared before is named, and not sent again.
    if (message.type === 'Bind') {
      this.#statements.push(this.#prepared.get(textAt(message, 1)) ?? 'prepared before')
    }
  }
}

/** The texts at the start of a message each end in a zero. */
function textAt({ bytes }: WireMessage, place: number): string {
  let from = 5
  for (let at = 0; at < place; at += 1) from = bytes.indexOf(0, from) + 1
  return bytes.toString('utf8', from, bytes.indexOf(0, from))
}
